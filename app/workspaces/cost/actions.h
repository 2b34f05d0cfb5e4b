#pragma once

#include "app/common/set_field.h"
#include "app/workspaces/cost/state.h"

namespace attn::view {

// Settings of the Cost workspace; undone.

/// One size. More heads than key/value heads can share bring these along: H of MHA keeps G = H.
struct SetCostSize {
    CostSize size;
    Index value;
    static constexpr Meta kMeta{"set_cost_size", Kind::drag};
    friend void describe(Visitor& visit, SetCostSize& action) {
        visit("size", action.size, kCostSizeNames);
        visit("value", action.value);
    }
    friend void carry_out(AppState& state, const SetCostSize& action);
};
/// T: of a square call Tq and Tk, else Tk alone.
struct SetCostTokens {
    Index tokens;
    static constexpr Meta kMeta{"set_cost_tokens", Kind::drag, fields<&SetCostTokens::tokens>};
    friend void carry_out(AppState& state, const SetCostTokens& action);
};
/// Sizes by their key: see cost_presets(); "document" are those of the present one.
struct SetCostPreset {
    std::string key;
    static constexpr Meta kMeta{"set_cost_preset", Kind::edit, fields<&SetCostPreset::key>};
    friend void carry_out(AppState& state, const SetCostPreset& action);
};
using SetCostPass = SetField<CostPass, cost_controls, "pass", "set_cost_pass", Kind::edit>;
/// What the inspector explains. Not undone.
using SelectCost = SetField<CostItem, cost_look, "item", "select_cost", Kind::plain>;
/// Runs the engine at these sizes, as far as they can be run here. Not undone.
struct MeasureCost {
    static constexpr Meta kMeta{"measure_cost", Kind::plain};
    friend void carry_out(AppState& state, const MeasureCost& action);
};
struct CostMeasured {
    std::shared_ptr<const CostMeasurement> measured{};
    static constexpr Meta kMeta{"", Kind::answer};
    friend void carry_out(AppState& state, const CostMeasured& action);
};

using CostActions = ActionList<SetCostSize, SetCostTokens, SetCostPreset, SetCostPass, SelectCost,
                               MeasureCost, CostMeasured>;

}  // namespace attn::view
