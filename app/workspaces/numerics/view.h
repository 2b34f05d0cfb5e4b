#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "app/common/forward.h"
#include "app/common/plot.h"
#include "app/workspaces/numerics/state.h"

namespace attn::view {

// x logits, g gain, s = g x, m = max s, e exponentials, l their sum, a weights; j key.

/// What a cell of the matrix algorithm × format says: right (no weight is off by more than kRightUlp), off, or broken
/// (NaN, or every weight 0).
enum class NumericsVerdict : std::uint8_t { right, off, broken };
inline constexpr double kRightUlp = 4.0;

struct NumericsBar {
    double weight = 0.0;  // as computed
    double exact = 0.0;   // NaN where softmax has no value
    double error = 0.0;   // |weight − exact|; NaN where one of them is NaN
    double ulp = 0.0;     // the format's spacing at the exact weight; NaN if undefined
    bool off = false;     // the error is more than kRightUlp of them
};
/// One softmax in one format.
struct NumericsCellView {
    SoftmaxAlgorithm algorithm = SoftmaxAlgorithm::naive;
    FloatFormat format = FloatFormat::fp16;
    NumericsVerdict verdict = NumericsVerdict::right;
    std::string text;                 // "0.9 ulp", "NaN", "all 0"
    std::string cause;                // "exp 48 → ∞ at key 1", "worst at key 3"
    std::vector<NumericsBar> bars;    // one for each key
    std::optional<Index> broken_key;  // where it broke
    std::optional<Index> selected;    // the key that the inspector explains
};
struct NumericsColumn {
    std::string title;         // "naive"
    std::string tex, formula;  // typeset and plain
    PlotView plot;             // error in ulp over the gain
    std::string breaks;        // "× breaks: fp16 from 4, bf16 from 30"
};
struct NumericsFormatRow {
    std::string title;    // "fp16"
    std::string largest;  // "≤ 65504"
    std::string tooltip;
    Role role;
};
/// The axis of |weight − exact| that all columns share, on a log scale between two powers of ten.
struct NumericsAxis {
    double low = 1e-18, high = 1.0;
    std::vector<double> ticks;
    std::vector<std::string> labels;
};

struct NumericsView {
    // controls
    NumericsControls controls;
    std::vector<std::string> row_names;  // lessons, then the document's
    int row_choice = -1;                 // -1: typed, none of these
    std::string row_shown;               // in the closed list
    std::string logits;                  // typed or of the document, as text
    // what is computed
    std::string sentence, note, why;
    std::array<NumericsColumn, kSoftmaxAlgorithmCount> columns;
    std::array<NumericsFormatRow, kFloatFormatCount> rows;
    std::array<std::array<NumericsCellView, kSoftmaxAlgorithmCount>, kFloatFormatCount> cells;
    NumericsAxis axis;
    bool stale = false;
    std::string status;
};
NumericsView build_numerics_view(const AppState& state);
InspectorView numerics_inspector(const AppState& state);

/// The role that stands for a format in names and curves.
Role role_of(FloatFormat format);

/// What choosing one of `row_names` does.
Action chosen_row(std::size_t choice);

/// The gain of the sweep that is next to `gain` on a log axis, and the next power of two above or below.
Index nearest_gain(double gain);
Index next_gain(Index gain, int steps);

/// See WorkspaceInfo::reasons.
std::vector<std::string> numerics_reasons(const AppState& state);

}  // namespace attn::view
