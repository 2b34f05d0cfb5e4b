#pragma once

#include <imgui.h>

#include "app/ui/common/frame.h"
#include "app/view/saturation/view.h"

namespace attn::ui {

/// The area between the axes of one plot, and how values become pixels in it.
struct PlotCanvas {
    const view::PlotView& plot;
    const Frame& frame;
    ImVec2 low, high;
    double strength = 1.0;  // of the curves' ink

    float x(double value) const;
    /// Not finite for NaN. Beyond the axes by half a height at most.
    float y(double value) const;
    /// The x value at a pixel, kept within the axis.
    double value_at(float x) const;
};

void draw_curves(const PlotCanvas& canvas);        // bands, then lines
void draw_marker(const PlotCanvas& canvas);        // the line and its points
void draw_curve_labels(const PlotCanvas& canvas);  // name and value, right of the area

float y_labels_width(const view::PlotView& plot, const Frame& frame);
float curve_labels_width(const view::PlotView& plot, const Frame& frame);

}  // namespace attn::ui
