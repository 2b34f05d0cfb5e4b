#pragma once

#include <string>

#include "app/common/document/actions.h"
#include "app/common/set_field.h"
#include "app/workspaces/step/state.h"

namespace attn::view {

// Moving about the stages, and one number of the inputs as it is typed.

/// ←/→.
struct StepBy {
    int steps;
    static constexpr auto kJournalNames = journal_names("step_by", "steps");
};
/// Home/End.
struct GoToEnd {
    bool last;
    static constexpr auto kJournalNames = journal_names("go_to_end", "last");
};
/// Space.
struct TogglePlay {
    static constexpr auto kJournalNames = journal_names("toggle_play");
};
/// What to do first is offered under the weights, until one of it is done.
using ShowStartButtons = Put<step_look, &StepLook::start_buttons, "show_doors", "on">;
/// Each stage is guessed, one row of it, before it is shown.
struct SetPredicting {
    bool on;
    static constexpr auto kJournalNames = journal_names("set_predicting", "on");
};
/// One entry of the guess.
struct GuessEntry {
    Index column;
    double value;
    static constexpr auto kJournalNames = journal_names("guess_entry", "column", "value");
};
/// The entry that the keys change.
struct PickGuess {
    Index column;
    static constexpr auto kJournalNames = journal_names("pick_guess", "column");
};
/// The row beside the guess; again: the stage.
struct RevealGuess {
    static constexpr auto kJournalNames = journal_names("reveal_guess");
};
/// The same row once more, from the start.
struct GuessAgain {
    static constexpr auto kJournalNames = journal_names("guess_again");
};
/// A symbol of the formula: its matrix is lit.
using HoverOperand = Put<step_look, &StepLook::highlighted>;
/// The colours of weights: full at the largest of each row, or at 1.
struct ScaleRows {
    bool on;
    static constexpr auto kJournalNames = journal_names("scale_rows", "on");
};
struct BeginCellEdit {
    CellRef cell;
    static constexpr auto kJournalNames = journal_names("begin_cell_edit", "cell");
};
/// Typing.
struct DraftCell {
    std::string text;
    static constexpr auto kJournalNames = journal_names("draft_cell", "text");
};
/// Enter: what is no number is explained, and the field stays open.
struct CommitCellEdit {
    static constexpr auto kJournalNames = journal_names("commit_cell_edit");
};
/// Tab and Shift+Tab: the same, and on to a neighbour, row after row.
struct CommitAndMove {
    int cells;  // 1: to the right
    static constexpr auto kJournalNames = journal_names("commit_and_move", "cells");
};
/// A click elsewhere: what is no number is explained and dropped.
struct LeaveCellEdit {
    static constexpr auto kJournalNames = journal_names("leave_cell_edit");
};
/// A double click on a computed number: selects it and says which inputs make it.
struct ExplainSource {
    CellRef cell;
    static constexpr auto kJournalNames = journal_names("explain_source", "cell");
};
/// The sizes and the seed, under the row of controls.
using ShowModel = Put<step_look, &StepLook::model_open, "show_model", "on">;
struct CancelCellEdit {
    static constexpr auto kJournalNames = journal_names("cancel_cell_edit");
};

using StepActions =
    ActionList<ViewActions<StepBy, GoToEnd, TogglePlay, SetPredicting, GuessEntry, PickGuess,
                           RevealGuess, GuessAgain, ScaleRows, BeginCellEdit, DraftCell,
                           CancelCellEdit, ExplainSource, ShowModel, ShowStartButtons>,
               EditActions<CommitCellEdit, CommitAndMove, LeaveCellEdit>,
               TransientActions<HoverOperand>>;
template <ListedIn<StepActions> A>
inline constexpr Meta kMetaOf<A> = StepActions::kMeta<A>;

}  // namespace attn::view
