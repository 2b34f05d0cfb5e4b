#pragma once

#include "app/view/common/action.h"
#include "app/view/state.h"

namespace attn::view {

// Settings of the Cost workspace; undone.

/// One size. More heads than key/value heads can share bring these along: H of MHA keeps G = H.
struct SetCostSize {
    CostSize size;
    Index value;
    static constexpr auto kMeta =
        meta("set_cost_size", Kind::drag, field("size", &SetCostSize::size),
             field("value", &SetCostSize::value));
    friend void carry_out(AppState& state, const SetCostSize& action);
};
/// T: of a square call Tq and Tk, else Tk alone.
struct SetCostTokens {
    Index tokens;
    static constexpr auto kMeta =
        meta("set_cost_tokens", Kind::drag, field("tokens", &SetCostTokens::tokens));
    friend void carry_out(AppState& state, const SetCostTokens& action);
};
/// Sizes by their key: see cost_presets(); "document" are those of the present one.
struct SetCostPreset {
    std::string key;
    static constexpr auto kMeta =
        meta("set_cost_preset", Kind::edit, field("key", &SetCostPreset::key));
    friend void carry_out(AppState& state, const SetCostPreset& action);
};
struct SetCostPass {
    CostPass pass;
    static constexpr auto kMeta =
        meta("set_cost_pass", Kind::edit, field("pass", &SetCostPass::pass));
    friend void carry_out(AppState& state, const SetCostPass& action);
};
/// What the inspector explains. Not undone.
struct SelectCost {
    CostItem item;
    static constexpr auto kMeta =
        meta("select_cost", Kind::plain, field("item", &SelectCost::item));
    friend void carry_out(AppState& state, const SelectCost& action);
};
/// Runs the engine at these sizes, as far as they can be run here. Not undone.
struct MeasureCost {
    static constexpr auto kMeta = meta("measure_cost", Kind::plain);
    friend void carry_out(AppState& state, const MeasureCost& action);
};
struct CostMeasured {
    std::shared_ptr<const CostMeasurement> measured{};
    static constexpr auto kMeta = unwritten(Kind::answer);
    friend void carry_out(AppState& state, const CostMeasured& action);
};

using CostActions = ActionList<SetCostSize, SetCostTokens, SetCostPreset, SetCostPass, SelectCost,
                               MeasureCost, CostMeasured>;

}  // namespace attn::view
