#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "app/common/plot.h"
#include "app/workspaces/saturation/sentence.h"
#include "app/workspaces/saturation/state.h"

namespace attn::view {

// What the loss sends back over d_k, with ÷√d_k and without. z logits that enter softmax, s = q·k.

/// One of the four, as a picture: medians over d_k. All four are on one scale.
struct GradientTab {
    GradientOf of = GradientOf::z;
    std::string tex, plain;  // ‖∂L/∂q‖
    std::string text;        // "the query"
    PlotView plot;
    std::string tooltip;
};
/// A d_k, and the fraction of rows that pass almost no gradient there without scaling.
struct DeadBar {
    Index d_k = 1;
    double share = 0.0;
    std::string text;  // "55 %"
};
/// Every row at the handle: one tick for each percent of them.
struct GradientStrip {
    std::string name;
    bool scaled = false;
    std::vector<double> ticks;  // percentiles 1 … 99
    double median = 0.0, mean = 0.0;
};
struct GradientNumber {
    std::string tex, plain;
    std::string scaled, unscaled;
    std::string tooltip;
};
struct GradientsOverWidth {
    bool ready = false, stale = false;
    std::string sentence, note, closing;
    std::vector<GradientTab> tabs;
    std::size_t tab = 0;
    PlotView plot;          // medians and means of the tab: with, without, mean with, mean without
    std::string lost;       // between the medians, where less passes without
    std::string dead_text;  // of the bars
    std::string dead_scaled;  // "with scaling: 0 % everywhere"
    std::vector<DeadBar> dead;
    std::string typical;  // change of the median: "34 times smaller"
    std::string caption;  // "median"
    std::vector<GradientNumber> medians, means;
    GradientNumber none;  // rows that pass nothing
    std::array<GradientStrip, 2> strips;
    std::array<std::string, 2> strip_ends;  // "≤ 10⁻⁵", "10"
    std::string strip_text;
    double strip_low = 1e-5, strip_high = 10.0;
    std::string status;
    std::optional<SentenceAtWidth> sentence_at;  // of the open document; nullopt: it is not shown
};
GradientsOverWidth build_gradients_over_width(const AppState& state);

/// "Without scaling at d_k = 512, the median row's gradient is 34 times smaller, but the mean is 4.9 times as large." The medians
/// are compared where their confidence intervals tell them apart. One sentence, true of every input.
std::string gradient_sentence(GradientOf of, const GradientPoint& point);
/// The fraction of rows that pass almost no gradient without scaling, and whether `of` is sparse: its median falls while its
/// mean grows. "" where scaling does not change that fraction.
std::string gradient_closing(GradientOf of, const GradientPoint& point);
/// Where a number lies.
struct Interval {
    double low = 0.0, high = 0.0;
    bool operator==(const Interval&) const = default;
};
/// What became of a number, whatever both are within their intervals.
enum class GradientChange : std::uint8_t {
    less,
    alike,  // by no factor that can be told, and under 2 in any case
    more,
    open  // neither can be told
};
GradientChange gradient_change(const Interval& from, const Interval& to);
/// "34 times smaller", "over 10⁶ times smaller", "1.7 times as large": `to` > 0 next to `from` > 0.
std::string times_text(double from, double to);
const Spread& spread_in(const GradientSide& side, GradientOf of);

}  // namespace attn::view
