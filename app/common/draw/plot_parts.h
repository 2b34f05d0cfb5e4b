#pragma once

#include <imgui.h>

#include "app/common/draw/frame.h"
#include "app/common/plot.h"

namespace attn::ui {

/// The area between the axes of one plot, and how values become pixels in it.
struct PlotCanvas {
    const PlotView& plot;
    const Frame& frame;
    ImVec2 low, high;
    double strength = 1.0;  // of the curves' ink

    float x(double value) const;
    /// Not finite for NaN. Beyond the axes by half a height at most.
    float y(double value) const;
    /// The x value at a pixel, kept within the axis.
    double value_at(float x) const;
};

void draw_y_axis(const PlotCanvas& canvas);
void draw_x_axis(const PlotCanvas& canvas);        // its label left of it
void draw_levels(const PlotCanvas& canvas);        // lines across, each with its words
void draw_marks(const PlotCanvas& canvas);         // signs and their words
void draw_curves(const PlotCanvas& canvas);        // bands, then lines
void draw_curve_points(const PlotCanvas& canvas);  // a small one where a value was computed
void draw_marker(const PlotCanvas& canvas);        // the line and its points
void draw_curve_names(const PlotCanvas& canvas);   // right of the area
void draw_curve_labels(const PlotCanvas& canvas);  // the same with the value below each

/// A dashed line.
void draw_dashed(const Frame& frame, Point from, Point to, Color color, float thickness);

float y_labels_width(const PlotView& plot, const Frame& frame);
float curve_names_width(const PlotView& plot, const Frame& frame);
float curve_labels_width(const PlotView& plot, const Frame& frame);

// Design units.
inline constexpr float kMarkerPoint = 4.0F;                // radius
inline constexpr float kMarkerRing = kMarkerPoint + 1.5F;  // with its edge

}  // namespace attn::ui
