#pragma once

#include <string>
#include <vector>

#include "core/role.h"

namespace attn::view {

// Curves over an axis, log or linear.

struct CurveView {
    std::string label;  // "scaled"
    Role role;
    bool dashed = false;
    std::vector<double> x, y, low, high;  // low/high empty: no band; a y that is NaN is left out
    bool parted = false;                  // a y that is NaN parts the line
};
/// The label at the right end of each curve: its name, and its value at the handle.
enum class CurveLabels : std::uint8_t { none, names, values };
/// A sign at a place of the area: where a curve breaks off, or crosses a line.
struct PlotMark {
    double x = 1.0, y = 0.0;
    Role role = Role::score;
    std::string text;   // beside it; may be empty
    bool cross = true;  // ×, else a ring
};
/// A level line across the area.
struct PlotLevel {
    double y = 0.0;
    std::string text;  // above its left end
};
struct PlotView {
    std::string title;  // "evenness = H / ln n"
    std::string tooltip;
    std::vector<CurveView> curves;
    double x_low, x_high;
    bool log_x = true;
    std::string x_label = "d_k";
    double y_low, y_high;
    bool log_y = false;
    std::vector<double> x_ticks, y_ticks;
    std::vector<std::string> x_tick_labels, y_tick_labels;
    std::vector<PlotLevel> levels;
    std::vector<PlotMark> marks;
    double marker_x;                        // the handle
    std::vector<double> marker_ys;          // one for each curve; NaN without a marker
    std::vector<std::string> marker_texts;  // the same as text
    CurveLabels labels = CurveLabels::values;
};

}  // namespace attn::view
