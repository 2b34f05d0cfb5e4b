#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/common/grid.h"
#include "app/common/plot.h"
#include "app/workspaces/saturation/gradients.h"
#include "app/workspaces/saturation/state.h"

namespace attn::view {

// s raw score (q·k, or logit √d_k), z logit that enters softmax (s/√d_k scaled, s unscaled), a = softmax(z),
// J = ∂a/∂z.

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
/// One side of the row that is drawn: scaled or unscaled.
struct SaturationSideView {
    std::string title;    // "with scaling"
    std::string formula;  // "softmax(s / √64)"
    Role role = Role::weight;
    std::vector<BarView> bars;
    std::string rounding_note;  // "rounded: adds to 100.1 %", or "" when it adds to 100.0 %
    std::string note;           // "p_max(1 − p_max) = 0.2190"
    GridView jacobian;          // on the same scale as the other side's
};

/// A number of both sides.
struct ComparedNumber {
    std::string label, formula, tooltip;
    std::string scaled, unscaled;
};
struct VerdictView {
    Verdict verdict = Verdict::healthy;
    std::string text;  // "saturating"
};
/// The main table: medians.
struct SaturationTable {
    std::string caption;  // "median of 200 draws"
    std::vector<ComparedNumber> rows;
    std::optional<VerdictView> scaled, unscaled;  // none while the medians are computed
    std::string rule;  // "evenness ≥ 50 % is healthy, < 10 % saturated"
};

/// The area between the curves where the scaled one is the upper one: a piece of it.
struct GapView {
    std::vector<double> x, high, low;
};
/// A power of two under the large plot: the handle and the pin stop there.
struct StopView {
    Index d_k = 1;
    std::string change;  // of the unscaled gradient from the pin to here: "÷188", "pin"
    std::string tooltip;
};
/// ‖∂a/∂z‖_F over d_k.
struct HeroView {
    PlotView plot;
    std::vector<GapView> gaps;
    std::string gap_label;            // "gradient lost"; "" where there is no gap
    double gap_x = 1.0, gap_y = 0.0;  // where the gap is highest
    Index pin = 1;
    double pin_y = 0.0;          // unscaled at the pin; NaN while it is computed
    std::string headline;        // "d_k 4 → 64: without scaling ÷ 9.1, with scaling × 1.2"
    std::string headline_range;  // "200 draws: ÷ 90 to ÷ 420 with 95 % confidence", or ""
    std::vector<StopView> stops;
    std::string stops_caption;
};
/// What is behind "details".
struct SaturationDetails {
    std::string sentence;
    PlotView raw;  // ‖∂a/∂s‖_F
    std::string caption;
    std::vector<ComparedNumber> rows;  // of the row that is drawn
};

struct SaturationView {
    // controls
    SaturationControls controls;
    SaturationLook look;
    bool drawn = false;      // sampled: keys, seed and re-draw mean something
    std::string model_text;  // what this model is, one sentence
    std::string logits;
    // what is computed
    std::optional<GradientsOverWidth> gradients;  // instead of all that follows, but the sentences
    std::string tex, formula;                     // the heading, typeset and plain
    std::string sentence;
    std::string note;    // what the sentence's numbers are
    bool stale = false;  // medians and curves are of older settings: new ones are computed
    HeroView hero;
    std::vector<PlotView> plots;  // the small ones
    SaturationTable table;
    std::string row_caption;  // which row the bars and Jacobians are of
    SaturationSideView scaled, unscaled;
    SaturationDetails details;
    std::string status;  // "200 draws × 16 keys × 13 widths in 84 ms", "computing…"
};

/// The power of two that is next to `d_k` on a log axis.
Index nearest_stop(double d_k);
/// The next power of two above (steps = 1) or below (−1), within the sweep.
Index next_stop(Index d_k, int steps);

SaturationView build_saturation_view(const AppState& state);

/// See WorkspaceInfo::reasons.
std::vector<std::string> saturation_reasons(const AppState& state);

}  // namespace attn::view
