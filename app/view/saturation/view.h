#pragma once

#include <string>
#include <vector>

#include "app/view/common/grid.h"
#include "app/view/common/readout.h"
#include "app/view/state.h"

namespace attn::view {

// z raw score (q·k, or logit √d_k), s softmax's input (z/√d_k scaled, z unscaled), a = softmax(s),
// J = ∂a/∂s.

/// How far softmax has collapsed, told by the evenness H / ln n alone:
///   healthy from kHealthyEvenness on, saturated below kSaturatedEvenness, saturating between.
/// Evenness falls steadily as scores grow (dH/dβ = −β Var_a(s) <= 0 for softmax(β s)) and is 1 for a
/// uniform row of any length. p_max(1 − p_max) rises before it falls and ‖J‖_F is small for uniform
/// rows too, so neither can tell saturated from uniform. At an evenness of 10 % of 16 keys the largest
/// weight is 0.92 to 0.96 and its slope under 0.3 of what it can be. NaN (one key, or a NaN in the scores) is
/// saturated: no gradient passes.
enum class Verdict : std::uint8_t { healthy, saturating, saturated };
inline constexpr double kHealthyEvenness = 0.5;
inline constexpr double kSaturatedEvenness = 0.1;
Verdict verdict_of(double evenness);

struct BarView {
    std::string label;  // key
    double value;       // weight, 0…1; NaN when it is not a number
    std::string text;   // "32.4 %"
    std::string bare;   // "32.4", where the unit does not fit
    std::string tooltip;
};
/// One side: scaled or unscaled.
struct SaturationSideView {
    std::string title;    // "scaled"
    std::string formula;  // "a = softmax(z / √64)"
    Role role = Role::weight;
    bool focused = false;  // the scaling toggle points here
    std::vector<BarView> bars;
    std::string rounding_note;  // "rounded: adds to 100.1 %", or "" when it adds to 100.0 %
    std::vector<Readout> readouts;
    Verdict verdict = Verdict::healthy;
    std::string verdict_words;  // "saturating"
    std::string verdict_rule;   // "evenness ≥ 50 % is healthy, < 10 % saturated"
};

struct CurveView {
    std::string label;  // "scaled"
    Role role;
    bool dashed = false;
    std::vector<double> x, y, low, high;  // low/high empty: no band
};
struct PlotView {
    std::string title;  // "evenness = H / ln n"
    std::string tooltip;
    std::vector<CurveView> curves;
    double x_low, x_high;  // d_k, log axis
    double y_low, y_high;
    bool log_y = false;
    std::vector<double> x_ticks, y_ticks;
    std::vector<std::string> x_tick_labels, y_tick_labels;
    double marker_x;                // the slider
    std::vector<double> marker_ys;  // one for each curve: of the row shown, not of the sweep
    std::vector<std::string> marker_texts;  // the same as text
};

struct SaturationView {
    SaturationModel model;
    std::vector<std::string> model_names;
    bool drawn;               // sampled: keys, seed and re-draw mean something
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

/// Keys that the slider offers.
inline constexpr Index kFewestKeys = 2;
inline constexpr Index kMostKeys = 256;

SaturationView build_saturation_view(const AppState& state);

}  // namespace attn::view
