#include <cmath>

#include <fmt/format.h>

#include "app/common/describe_json.h"
#include "app/common/document/commands.h"
#include "app/common/document/edits.h"
#include "app/common/document/place.h"
#include "app/common/document/solve.h"
#include "app/common/document/targets.h"
#include "app/common/fields.h"
#include "app/common/map/actions.h"
#include "app/common/map/inspector.h"
#include "app/common/map/map_cell.h"
#include "app/common/workspace.h"
#include "app/workspaces/step/actions.h"
#include "app/workspaces/step/grids.h"
#include "app/workspaces/step/map.h"
#include "app/workspaces/step/motion.h"
#include "app/workspaces/step/predict.h"
#include "app/workspaces/step/view.h"
#include "core/large/weight_map.h"
#include "core/scores/score.h"
#include "core/stages.h"
#include "core/train/task_table.h"

namespace attn::view {
namespace {

/// Its scores are a map.
bool has_long_scores(const AppState& state) {
    return !is_empty(state.document()) && is_long(state.document());
}

void add_stepping(std::vector<Command>& list, const AppState& state) {
    const char* play = step_look(state).playing ? "Stop playing" : "Play the stages";
    const bool there = step_missing_data(state).empty() || has_long_scores(state);
    const CommandAdder add{list, "Step", there};
    add("Next stage", Key::right, StepBy{1});
    add("Previous stage", Key::left, StepBy{-1});
    add("First stage", Key::home, GoToEnd{false});
    add("Last stage", Key::end, GoToEnd{true});
    add(play, Key::space, TogglePlay{});
}

void add_selection(std::vector<Command>& list, const AppState& state) {
    const auto& selected = state.selected;
    const bool editable = selected && can_be_typed(state, selected->tensor);
    const CommandAdder add{list, "Step"};
    add_arrows(add, "number", "number", shift, [](int rows, int columns) {
        return MoveSelection{rows, columns};
    });
    add("Edit the selected number", Key::enter, BeginCellEdit{selected.value_or(CellRef{})},
        editable);
}

void add_prediction(std::vector<Command>& list, const AppState& state) {
    const StepLook& look = step_look(state);
    const bool there = step_missing_data(state).empty() && !has_long_scores(state);
    const CommandAdder add{list, "Step"};
    add(look.predicts ? "Stop predicting: show stages without a guess"
                      : "Predict: guess a row of each stage before it is shown",
        shift(Key::p), SetPredicting{!look.predicts}, look.predicts || there);
    if (!is_guessing(state)) return;
    const auto guess = *build_predict_view(state);
    add(guess.revealed ? "Show the stage" : "Reveal the row", Key::enter, RevealGuess{});
    add("Guess again", Key::backspace, GuessAgain{}, guess.revealed);
    if (guess.revealed) return;
    add("Next bar of the guess", Key::period, PickGuess{guess.column + 1});
    add("Previous bar of the guess", Key::comma, PickGuess{guess.column - 1});
    add("Raise the bar of the guess", Key::up, nudged_guess(state, 1));
    add("Lower the bar of the guess", Key::down, nudged_guess(state, -1));
}

void add_losses(std::vector<Command>& list, const AppState& state) {
    const bool there = step_missing_data(state).empty();
    const auto& selected = state.selected;
    const bool output = selected && selected->tensor == OperandId(Stage::output);
    const CommandAdder add{list, "Step", there};
    add("Gradients of the sum of all outputs, L = Σ output", Chord{}, SetLoss{LossKind::sum});
    const CellRef cell = output ? *selected : CellRef{Stage::output, 0, 0};
    add(output
            ? fmt::format("Gradient of this cell, L = {}",
                          loss_text(state, {LossKind::cell, {state.batch, cell.row, cell.column}}))
            : "Gradient of this cell: select a number of the output first",
        Chord{}, SetLossCell{cell}, output);
    add("Gradients of the squared error, L = ½ Σ (output − target)²", Chord{},
        SetLoss{LossKind::squared});
    add("Gradients of the cross-entropy of an output row, L = −ln softmax(output[i])[c]", Chord{},
        SetLoss{LossKind::cross_entropy});
    add("Gradients for the file's dY, L = Σ dY ∘ output", Chord{}, SetLoss{LossKind::file},
        given_gradient(state.document()) != nullptr);
}

void add_places(std::vector<Command>& list, const AppState& state) {
    const bool there = has_model_place(state);
    const CommandAdder add{list, "Step"};
    const char* const why = "Only a trained model has layers around attention.";
    add("What follows attention, in the whole model", Key::w, ShowModelPlace{ModelPlace::output},
        there, there ? "" : why);
    add("Where the input of attention comes from, in the whole model", shift(Key::w),
        ShowModelPlace{ModelPlace::input}, there, there ? "" : why);
}

void add_jumps(std::vector<Command>& list, const AppState& state) {
    for (const Stage stage : ribbon_stages(state.document()))
        list.push_back({fmt::format("Go to {}: {}", info(stage).step, info(stage).title), "Step",
                        Chord{}, GoToStage{stage}});
}

/// A cell, stage or head that the document does not have.
void check_look(Fields& fields, const AppState& state) {
    const StepLook& look = step_look(state);
    const auto stages = ribbon_stages(state.document());
    if (std::ranges::count(stages, state.stage) == 0)
        fields.complain(fmt::format("is at stage '{}', which this document does not have",
                                    info(state.stage).key));
    if (!fields.ok()) return;
    const bool retained = !state.selected || !is_stored_stage(state, state.selected->tensor) ||
                          has_cell(state, *state.selected);
    if (!retained)
        fields.complain(fmt::format("points at a cell that {} does not have: row {}, column {}",
                                    name_of(state.selected->tensor), state.selected->row,
                                    state.selected->column));
    if (look.editing &&
        (!can_be_typed(state, look.editing->cell.tensor) || !has_cell(state, look.editing->cell)))
        fields.complain("edits a cell that cannot be edited");
}

std::string last_stage_text(const AppState& state) {
    return has_model_place(state)
               ? "This is the last stage: W shows what follows it in the whole model."
               : "This is the last stage: Home goes back to the first one.";
}

void enter_step(AppState& state) {
    const bool maps = map_form(state, Stage::weights) != MapForm::own;
    if (maps && !step_missing_data(state).empty() && map_form(state, state.stage) == MapForm::own)
        state.stage = step_look(state).previous =
            Stage::weights;  // all that there is to be seen is the map
    const auto& cell = map_look(state).selected;
    if (cell && step_missing_data(state).empty()) {  // the pair that Large looked at
        const Stage stage = is_pair(state.stage) ? state.stage : Stage::weights;
        const CellRef same{stage, cell->row, cell->column};
        const bool held = state.selected && is_pair(state.selected->tensor) &&
                          state.selected->row == cell->row &&
                          state.selected->column == cell->column;
        if (!held && has_cell(state, same)) choose_cell(state, same);
    }
    const bool empty = is_empty(state.document()) && !is_toy(state.document());
    const bool last = !empty && state.stage == ribbon_stages(state.document()).back();
    show_message(state, empty  ? step_missing_data(state)
                        : last ? last_stage_text(state)
                               : "→ computes the next stage.");
}

void add_step_commands(std::vector<Command>& list, const AppState& state) {
    if (map_look(state).form != MapForm::own)
        add_map_commands({list, "Step"}, state);
    else if (has_stage_cells(state))
        add_zoom_commands({list, "Step"}, map_look(state));
    add_prediction(list, state);
    add_stepping(list, state);
    add_places(list, state);
    add_selection(list, state);
    const CommandAdder add{list, "Step"};
    const bool open = step_look(state).model_open;
    add(open ? "Close the model" : "Model: sizes, the call and the weights", Key::d,
        ShowModel{!open});
    add_losses(list, state);
    const bool by_row = step_look(state).rows_scaled;
    add(by_row ? "Colours of weights on one scale" : "Colours of weights by row", Chord{},
        ScaleRows{!by_row}, step_missing_data(state).empty());
    add_document_commands(list, state);
    add_model_commands(list, state);
    add_jumps(list, state);
}

std::optional<Action> escape_step(const AppState& state) {
    if (step_look(state).editing) return CancelCellEdit{};
    if (step_look(state).model_open && !state.presenter) return ShowModel{false};
    return std::nullopt;
}

void arrive_in_step(AppState& state, Stage from) {
    StepLook& look = step_look(state);
    look.stepped_once = true;
    look.play_clock_s = 0.0;
    if (state.stage == from) return;
    look.previous = from;
    look.fade = state.reduced_motion ? 1.0 : 0.0;
    look.highlighted.reset();
    look.editing.reset();
    update_prediction(state);
    if (state.stage == ribbon_stages(state.document()).back()) look.playing = false;
    if (is_guessing(state)) return show_message(state, "Guess a row of this stage first.");
    show_muted(state, description_of(state, state.stage));
}

void clamp_step(AppState& state) {
    StepLook& look = step_look(state);
    look.previous = stage_in(state.document(), look.previous);
    const bool stays = look.editing && has_cell(state, look.editing->cell) &&
                       can_be_typed(state, look.editing->cell.tensor);
    if (!stays) look.editing.reset();
    update_prediction(state);
}

/// Back to where a stage is looked at first.
void clear_step(AppState& state) {
    step_look(state).editing.reset();
    clear_places(state);
    show_place(state);
}

void write_step(Visitor& part, const AppState& state) {
    StepLook look = step_look(state);
    Stage stage = state.stage;
    bool gradients = state.show_gradients;
    std::optional<CellRef> selected = state.selected;
    Loss loss = state.loss;
    std::string draft = state.sentence_draft;
    auto guess = present_prediction(state);
    auto places = cells_of(state.places);
    part("stage", stage);
    part("playing", look.playing);
    part("gradients", gradients);
    part("loss", loss);
    part("rows_scaled", look.rows_scaled);
    part("stepped_once", look.stepped_once);
    part("sentence_draft", draft);
    if (look.model_open) part("model", look.model_open);
    if (look.predicts) part("predicts", look.predicts);
    part("guess", guess);
    part("selected", selected);
    part("places", places);
    part("editing", look.editing);
}

void read_step(Fields& fields, AppState& state) {
    StepLook& look = step_look(state);
    JsonReader reader(fields);
    reader("stage", state.stage);
    look.previous = state.stage;
    reader("playing", look.playing);
    reader("gradients", state.show_gradients);
    reader("loss", state.loss);
    reader("rows_scaled", look.rows_scaled);
    reader("stepped_once", look.stepped_once);
    reader("sentence_draft", state.sentence_draft);
    reader("model", look.model_open);
    reader("predicts", look.predicts);
    reader("guess", look.prediction);
    clear_places(state);
    reader("selected", state.selected);
    std::vector<CellRef> places;
    reader("places", places);
    state.places = places_from(places, reader);
    reader("editing", look.editing);
    check_look(fields, state);
    if (!fields.ok()) return;
    restore_place(state);
    if (state.loss == Loss{} && !state.show_gradients) return;
    if (auto done = compute_gradients(state); !done) fields.complain(done.error());
}

bool is_step_animating(const AppState& state) {
    const bool pans = map_look(state).form != MapForm::own && map_look(state).moving_s > 0.0;
    const StepLook& look = step_look(state);
    return look.playing || look.fade < 1.0 || look.flash || look.motion || pans;
}

bool is_step_idle(const AppState& state) {
    const MapLook& map = map_look(state);
    const bool drawn =
        map.form == MapForm::own || !map.fault.empty() || (map.snapshot && map.snapshot->complete);
    return step_look(state).fade >= 1.0 && !step_look(state).motion && drawn;
}

std::vector<Shot> step_shots() {
    // The first screen too: a sentence in which "it" looks at "animal".
    return {{"",
             {OpenFile{"pronouns"}, DocumentReady{}, ShowHead{0, {}, 1}, GoToStage{Stage::weights},
              SelectCell{{Stage::weights, 7, 1}}, ShowStartButtons{true}}}};
}

constexpr std::string_view kStepMouse[] = {
    "Point at a cell to highlight its sources in the operands.",
    "Click a cell to see its arithmetic in the inspector.",
    "Double-click a number of X or W, or press Enter, to change it. Tab goes to the next.",
    "Double-click a computed number to see which inputs determine it.",
    "Turn the wheel over a slider or a number to change it by one step.",
    "Click a number in the inspector to go to its cell.",
    "Click a stage on the ribbon to go there.",
    "In a model: click tokens or MLP at the ribbon's ends to see the rest of the transformer.",
    "More than 64 tokens: scores and weights are a map; the wheel zooms, dragging pans.",
};

void leave_step(AppState& state) {
    step_look(state).playing = false;
    state.hovered.reset();
}

void tick_step(AppState& state, double seconds) {
    constexpr double kFadeSeconds = 0.6;
    move_on(state, seconds);
    StepLook& look = step_look(state);
    look.fade = std::min(1.0, look.fade + seconds / kFadeSeconds);
    if (look.playing) look.play_clock_s += seconds;
    if (look.flash && (look.flash->age_s += seconds) >= kFlashSeconds) look.flash.reset();
}

/// After every action: the map stands for the stage that Step shows, or for Large's own choice. What Step has selected
/// is selected on the map; where a stage is known through the map alone, a cell is selected from the start.
void follow_map(AppState& state) {
    const bool steps = state.workspace == "step";
    show_form(state, steps ? map_form(state, state.stage) : MapForm::own);
    if (map_look(state).form == MapForm::own) return;
    auto& selected = map_look(state).selected;
    if (is_map_alone(state)) {
        if (!selected) selected = large::Cell{};
        return;
    }
    const auto& cell = state.selected;
    if (cell && is_pair(cell->tensor)) selected = large::Cell{cell->row, cell->column};
}

void follow_step(AppState& state) {
    follow_map(state);
    follow_stage_cells(state);
    if (state.reduced_motion) step_look(state).fade = 1.0;
    begin_motion(state);
}

void before_step(AppState& state, const Action& action) {
    end_typing(state, action);
    keep_shown(state, action);
}

Actions due_in_step(const AppState& state) {
    constexpr double kSecondsPerStage = 1.2;
    const StepLook& look = step_look(state);
    if (!look.playing || look.play_clock_s < kSecondsPerStage) return {};
    return {StepBy{1}};
}

void still_step(AppState& state) {
    step_look(state).fade = 1.0;
    step_look(state).motion.reset();
}

/// The temperature is pulled from one end to the other; or from stage to stage, and from the last to the first again.
std::optional<Action> move_step(const AppState& state, Movement movement, double part) {
    if (movement == Movement::drag) return SetTemperature{0.25 * std::exp2(4.0 * part)};
    if (state.stage == ribbon_stages(state.document()).back()) return GoToEnd{false};
    return StepBy{1};
}

}  // namespace

std::string step_missing_data(const AppState& state) { return stages_lack(state.document()); }

// ---- actions

void carry_out(AppState& state, const StepBy& action) {
    const std::vector<Stage> stages = ribbon_stages(state.document());
    const Index last = std::ssize(stages) - 1;
    const Index here = std::ranges::find(stages, state.stage) - stages.begin();
    const Index to = std::clamp(here + action.steps, Index{0}, last);
    if (to == here)
        show_message(state, here == last ? last_stage_text(state)
                                         : "This is the first stage: → computes the next one.");
    go_to_stage(state, stages[to]);
}

void carry_out(AppState& state, const GoToEnd& action) {
    const std::vector<Stage> stages = ribbon_stages(state.document());
    go_to_stage(state, action.last ? stages.back() : stages.front());
}

void carry_out(AppState& state, const TogglePlay&) {
    StepLook& look = step_look(state);
    const bool first =
        std::exchange(look.start_buttons, false);  // "Watch it compute": from the start
    const std::vector<Stage> stages = ribbon_stages(state.document());
    const bool start = !look.playing;
    if (start && (first || state.stage == stages.back())) go_to_stage(state, stages.front());
    look.playing = start;
    look.play_clock_s = 0.0;
}

void carry_out(AppState& state, const ScaleRows& action) {
    step_look(state).rows_scaled = action.on;
    show_message(state, action.on
                            ? "Colours by row: the largest weight of each row has the full colour."
                            : "Colours of weights: one scale for all rows.");
}

extern const WorkspaceInfo kStepWorkspace{
    .key = "step",
    .title = "Step",
    .tip = "Step through the stages of attention, every number explained.",
    .group = Group::attention,
    .letter = Key::s,
    .shows_document = true,
    .shows_first = true,
    .actions = StepActions::kTypes,
    .missing_data = step_missing_data,
    .enter = enter_step,
    .leave = leave_step,
    .add_commands = add_step_commands,
    .escape = escape_step,
    .is_typing = [](const AppState& state) { return step_look(state).editing.has_value(); },
    .clear = clear_step,
    .clamp_to_document = clamp_step,
    .arrive = arrive_in_step,
    .before = before_step,
    .follow = follow_step,
    .tick = tick_step,
    .still = still_step,
    .moved = move_step,
    .due = due_in_step,
    .reasons = step_reasons,
    .has_side = [](const AppState&) { return true; },
    .inspector =
        [](const AppState& state) {
            return is_map_alone(state) ? map_inspector(state) : step_inspector(state);
        },
    .write = write_step,
    .read = read_step,
    .is_animating = is_step_animating,
    .is_idle = is_step_idle,
    .figure_name = [](const AppState& state) { return std::string(info(state.stage).key); },
    .shots = step_shots,
    .mouse = kStepMouse,
};

}  // namespace attn::view
