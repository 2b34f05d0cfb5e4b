#pragma once

#include <optional>

#include "app/common/set_field.h"
#include "app/workspaces/compare/state.h"

namespace attn::view {

// What is pinned and compared with the present.

/// The present becomes the baseline.
struct PinBaseline {};
/// Another of the pinned, counted from 0.
struct ChooseBaseline {
    Index pin;
};
/// Those after it move up by one.
struct Unpin {
    Index pin;
};
struct ShowCompareStage {
    Stage stage;
};
struct SelectCompareCell {
    Index row, column;
};
/// 0: A, 1: B, in the same box; nullopt: beside each other.
struct SetBlink {
    std::optional<Index> side;
};
/// What weight the selected pair is to have.
struct SetTargetWeight {
    double weight;
};
/// The smallest change that gives the target becomes an edit: of the query's vector, or of the key's word.
struct ApplyTargetWeight {
    bool word;
};
/// Under the pointer.
using HoverCompareCell = Put<compare_look, &CompareLook::hovered>;

using CompareActions = ActionList<Plain<PinBaseline, ChooseBaseline, Unpin, ShowCompareStage,
                                        SelectCompareCell, SetBlink, SetTargetWeight>,
                                  Edits<ApplyTargetWeight>, Moments<HoverCompareCell>>;
template <ListedIn<CompareActions> A>
inline constexpr Meta kMetaOf<A> = CompareActions::kMeta<A>;

}  // namespace attn::view
