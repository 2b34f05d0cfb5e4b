#pragma once

#include <optional>

#include "app/common/action.h"
#include "app/workspaces/compare/state.h"

namespace attn::view {

// What is pinned and compared with the present.

/// The present becomes the baseline.
struct PinBaseline {
    static constexpr Meta kMeta{"pin_baseline", Kind::plain};
    friend void carry_out(AppState& state, const PinBaseline& action);
};
/// Another of the pinned, counted from 0.
struct ChooseBaseline {
    Index pin;
    static constexpr Meta kMeta{"choose_baseline", Kind::plain, fields<&ChooseBaseline::pin>};
    friend void carry_out(AppState& state, const ChooseBaseline& action);
};
/// Those after it move up by one.
struct Unpin {
    Index pin;
    static constexpr Meta kMeta{"unpin", Kind::plain, fields<&Unpin::pin>};
    friend void carry_out(AppState& state, const Unpin& action);
};
struct ShowCompareStage {
    Stage stage;
    static constexpr Meta kMeta{"show_compare_stage", Kind::plain,
                                fields<&ShowCompareStage::stage>};
    friend void carry_out(AppState& state, const ShowCompareStage& action);
};
struct SelectCompareCell {
    Index row;
    Index column;
    static constexpr Meta kMeta{"select_compare_cell", Kind::plain,
                                fields<&SelectCompareCell::row, &SelectCompareCell::column>};
    friend void carry_out(AppState& state, const SelectCompareCell& action);
};
/// 0: A, 1: B, in the same box; nullopt: beside each other.
struct SetBlink {
    std::optional<Index> side;
    static constexpr Meta kMeta{"set_blink", Kind::plain, fields<&SetBlink::side>};
    friend void carry_out(AppState& state, const SetBlink& action);
};
/// What weight the selected pair is to have.
struct SetTargetWeight {
    double weight;
    static constexpr Meta kMeta{"set_target_weight", Kind::plain, fields<&SetTargetWeight::weight>};
    friend void carry_out(AppState& state, const SetTargetWeight& action);
};
/// The smallest change that gives the target becomes an edit: of the query's vector, or of the key's word.
struct ApplyTargetWeight {
    bool word;
    static constexpr Meta kMeta{"apply_target_weight", Kind::edit,
                                fields<&ApplyTargetWeight::word>};
    friend void carry_out(AppState& state, const ApplyTargetWeight& action);
};
/// Under the pointer.
struct HoverCompareCell {
    std::optional<large::Cell> cell;
    static constexpr Meta kMeta{"", Kind::moment};
    friend void carry_out(AppState& state, const HoverCompareCell& action);
};

using CompareActions =
    ActionList<PinBaseline, ChooseBaseline, Unpin, ShowCompareStage, SelectCompareCell, SetBlink,
               SetTargetWeight, ApplyTargetWeight, HoverCompareCell>;

}  // namespace attn::view
