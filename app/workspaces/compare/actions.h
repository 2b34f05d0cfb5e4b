#pragma once

#include <optional>

#include "app/common/action.h"
#include "app/common/set_field.h"
#include "app/workspaces/compare/state.h"

namespace attn::view {

// What is pinned and compared with the present.

/// The present becomes the baseline.
struct PinBaseline {
    static constexpr auto kJournalNames = journal_names("pin_baseline");
};
/// Another of the pinned, counted from 0.
struct ChooseBaseline {
    Index pin;
    static constexpr auto kJournalNames = journal_names("choose_baseline", "pin");
};
/// Those after it move up by one.
struct Unpin {
    Index pin;
    static constexpr auto kJournalNames = journal_names("unpin", "pin");
};
struct ShowCompareStage {
    Stage stage;
    static constexpr auto kJournalNames = journal_names("show_compare_stage", "stage");
};
struct SelectCompareCell {
    Index row, column;
    static constexpr auto kJournalNames = journal_names("select_compare_cell", "row", "column");
};
/// 0: A, 1: B, in the same box; nullopt: beside each other.
struct SetBlink {
    std::optional<Index> side;
    static constexpr auto kJournalNames = journal_names("set_blink", "side");
};
/// What weight the selected pair is to have.
struct SetTargetWeight {
    double weight;
    static constexpr auto kJournalNames = journal_names("set_target_weight", "weight");
};
/// The smallest change that gives the target becomes an edit: of the query's vector, or of the key's word.
struct ApplyTargetWeight {
    bool word;
    static constexpr auto kJournalNames = journal_names("apply_target_weight", "word");
};
/// Under the pointer.
using HoverCompareCell = Put<compare_look, &CompareLook::hovered>;

using CompareActions =
    ActionList<ViewActions<PinBaseline, ChooseBaseline, Unpin, ShowCompareStage, SelectCompareCell,
                           SetBlink, SetTargetWeight>,
               EditActions<ApplyTargetWeight>, TransientActions<HoverCompareCell>>;
template <ListedIn<CompareActions> A>
inline constexpr Meta kMetaOf<A> = CompareActions::kMeta<A>;

}  // namespace attn::view
