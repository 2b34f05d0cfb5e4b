#include <cmath>

#include <fmt/format.h>

#include "app/common/actions.h"
#include "app/common/document/edits.h"
#include "app/common/document/place.h"
#include "app/common/document/solve.h"
#include "app/common/document/toy.h"
#include "app/common/format.h"
#include "app/common/sheet.h"
#include "app/common/typed.h"
#include "app/workspaces/step/actions.h"
#include "app/workspaces/step/sources.h"
#include "app/workspaces/step/view.h"
#include "core/scores/score.h"
#include "core/text.h"
#include "core/train/task_table.h"

namespace attn::view {
namespace {

bool fits_a_float(double value) {
    return !std::isfinite(value) || std::isfinite(static_cast<float>(value));
}

std::string not_editable(const AppState& state, const CellRef& cell) {
    if (!can_be_typed(state, cell.tensor))
        return has_cell(state, cell)
                   ? source_text(state, cell)
                   : fmt::format("{} is computed: edit a number of X or of a W instead",
                                 name_of(cell.tensor));
    if (!has_cell(state, cell))
        return fmt::format("{} has no cell at row {}, column {}, counted from 0",
                           name_of(cell.tensor), cell.row, cell.column);
    return {};
}

/// The number that typing replaces: of an output its target.
float edited_value(const AppState& state, const CellRef& cell) {
    if (cell.tensor == OperandId(Stage::output))
        return target_of(state.document(), state.batch, cell.row, cell.column);
    return *value_at(state, cell);
}

/// The cell in the coordinates of the whole tensor.
InputEdit input_edit(const AppState& state, const CellRef& cell, float value) {
    InputEdit edit{state.document().layer, 0, 0, cell.tensor, cell.row, cell.column, value};
    if (const Param* param = std::get_if<Param>(&cell.tensor)) {
        edit.column += head_columns(state, *param).first;
        return edit;
    }
    edit.batch = state.batch;
    edit.head = state.head_in(info(std::get<Stage>(cell.tensor)).heads);
    return edit;
}

void begin_edit(AppState& state, const CellRef& cell) {
    choose_cell(state, cell);
    step_look(state).editing = CellEdit{cell, exact(edited_value(state, cell))};
}

/// Why the draft cannot be taken; "": it can.
std::string draft_fault(const AppState& state) {
    const CellEdit& edit = *step_look(state).editing;
    if (!value_at(state, edit.cell)) return {};
    const std::string stays = fmt::format("{} stays {}", cell_name(state, edit.cell),
                                          exact(edited_value(state, edit.cell)));
    const auto value = typed_number(edit.draft);
    if (!value) return fmt::format("'{}' is not a number; {}", shortened(edit.draft), stays);
    if (!fits_a_float(*value))
        return fmt::format("{} is too large for a float (at most 3.4e38); {}",
                           shortened(edit.draft), stays);
    return {};
}

/// Closes the field; its draft has no fault.
void take_draft(AppState& state) {
    const CellEdit edit = *std::exchange(step_look(state).editing, std::nullopt);
    if (value_at(state, edit.cell)) carry_out(state, SetCell{edit.cell, *typed_number(edit.draft)});
}

/// So many cells on, row after row; nullopt beyond the ends.
std::optional<CellRef> cell_after(const AppState& state, const CellRef& cell, int cells) {
    const Index columns = sheet_of(state, cell.tensor).values.columns;
    if (columns == 0) return std::nullopt;
    const Index step = std::clamp<Index>(cells, -1, 1);
    CellRef next = cell;
    next.column += step;
    if (next.column < 0 || next.column >= columns) {
        next.row += step;
        next.column = step > 0 ? 0 : columns - 1;
    }
    if (!has_cell(state, next)) return std::nullopt;
    return next;
}

/// A toy is no preset any more. Where scores may have changed, what its note and its heads' names say of them need not
/// hold: the note says where the numbers come from, and no name stays.
void mark_edited(Document& document, const AppState& state, const CellRef& cell) {
    const bool scores =
        cell.tensor != OperandId(Param::w_v) && cell.tensor != OperandId(Param::w_o);
    const bool head_alone =
        cell.tensor == OperandId(Param::w_q) || cell.tensor == OperandId(Param::w_k);
    if (scores) document.note = toy_note(document);
    if (!document.note.ends_with(", edited")) document.note += ", edited";
    document.name = "custom";
    if (document.head_names.empty() || !scores) return;
    if (head_alone)
        document.head_names[state.head] = "edited";
    else
        document.head_names.clear();
}

/// `how`: what the words of the edit go on with.
void edit_cell(AppState& state, Document document, const EditFlash& edit, std::string_view how) {
    const bool done = edit_document(state, std::move(document),
                                    fmt::format("{} {} → {}{}", cell_name(state, edit.cell),
                                                number(edit.before), number(edit.after), how));
    if (done) step_look(state).flash = edit;
}

/// A number of V: W_V is solved for it.
void solve_cell(AppState& state, const CellRef& cell, float before, float after) {
    auto solved = solved_for(state, cell, after);
    if (!solved) return show_message(state, solved.error());
    mark_edited(solved->document, state, {Param::w_v, 0, 0});
    edit_cell(state, std::move(solved->document), {cell, before, after},
              solved->alone ? ", by W_V, solved for it: other rows of V stay"
                            : ", by W_V, solved for it: other rows of V move too");
}

template <class... Types>
bool is_one_of(const Action& action) {
    return (action.is<Types>() || ...);
}

/// What is part of the typing, or changes only how things look.
bool keeps_cell(const Action& action) {
    return is_one_of<DraftCell, CommitCellEdit, CommitAndMove, LeaveCellEdit, CancelCellEdit,
                     DraftSentence, SetTheme, SetUiScale, StartAtScale, ShowInspector,
                     SetReducedMotion, TakeScreenshot>(action);
}

/// Whether the action ends the typing into a cell.
bool leaves_cell(const CellEdit& editing, const Action& action) {
    if (const auto* begun = action.as<BeginCellEdit>()) return !(begun->cell == editing.cell);
    const Kind kind = kind_of(action);
    if (kind == Kind::moment) return false;
    if (kind == Kind::answer) return action.is<DocumentReady>();
    return !keeps_cell(action);
}

}  // namespace

void end_typing(AppState& state, const Action& action) {
    if (kind_of(action) != Kind::moment) step_look(state).refused = false;
    const auto& editing = step_look(std::as_const(state)).editing;
    if (!editing || !leaves_cell(*editing, action)) return;
    const auto value = value_at(state, editing->cell);
    if (value && editing->draft != exact(edited_value(state, editing->cell)))
        return carry_out(state, LeaveCellEdit{});
    step_look(state).editing.reset();
}

void carry_out(AppState& state, const BeginCellEdit& action) {
    if (const std::string wrong = not_editable(state, action.cell); !wrong.empty())
        return warn(state, wrong);
    begin_edit(state, action.cell);
}

void carry_out(AppState& state, const DraftCell& action) {
    if (step_look(state).editing) step_look(state).editing->draft = action.text;
}

void carry_out(AppState& state, const CommitCellEdit&) {
    if (!step_look(state).editing) return;
    if (const std::string wrong = draft_fault(state); !wrong.empty())
        return show_error(state, wrong + ". Escape leaves it as it is.");
    take_draft(state);
}

void carry_out(AppState& state, const CommitAndMove& action) {
    if (!step_look(state).editing) return;
    const CellRef from = step_look(state).editing->cell;
    carry_out(state, CommitCellEdit{});
    if (step_look(state).editing) return;
    if (const auto next = cell_after(state, from, action.cells)) begin_edit(state, *next);
}

void carry_out(AppState& state, const LeaveCellEdit&) {
    if (!step_look(state).editing) return;
    const std::string wrong = draft_fault(state);
    if (wrong.empty()) return take_draft(state);
    step_look(state).editing.reset();
    show_error(state, wrong);
}

void carry_out(AppState& state, const ExplainSource& action) {
    if (!has_cell(state, action.cell)) return carry_out(state, SelectCell{action.cell});
    choose_cell(state, action.cell);
    step_look(state).editing.reset();
    step_look(state).refused = true;
    show_message(state, source_text(state, action.cell));
}

void carry_out(AppState& state, const CancelCellEdit&) { step_look(state).editing.reset(); }

void carry_out(AppState& state, const SetCell& action) {
    if (action.cell.tensor == OperandId(Stage::output) && has_targets(state))
        return carry_out(state, SetTarget{action.cell, action.value});
    if (const std::string wrong = not_editable(state, action.cell); !wrong.empty())
        return show_error(state, wrong);
    const float before = *value_at(state, action.cell);
    const float after = static_cast<float>(action.value);
    if (before == after) return;
    if (is_solved_for(state, action.cell.tensor))
        return solve_cell(state, action.cell, before, after);
    Document document = state.document();
    const InputEdit edit = input_edit(state, action.cell, after);
    set_input(document, edit);
    if (is_toy(document)) {
        mark_edited(document, state, action.cell);
    } else {
        if (document.edits.empty()) document.note += ", edited";
        document.edits.push_back(edit);
    }
    edit_cell(state, std::move(document), {action.cell, before, after}, "");
}

}  // namespace attn::view
