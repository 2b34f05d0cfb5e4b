#pragma once

#include <optional>

#include "app/common/action.h"
#include "app/common/set_field.h"
#include "app/workspaces/cost/state.h"

namespace attn {
struct RunControl;
}  // namespace attn

namespace attn::view {

// Settings of the Cost workspace; undone.

/// One size. More heads than key/value heads can share bring these along: H of MHA keeps G = H.
struct SetCostSize {
    CostSize size;
    Index value;
    static constexpr auto kJournalNames = journal_names("set_cost_size", "size", "value");
};
/// T: of a square call Tq and Tk, else Tk alone.
struct SetCostTokens {
    Index tokens;
    static constexpr auto kJournalNames = journal_names("set_cost_tokens", "tokens");
};
/// Sizes by their key: see cost_presets(); "document" are those of the present one.
struct SetCostPreset {
    std::string key;
    static constexpr auto kJournalNames = journal_names("set_cost_preset", "key");
};
using SetCostPass = SetField<CostPass, cost_controls, "pass", "set_cost_pass">;
/// What the inspector explains. Not undone.
using SelectCost = SetField<CostItem, cost_look, "item", "select_cost">;
/// The table's rows. Not undone.
using ShowCostRows = SetField<CostRows, cost_look, "rows", "show_cost_rows">;
/// Runs the engine at these sizes, as far as they can be run here. Not undone.
struct MeasureCost {
    static constexpr auto kJournalNames = journal_names("measure_cost");
};
struct CostMeasured {
    std::shared_ptr<const CostMeasurement> measured{};
};

using CostActions = ActionList<ViewActions<SelectCost, ShowCostRows, MeasureCost>,
                               EditActions<SetCostPreset, SetCostPass>,
                               DragActions<SetCostSize, SetCostTokens>, Answers<CostMeasured>>;
template <ListedIn<CostActions> A>
inline constexpr Meta kMetaOf<A> = CostActions::kMeta<A>;

/// The engine at these sizes, this machine's peak and bandwidth.
struct CostRequest {
    CostControls of;
    bool operator==(const CostRequest&) const = default;
};
/// nullopt unless it was asked for: nothing is measured at rest.
std::optional<CostRequest> requested_cost(const AppState& state);
/// CostMeasured.
Action run(const CostRequest& request, const RunControl& control);

}  // namespace attn::view
