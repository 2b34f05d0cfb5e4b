#pragma once

#include <string>
#include <vector>

#include "app/view/grid_view.h"
#include "app/view/step_view.h"

namespace attn::view {

enum class Verdict : std::uint8_t { healthy, saturating, saturated };

struct BarView {
    std::string label;  // key
    double value;       // weight
    std::string text;   // "32.4 %"
};
/// One side: scaled or unscaled.
struct SaturationSideView {
    std::string title;     // "scaled: softmax(q·k / √64)"
    bool focused = false;  // the scaling toggle points here
    std::vector<BarView> bars;
    std::string rounding_note;  // "rounded: adds to 100.1 %", or ""
    std::vector<Readout> readouts;
    Verdict verdict = Verdict::healthy;
    std::string
        verdict_words;  // "saturating: spread 42 % (healthy above 50 %, saturated below 20 %)"
};

struct CurveView {
    std::string label;  // "scaled"
    Role role;
    bool dashed = false;
    std::vector<double> x, y, low, high;  // low/high empty: no band
};
struct PlotView {
    std::string title;  // "spread = H / ln n"
    std::string tooltip;
    std::string y_label;
    std::vector<CurveView> curves;
    double x_low, x_high;  // d_k, log axis
    double y_low, y_high;
    bool log_y = false;
    std::vector<double> x_ticks, y_ticks;
    std::vector<std::string> x_tick_labels, y_tick_labels;
    double marker_x;                        // the slider
    std::vector<std::string> marker_texts;  // one for each curve: value at the marker
};

struct SaturationView {
    SaturationModel model;
    std::vector<std::string> model_names;
    std::string model_words;  // what this model is, one sentence
    Index d_k, keys;
    std::uint64_t seed;
    Index draw;
    bool scaling;
    SaturationSideView scaled, unscaled;
    GridView jacobian;  // of the focused side
    std::vector<PlotView> plots;
    std::string status;  // "200 trials × 13 widths in 84 ms", "computing…"
    bool stale = false;  // curves are of older settings while the new ones are computed
};

SaturationView build_saturation_view(const AppState& state);

}  // namespace attn::view
