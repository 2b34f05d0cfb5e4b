#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/common/draw/frame.h"

namespace attn::ui {

/// The words along one axis of a matrix, `pitch` pixels from one to the next. Those of the selected and of the focused
/// place stand at any pitch; others are left out only where neither turning nor two columns of them make room: of
/// columns, all where only one in three would stand.
struct AxisLabels {
    const std::vector<std::string>& text;
    float pitch = 0.0F;
    Role role = Role::query;
    std::optional<Index> selected, focus;
};

/// The room that the labels left of rows take, with a gap.
float row_labels_width(const AxisLabels& labels, const Frame& frame);
/// The middles of the rows follow each other from `top`; the words end at `right`.
void draw_row_labels(const AxisLabels& labels, const Frame& frame, float right, float top);

/// The room that the labels above columns take, with a gap. Words are turned as far as their pitch asks for.
float column_labels_height(const AxisLabels& labels, const Frame& frame);
/// How far turned words reach past the last column.
float column_labels_overhang(const AxisLabels& labels, const Frame& frame);
/// The columns follow each other from `left`; the words stand above `foot`.
void draw_column_labels(const AxisLabels& labels, const Frame& frame, float left, float bottom);

}  // namespace attn::ui
