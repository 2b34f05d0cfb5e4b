#pragma once

#include <optional>
#include <string>

#include "app/common/document/actions.h"
#include "app/workspaces/step/state.h"

namespace attn::view {

// Moving about the stages, and one number of the inputs as it is typed.

/// ←/→.
struct StepBy {
    int steps;
    static constexpr Meta kMeta{"step_by", Kind::plain, fields<&StepBy::steps>};
    friend void carry_out(AppState& state, const StepBy& action);
};
/// Home/End.
struct GoToEnd {
    bool last;
    static constexpr Meta kMeta{"go_to_end", Kind::plain, fields<&GoToEnd::last>};
    friend void carry_out(AppState& state, const GoToEnd& action);
};
/// Space.
struct TogglePlay {
    static constexpr Meta kMeta{"toggle_play", Kind::plain};
    friend void carry_out(AppState& state, const TogglePlay& action);
};
/// What to do first is offered under the weights, until one of it is done.
struct ShowDoors {
    bool on;
    static constexpr Meta kMeta{"show_doors", Kind::plain, fields<&ShowDoors::on>};
    friend void carry_out(AppState& state, const ShowDoors& action);
};
/// Each stage is guessed, one row of it, before it is shown.
struct SetPredicting {
    bool on;
    static constexpr Meta kMeta{"set_predicting", Kind::plain, fields<&SetPredicting::on>};
    friend void carry_out(AppState& state, const SetPredicting& action);
};
/// One entry of the guess.
struct GuessEntry {
    Index column;
    double value;
    static constexpr Meta kMeta{"guess_entry", Kind::plain,
                                fields<&GuessEntry::column, &GuessEntry::value>};
    friend void carry_out(AppState& state, const GuessEntry& action);
};
/// The entry that the keys change.
struct PickGuess {
    Index column;
    static constexpr Meta kMeta{"pick_guess", Kind::plain, fields<&PickGuess::column>};
    friend void carry_out(AppState& state, const PickGuess& action);
};
/// The row beside the guess; again: the stage.
struct RevealGuess {
    static constexpr Meta kMeta{"reveal_guess", Kind::plain};
    friend void carry_out(AppState& state, const RevealGuess& action);
};
/// The same row once more, from the start.
struct GuessAgain {
    static constexpr Meta kMeta{"guess_again", Kind::plain};
    friend void carry_out(AppState& state, const GuessAgain& action);
};
/// A symbol of the formula: its matrix is lit.
struct HoverOperand {
    std::optional<OperandId> operand;
    static constexpr Meta kMeta{"", Kind::moment};
    friend void carry_out(AppState& state, const HoverOperand& action);
};
/// The colours of weights: full at the largest of each row, or at 1.
struct ScaleRows {
    bool on;
    static constexpr Meta kMeta{"scale_rows", Kind::plain, fields<&ScaleRows::on>};
    friend void carry_out(AppState& state, const ScaleRows& action);
};
struct BeginCellEdit {
    CellRef cell;
    static constexpr Meta kMeta{"begin_cell_edit", Kind::plain, fields<&BeginCellEdit::cell>};
    friend void carry_out(AppState& state, const BeginCellEdit& action);
};
/// Typing.
struct DraftCell {
    std::string text;
    static constexpr Meta kMeta{"draft_cell", Kind::plain, fields<&DraftCell::text>};
    friend void carry_out(AppState& state, const DraftCell& action);
};
/// Enter: what is no number is explained, and the field stays open.
struct CommitCellEdit {
    static constexpr Meta kMeta{"commit_cell_edit", Kind::edit};
    friend void carry_out(AppState& state, const CommitCellEdit& action);
};
/// Tab and Shift+Tab: the same, and on to a neighbour, row after row.
struct CommitAndMove {
    int cells;  // 1: to the right
    static constexpr Meta kMeta{"commit_and_move", Kind::edit, fields<&CommitAndMove::cells>};
    friend void carry_out(AppState& state, const CommitAndMove& action);
};
/// A click elsewhere: what is no number is explained and dropped.
struct LeaveCellEdit {
    static constexpr Meta kMeta{"leave_cell_edit", Kind::edit};
    friend void carry_out(AppState& state, const LeaveCellEdit& action);
};
/// A double click on a computed number: selects it and says which inputs make it.
struct ExplainSource {
    CellRef cell;
    static constexpr Meta kMeta{"explain_source", Kind::plain, fields<&ExplainSource::cell>};
    friend void carry_out(AppState& state, const ExplainSource& action);
};
/// The sizes and the seed, under the row of controls.
struct ShowModel {
    bool on;
    static constexpr Meta kMeta{"show_model", Kind::plain, fields<&ShowModel::on>};
    friend void carry_out(AppState& state, const ShowModel& action);
};
struct CancelCellEdit {
    static constexpr Meta kMeta{"cancel_cell_edit", Kind::plain};
    friend void carry_out(AppState& state, const CancelCellEdit& action);
};

using StepActions =
    ActionList<StepBy, GoToEnd, TogglePlay, SetPredicting, GuessEntry, PickGuess, RevealGuess,
               GuessAgain, HoverOperand, ScaleRows, BeginCellEdit, DraftCell, CommitCellEdit,
               CancelCellEdit, CommitAndMove, LeaveCellEdit, ExplainSource, ShowModel, ShowDoors>;

}  // namespace attn::view
