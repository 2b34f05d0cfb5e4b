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
struct HoverCell {
    std::optional<CellRef> cell;
    static constexpr auto kMeta = unwritten(Kind::moment);
    friend void carry_out(AppState& state, const HoverCell& action);
};
struct ShowGradients {
    bool on;
    static constexpr auto kMeta =
        meta("show_gradients", Kind::plain, field("on", &ShowGradients::on));
    friend void carry_out(AppState& state, const ShowGradients& action);
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
struct CommitCellEdit {
    static constexpr auto kMeta = meta("commit_cell_edit", Kind::edit);
    friend void carry_out(AppState& state, const CommitCellEdit& action);
};
struct CancelCellEdit {
    static constexpr auto kMeta = meta("cancel_cell_edit", Kind::plain);
    friend void carry_out(AppState& state, const CancelCellEdit& action);
};

using StepActions =
    ActionList<GoToStage, StepBy, GoToEnd, TogglePlay, SelectCell, MoveSelection, HoverCell,
               ShowGradients, ScaleRows, BeginCellEdit, DraftCell, CommitCellEdit, CancelCellEdit>;

}  // namespace attn::view
