#pragma once

#include <optional>
#include <string>

#include "app/view/common/action.h"
#include "app/view/state.h"

namespace attn::view {

// Moving about the stages, and one number of the inputs as it is typed.

struct GoToStage {
    Stage stage;
    static constexpr auto kMeta =
        meta("go_to_stage", Kind::plain, field("stage", &GoToStage::stage));
    friend void carry_out(AppState& state, const GoToStage& action);
};
/// ←/→.
struct StepBy {
    int steps;
    static constexpr auto kMeta = meta("step_by", Kind::plain, field("steps", &StepBy::steps));
    friend void carry_out(AppState& state, const StepBy& action);
};
/// Home/End.
struct GoToEnd {
    bool last;
    static constexpr auto kMeta = meta("go_to_end", Kind::plain, field("last", &GoToEnd::last));
    friend void carry_out(AppState& state, const GoToEnd& action);
};
/// Space.
struct TogglePlay {
    static constexpr auto kMeta = meta("toggle_play", Kind::plain);
    friend void carry_out(AppState& state, const TogglePlay& action);
};
struct SelectCell {
    CellRef cell;
    static constexpr auto kMeta =
        meta("select_cell", Kind::plain, field("cell", &SelectCell::cell));
    friend void carry_out(AppState& state, const SelectCell& action);
};
struct MoveSelection {
    int rows;
    int columns;
    static constexpr auto kMeta =
        meta("move_selection", Kind::plain, field("rows", &MoveSelection::rows),
             field("columns", &MoveSelection::columns));
    friend void carry_out(AppState& state, const MoveSelection& action);
};
/// Each stage is guessed, one row of it, before it is shown.
struct SetPredicting {
    bool on;
    static constexpr auto kMeta =
        meta("set_predicting", Kind::plain, field("on", &SetPredicting::on));
    friend void carry_out(AppState& state, const SetPredicting& action);
};
/// One entry of the guess.
struct GuessEntry {
    Index column;
    double value;
    static constexpr auto kMeta =
        meta("guess_entry", Kind::plain, field("column", &GuessEntry::column),
             field("value", &GuessEntry::value));
    friend void carry_out(AppState& state, const GuessEntry& action);
};
/// The entry that the keys change.
struct PickGuess {
    Index column;
    static constexpr auto kMeta =
        meta("pick_guess", Kind::plain, field("column", &PickGuess::column));
    friend void carry_out(AppState& state, const PickGuess& action);
};
/// The row beside the guess; again: the stage.
struct RevealGuess {
    static constexpr auto kMeta = meta("reveal_guess", Kind::plain);
    friend void carry_out(AppState& state, const RevealGuess& action);
};
/// The same row once more, from the start.
struct GuessAgain {
    static constexpr auto kMeta = meta("guess_again", Kind::plain);
    friend void carry_out(AppState& state, const GuessAgain& action);
};
struct HoverCell {
    std::optional<CellRef> cell;
    static constexpr auto kMeta = unwritten(Kind::moment);
    friend void carry_out(AppState& state, const HoverCell& action);
};
/// A symbol of the formula: its matrix is lit.
struct HoverOperand {
    std::optional<OperandId> operand;
    static constexpr auto kMeta = unwritten(Kind::moment);
    friend void carry_out(AppState& state, const HoverOperand& action);
};
struct ShowGradients {
    bool on;
    static constexpr auto kMeta =
        meta("show_gradients", Kind::plain, field("on", &ShowGradients::on));
    friend void carry_out(AppState& state, const ShowGradients& action);
};
/// What L is, and shows its gradients. Of one output: the selected one, else the one chosen last, else the first.
struct SetLoss {
    LossKind kind;
    static constexpr auto kMeta = meta("set_loss", Kind::plain, field("kind", &SetLoss::kind));
    friend void carry_out(AppState& state, const SetLoss& action);
};
/// L is this number of the output.
struct SetLossCell {
    CellRef cell;
    static constexpr auto kMeta =
        meta("set_loss_cell", Kind::plain, field("cell", &SetLossCell::cell));
    friend void carry_out(AppState& state, const SetLossCell& action);
};
/// What this number of the output should be, for the squared error.
struct SetTarget {
    CellRef cell;
    double value;
    static constexpr auto kMeta = meta("set_target", Kind::edit, field("cell", &SetTarget::cell),
                                       field("value", &SetTarget::value));
    friend void carry_out(AppState& state, const SetTarget& action);
};
/// The colours of weights: full at the largest of each row, or at 1.
struct ScaleRows {
    bool on;
    static constexpr auto kMeta = meta("scale_rows", Kind::plain, field("on", &ScaleRows::on));
    friend void carry_out(AppState& state, const ScaleRows& action);
};
struct BeginCellEdit {
    CellRef cell;
    static constexpr auto kMeta =
        meta("begin_cell_edit", Kind::plain, field("cell", &BeginCellEdit::cell));
    friend void carry_out(AppState& state, const BeginCellEdit& action);
};
/// Typing.
struct DraftCell {
    std::string text;
    static constexpr auto kMeta = meta("draft_cell", Kind::plain, field("text", &DraftCell::text));
    friend void carry_out(AppState& state, const DraftCell& action);
};
/// Enter: what is no number is explained, and the field stays open.
struct CommitCellEdit {
    static constexpr auto kMeta = meta("commit_cell_edit", Kind::edit);
    friend void carry_out(AppState& state, const CommitCellEdit& action);
};
/// Tab and Shift+Tab: the same, and on to a neighbour, row after row.
struct CommitAndMove {
    int cells;  // 1: to the right
    static constexpr auto kMeta =
        meta("commit_and_move", Kind::edit, field("cells", &CommitAndMove::cells));
    friend void carry_out(AppState& state, const CommitAndMove& action);
};
/// A click elsewhere: what is no number is explained and dropped.
struct LeaveCellEdit {
    static constexpr auto kMeta = meta("leave_cell_edit", Kind::edit);
    friend void carry_out(AppState& state, const LeaveCellEdit& action);
};
/// A double click on a computed number: selects it and says which inputs make it.
struct ExplainSource {
    CellRef cell;
    static constexpr auto kMeta =
        meta("explain_source", Kind::plain, field("cell", &ExplainSource::cell));
    friend void carry_out(AppState& state, const ExplainSource& action);
};
/// The sizes and the seed, under the row of controls.
struct ShowModel {
    bool on;
    static constexpr auto kMeta = meta("show_model", Kind::plain, field("on", &ShowModel::on));
    friend void carry_out(AppState& state, const ShowModel& action);
};
struct CancelCellEdit {
    static constexpr auto kMeta = meta("cancel_cell_edit", Kind::plain);
    friend void carry_out(AppState& state, const CancelCellEdit& action);
};

using StepActions =
    ActionList<GoToStage, StepBy, GoToEnd, TogglePlay, SelectCell, MoveSelection, HoverCell,
               SetPredicting, GuessEntry, PickGuess, RevealGuess, GuessAgain, HoverOperand,
               ShowGradients, ScaleRows, BeginCellEdit, DraftCell, CommitCellEdit, CancelCellEdit,
               CommitAndMove, LeaveCellEdit, ExplainSource, ShowModel, SetLoss, SetLossCell,
               SetTarget>;

}  // namespace attn::view
