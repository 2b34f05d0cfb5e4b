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

/// The cell that a number is typed into; an error gives the reason if none can be.
Result<CellHandle> typed_cell(const AppState& state, const CellRef& cell) {
    const auto at = resolve(state, cell);
    if (!can_be_typed(state, cell.tensor))
        return bad_input(at ? source_text(state, cell)
                            : fmt::format("{} is computed: edit a number of X or of a W instead",
                                          name_of(cell.tensor)));
    if (!at)
        return bad_input(fmt::format("{} has no cell at row {}, column {}, counted from 0",
                                     name_of(cell.tensor), cell.row, cell.column));
    return *at;
}

/// The number that typing replaces: of an output its target.
float edited_value(const AppState& state, const CellHandle& at) {
    if (at.cell.tensor == OperandId(Stage::output))
        return target_of(state.document(), state.batch, at.cell.row, at.cell.column);
    return at.value;
}

void begin_edit(AppState& state, const CellHandle& at) {
    choose_cell(state, at.cell);
    step_look(state).editing = CellEdit{at.cell, exact(edited_value(state, at))};
}

/// Why the draft cannot be taken; "": it can.
std::string draft_fault(const AppState& state) {
    const CellEdit& edit = *step_look(state).editing;
    const auto at = resolve(state, edit.cell);
    if (!at) return {};
    const std::string stays =
        fmt::format("{} stays {}", cell_name(state, edit.cell), exact(edited_value(state, *at)));
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
    if (has_cell(state, edit.cell)) carry_out(state, SetCell{edit.cell, *typed_number(edit.draft)});
}

/// So many cells on, row after row; nullopt beyond the ends.
std::optional<CellHandle> cell_after(const AppState& state, const CellRef& cell, int cells) {
    const Index columns = sheet_of(state, cell.tensor).values.columns;
    if (columns == 0) return std::nullopt;
    const Index step = std::clamp<Index>(cells, -1, 1);
    CellRef next = cell;
    next.column += step;
    if (next.column < 0 || next.column >= columns) {
        next.row += step;
        next.column = step > 0 ? 0 : columns - 1;
    }
    return resolve(state, next);
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
void solve_cell(AppState& state, const CellHandle& at, float after) {
    auto solved = solved_for(state, at, after);
    if (!solved) return show_message(state, solved.error());
    mark_edited(solved->document, state, {Param::w_v, 0, 0});
    edit_cell(state, std::move(solved->document), {at.cell, at.value, after},
              solved->alone ? ", with W_V solved for it: other rows of V stay"
                            : ", with W_V solved for it: other rows of V move too");
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
    const auto at = resolve(state, editing->cell);
    if (at && editing->draft != exact(edited_value(state, *at)))
        return carry_out(state, LeaveCellEdit{});
    step_look(state).editing.reset();
}

void carry_out(AppState& state, const BeginCellEdit& action) {
    const auto at = typed_cell(state, action.cell);
    if (!at) return warn(state, at.error().text());
    begin_edit(state, *at);
}

void carry_out(AppState& state, const DraftCell& action) {
    if (step_look(state).editing) step_look(state).editing->draft = action.text;
}

void carry_out(AppState& state, const CommitCellEdit&) {
    if (!step_look(state).editing) return;
    if (const std::string wrong = draft_fault(state); !wrong.empty())
        return show_error(state, wrong + ". Escape keeps the old number.");
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
    const auto at = typed_cell(state, action.cell);
    if (!at) return show_error(state, at.error().text());
    const float after = static_cast<float>(action.value);
    if (at->value == after) return;
    if (is_solved_for(state, action.cell.tensor)) return solve_cell(state, *at, after);
    Document document = state.document();
    const InputEdit edit{document.layer, at->batch,  at->head, action.cell.tensor,
                         at->row,        at->column, after};
    set_input(document, edit);
    if (is_toy(document)) {
        mark_edited(document, state, action.cell);
    } else {
        if (document.edits.empty()) document.note += ", edited";
        document.edits.push_back(edit);
    }
    edit_cell(state, std::move(document), {action.cell, at->value, after}, "");
}

}  // namespace attn::view
