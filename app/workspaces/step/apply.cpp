#include <algorithm>

#include <fmt/format.h>

#include "app/common/document/edits.h"
#include "app/common/format.h"
#include "app/common/inspector.h"
#include "app/common/sheet.h"
#include "app/workspaces/step/actions.h"
#include "app/workspaces/step/loss.h"
#include "app/workspaces/step/places.h"
#include "app/workspaces/step/predict.h"
#include "app/workspaces/step/view.h"
#include "app/workspaces/step/workspace.h"

namespace attn::view {
namespace {

std::size_t place_of(const std::vector<Stage>& stages, Stage stage) {
    return static_cast<std::size_t>(std::find(stages.begin(), stages.end(), stage) -
                                    stages.begin());
}

void go_to(AppState& state, Stage stage) {
    StepLook& look = step_look(state);
    look.stepped_once = true;
    look.play_clock_s = 0.0;
    if (stage == look.stage) return;
    look.previous = look.stage;
    look.stage = stage;
    look.fade = state.reduced_motion ? 1.0 : 0.0;
    look.hovered.reset();
    look.lit.reset();
    look.editing.reset();
    enter_place(state);
    settle_prediction(state);
    if (stage == ribbon_stages(state.document()).back()) look.playing = false;
    say(state,
        is_guessing(state) ? "Guess a row of this stage before you look." : words_of(state, stage));
}

/// A cell of another head, as the joined context counts it, becomes that head's own.
void show_head_of(AppState& state, CellRef& cell) {
    const Index width = state.document().size.d_v;
    if (cell.tensor != OperandId(Stage::context)) return;
    const Index column = state.head * width + cell.column;
    state.head = column / width;
    cell.column = column % width;
}

}  // namespace

void settle_step(AppState& state) {
    StepLook& look = step_look(state);
    const std::vector<Stage> stages = ribbon_stages(state.document());
    const auto clamp_stage = [&](Stage& stage) {
        if (std::find(stages.begin(), stages.end(), stage) == stages.end())
            stage = stage == Stage::dropped ? Stage::weights : stages.front();
    };
    clamp_stage(look.stage);
    clamp_stage(look.previous);
    show_place(state);
    if (look.hovered && !has_cell(state, *look.hovered)) look.hovered.reset();
    const bool stays = look.editing && has_cell(state, look.editing->cell) &&
                       is_editable(state, look.editing->cell.tensor);
    if (!stays) look.editing.reset();
    settle_prediction(state);
}

void carry_out(AppState& state, const GoToStage& action) {
    const std::vector<Stage> stages = ribbon_stages(state.document());
    if (place_of(stages, action.stage) == stages.size())
        return say(state,
                   fmt::format("There is no stage {} in this model.", info(action.stage).key),
                   Severity::warning);
    go_to(state, action.stage);
}

void carry_out(AppState& state, const StepBy& action) {
    const std::vector<Stage> stages = ribbon_stages(state.document());
    const Index last = static_cast<Index>(stages.size()) - 1;
    const Index here = static_cast<Index>(place_of(stages, step_look(state).stage));
    const Index to = std::clamp(here + action.steps, Index{0}, last);
    if (to == here)
        say(state, here == last ? "This is the last stage: Home goes back to X."
                                : "This is the first stage: → computes the next one.");
    go_to(state, stages[static_cast<std::size_t>(to)]);
}

void carry_out(AppState& state, const GoToEnd& action) {
    const std::vector<Stage> stages = ribbon_stages(state.document());
    go_to(state, action.last ? stages.back() : stages.front());
}

void carry_out(AppState& state, const TogglePlay&) {
    StepLook& look = step_look(state);
    const std::vector<Stage> stages = ribbon_stages(state.document());
    const bool start = !look.playing;
    if (start && look.stage == stages.back()) go_to(state, stages.front());
    look.playing = start;
    look.play_clock_s = 0.0;
}

void carry_out(AppState& state, const SelectCell& action) {
    if (!has_cell(state, action.cell)) {
        const Sheet sheet = sheet_of(state, action.cell.tensor);
        return say(state,
                   fmt::format("{} has no cell at row {}, column {}, counted from 0: it is {}",
                               name_of(action.cell.tensor), action.cell.row, action.cell.column,
                               size(sheet.values.rows, sheet.values.columns)),
                   Severity::warning);
    }
    CellRef cell = action.cell;
    show_head_of(state, cell);
    choose_cell(state, cell);
    step_look(state).editing.reset();
    say(state, fmt::format("{} = {}", cell_name(state, cell), number(*value_at(state, cell))));
}

void carry_out(AppState& state, const MoveSelection& action) {
    CellRef cell = state.selected.value_or(CellRef{step_look(state).stage, -1, -1});
    const Sheet sheet = sheet_of(state, cell.tensor);
    if (sheet.values.rows == 0 || sheet.values.columns == 0) return;
    const bool first = cell.row < 0;
    cell.row = first ? 0 : std::clamp(cell.row + action.rows, Index{0}, sheet.values.rows - 1);
    cell.column =
        first ? 0 : std::clamp(cell.column + action.columns, Index{0}, sheet.values.columns - 1);
    carry_out(state, SelectCell{cell});
}

void carry_out(AppState& state, const HoverCell& action) {
    const bool there = action.cell && has_cell(state, *action.cell);
    step_look(state).hovered = there ? action.cell : std::nullopt;
}

void carry_out(AppState& state, const HoverOperand& action) {
    step_look(state).lit = action.operand;
}
void carry_out(AppState& state, const ShowModel& action) {
    step_look(state).model_open = action.on;
}

void carry_out(AppState& state, const ShowGradients& action) {
    state.show_gradients = action.on;
    say(state, action.on ? loss_sentence(state) : "Values again.");
}

void carry_out(AppState& state, const ScaleRows& action) {
    step_look(state).rows_scaled = action.on;
    say(state, action.on ? "Colours of weights by row: the largest weight of each row has the full "
                           "colour, whatever it is."
                         : "Colours of weights: the full colour is a weight of 1 in every row.");
}

}  // namespace attn::view
