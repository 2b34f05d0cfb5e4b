#pragma once

#include "app/common/draw/frame.h"
#include "app/workspaces/step/view.h"

namespace attn::ui {

/// Controls that stand in the row while it has room for them, else in the popover, each a bit. In the order in which they
/// leave it.
enum class RowItem : unsigned {
    preset,
    temperature,
    gradients,
    sequence,
    causal,
    sentence,
    layer,
    beside,
    head,
    scaling,
    group,
    loss
};
inline constexpr unsigned kRowItems = 12;
constexpr unsigned bit_of(RowItem item) { return 1U << static_cast<unsigned>(item); }

void draw_row_item(RowItem item, const ControlsView& view, const Frame& frame, Actions& out);

}  // namespace attn::ui
