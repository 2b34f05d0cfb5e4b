#include <algorithm>

#include <fmt/format.h>

#include "app/view/apply_parts.h"
#include "app/view/common/format.h"
#include "app/view/common/inspector.h"
#include "app/view/common/sheet.h"
#include "app/view/edits.h"
#include "app/view/large/inspector.h"

namespace attn::view {
namespace {

constexpr double kFadeSeconds = 0.25;

std::size_t place_of(const std::vector<Stage>& stages, Stage stage) {
    return static_cast<std::size_t>(std::find(stages.begin(), stages.end(), stage) -
                                    stages.begin());
}

/// The selected cell of the result moves on with the result: same place, inside the new matrix.
void follow_selection(StepLook& look, const AppState& state, Stage from) {
    if (!look.selected || look.selected->tensor != OperandId(from)) return;
    const Sheet sheet = sheet_of(state, look.stage);
    if (sheet.values.rows == 0 || sheet.values.columns == 0) return look.selected.reset();
    look.selected = CellRef{look.stage, std::min(look.selected->row, sheet.values.rows - 1),
                            std::min(look.selected->column, sheet.values.columns - 1)};
}

void go_to(AppState& state, Stage stage) {
    StepLook& look = state.step;
    look.stepped_once = true;
    look.play_clock_s = 0.0;
    if (stage == look.stage) return;
    look.previous = look.stage;
    look.stage = stage;
    look.fade = state.reduced_motion ? 1.0 : 0.0;
    look.hovered.reset();
    look.editing.reset();
    follow_selection(look, state, look.previous);
    if (stage == ribbon_stages(state.document()).back()) look.playing = false;
    say(state, std::string(info(stage).words));
}

/// A cell of another head, as the joined context counts it, becomes that head's own.
void show_head_of(AppState& state, CellRef& cell) {
    const Index width = state.document().d_k;
    if (cell.tensor != OperandId(Stage::context)) return;
    const Index column = state.step.head * width + cell.column;
    state.step.head = column / width;
    cell.column = column % width;
}

}  // namespace

void carry_out(AppState& state, const SetWorkspace& action) {
    state.workspace = action.workspace;
    state.step.playing = false;
    state.step.hovered.reset();
    state.large.hovered.reset();
    state.large.go_to_open = false;
    if (action.workspace == Workspace::step) say(state, std::string(info(state.step.stage).words));
    if (action.workspace == Workspace::saturation)
        say(state, "The same scores with and without ÷√d_k: what softmax makes of them.");
    if (action.workspace != Workspace::large) return;
    say(state, "A map of all the weights: the wheel zooms from the whole matrix to one number.");
    // a newcomer sees a matrix at once
    if (std::holds_alternative<std::monostate>(state.large.origin))
        carry_out(state, OpenPlanted{state.large.draft});
}

void carry_out(AppState& state, const GoToStage& action) {
    const std::vector<Stage> stages = ribbon_stages(state.document());
    if (place_of(stages, action.stage) == stages.size())
        return say(state, fmt::format("stage {} is not part of this model", info(action.stage).key),
                   Severity::warning);
    go_to(state, action.stage);
}

void carry_out(AppState& state, const StepBy& action) {
    const std::vector<Stage> stages = ribbon_stages(state.document());
    const Index last = static_cast<Index>(stages.size()) - 1;
    const Index here = static_cast<Index>(place_of(stages, state.step.stage));
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
    StepLook& look = state.step;
    const std::vector<Stage> stages = ribbon_stages(state.document());
    const bool start = !look.playing;
    if (start && look.stage == stages.back()) go_to(state, stages.front());
    look.playing = start;
    look.play_clock_s = 0.0;
}

void carry_out(AppState& state, const ShowHead& action) {
    const Index heads = state.document().heads;
    if (action.head < 0 || action.head >= heads)
        return say(
            state,
            fmt::format("there is no head {}: this model has heads 0…{}", action.head, heads - 1),
            Severity::warning);
    state.step.head = action.head;
    clamp_look(state);
    say(state, fmt::format("Head {} of 0…{}.", action.head, heads - 1));
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
    state.step.selected = cell;
    state.step.editing.reset();
    say(state, fmt::format("{} = {}", cell_name(state, cell), number(*value_at(state, cell))));
}

void carry_out(AppState& state, const MoveSelection& action) {
    CellRef cell = state.step.selected.value_or(CellRef{state.step.stage, -1, -1});
    const Sheet sheet = sheet_of(state, cell.tensor);
    if (sheet.values.rows == 0 || sheet.values.columns == 0) return;
    const bool first = cell.row < 0;
    cell.row = first ? 0 : std::clamp(cell.row + action.rows, Index{0}, sheet.values.rows - 1);
    cell.column =
        first ? 0 : std::clamp(cell.column + action.columns, Index{0}, sheet.values.columns - 1);
    carry_out(state, SelectCell{cell});
}

void carry_out(AppState& state, const ClearSelection&) {
    if (state.workspace == Workspace::large) return state.large.selected.reset();
    state.step.selected.reset();
    state.step.editing.reset();
}

void carry_out(AppState& state, const HoverCell& action) {
    const bool there = action.cell && has_cell(state, *action.cell);
    state.step.hovered = there ? action.cell : std::nullopt;
}

void carry_out(AppState& state, const ShowGradients& action) {
    state.step.show_gradients = action.on;
    say(state, action.on ? "Gradients of L = Σ output: how much L grows when a number grows by 1."
                         : "Values again.");
}

void carry_out(AppState& state, const CopyArithmetic& action) {
    const InspectorView view =
        state.workspace == Workspace::large ? large_inspector(state) : build_inspector_view(state);
    if (view.empty) return say(state, "Nothing to copy: select a number first.", Severity::warning);
    const std::string* texts[] = {&view.as_text, &view.as_latex, &view.as_python};
    const char* names[] = {"text", "LaTeX", "Python"};
    const auto n = static_cast<std::size_t>(action.format);
    state.requests.clipboard = *texts[n];
    say(state, fmt::format("Copied {} as {}.", view.title, names[n]));
}

void carry_out(AppState& state, const Tick& action) {
    StepLook& look = state.step;
    look.fade = std::min(1.0, look.fade + action.seconds / kFadeSeconds);
    if (look.playing) look.play_clock_s += action.seconds;
    state.large.moving_s = std::max(0.0, state.large.moving_s - action.seconds);
}

}  // namespace attn::view
