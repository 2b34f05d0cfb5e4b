#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "app/common/forward.h"
#include "app/common/plot.h"
#include "app/workspaces/cost/state.h"
#include "app/workspaces/cost/text.h"
#include "core/result.h"
#include "core/role.h"

namespace attn::view {

struct SetCostSize;

/// A row of the table: one stage, or their sum, or an operation.
struct CostRowView {
    CostItem item = CostItem::total;
    std::string name;
    std::array<std::string, 5> numbers;  // as CostView::titles
    std::string tooltip;
    double share = 0.0;  // of all FLOP, or of the most of an operation
    bool selected = false;
};
/// What one way of holding the weights takes.
struct CostCardView {
    CostItem item = CostItem::materialised;
    std::string title, value, formula;
    std::string limit;  // "T ≤ 46,340"
    std::string tooltip;
    Role role = Role::weight;
    bool fits = true;  // in this machine's memory
    bool selected = false;
};
/// A size that can be changed.
struct CostFieldView {
    CostSize size = CostSize::batch;
    std::string label;
    Index value = 1, low = 1, high = 1;
    std::string heading, text;  // of the tooltip
};
/// Predicted beside measured.
struct CostTimeView {
    std::string title;      // "fused"
    std::string predicted;  // "41.2 ms"
    std::string measured;   // "48.0 ms", "…"
    std::string ratio;      // "86.0 % of the roofline"
    std::string tooltip;
};
struct CostMeasureView {
    std::string machine;  // "118 GFLOP/s, 21.4 GB/s"
    std::vector<CostTimeView> times;
    std::string text;  // what was measured, or why nothing can be
    bool busy = false;
    bool fault = false;
    bool possible = true;  // else `words` say why not
};
struct CostPreset {
    std::string key, text;
    std::optional<CostSizes> sizes;  // nullopt: those of the present document
};

struct CostView {
    std::vector<CostPreset> presets;
    int preset = -1;
    std::string preset_shown;
    std::vector<std::string> preset_names;
    std::vector<std::string> sharing_names;
    int sharing = 0;
    std::vector<CostFieldView> fields;
    CostControls controls;
    CostLook look;
    Index tokens = 1;
    std::string sentence, note;
    std::vector<std::string> notes;
    PlotView plot;
    std::vector<CostCardView> cards;
    std::string rows_title;
    std::array<std::string, 5> titles;  // of the numbers, with their units
    std::vector<CostRowView> rows;
    CostMeasureView measure;
    std::string status;
};

inline constexpr Index kMostCostTokens = Index{1} << 24;

/// `memory`: of this machine, in bytes.
CostView build_cost_view(const AppState& state, double memory);
CostView build_cost_view(const AppState& state);
InspectorView cost_inspector(const AppState& state);

std::vector<CostPreset> cost_presets();
/// Those of the present document; d_model 0 where Q, K and V are given. An error where it has no sizes.
Result<CostSizes> document_sizes(const AppState& state);
/// The FLOP and bytes of one pass over the stages.
struct CostSum {
    CostFormula flop, read, written, stored;
};
CostSum sum_of(const std::vector<StageCost>& stages);

/// Next or last power of two; and the stop next to where a curve is held: two digits, or a power of two.
Index next_tokens(Index tokens, int steps);
Index nearest_tokens(double tokens);
/// The action that gives G for this kind of sharing.
SetCostSize shared_heads(const CostSizes& sizes, HeadSharing sharing);

// Limits of what is measured: the window's machine must not be held up.
inline constexpr double kMostMeasuredFlop = 2e10;
inline constexpr double kMostMeasuredBytes = 512.0 * 1024.0 * 1024.0;
/// "" where these sizes can be measured here; else why not, and up to how many tokens.
std::string no_measure_text(const CostControls& controls);
/// The roofline's time in ms, of the stages with every result written, and fused: products alone, operands once.
double predicted_staged_ms(const CostControls& of, double gflops, double gbytes);
double predicted_fused_ms(const CostControls& of, double gflops, double gbytes);
/// What is run: Q, K and V given, in fp32.
CostControls measured_part(CostControls controls);

/// See WorkspaceInfo::reasons.
std::vector<std::string> cost_reasons(const AppState& state);

}  // namespace attn::view
