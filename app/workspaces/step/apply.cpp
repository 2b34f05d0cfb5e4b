#include <algorithm>

#include <fmt/format.h>

#include "app/common/document/edits.h"
#include "app/common/document/loss.h"
#include "app/common/document/place.h"
#include "app/common/format.h"
#include "app/common/inspector.h"
#include "app/common/sheet.h"
#include "app/workspaces/step/actions.h"
#include "app/workspaces/step/predict.h"
#include "app/workspaces/step/view.h"
#include "app/workspaces/step/workspace.h"

namespace attn::view {
namespace {

std::size_t place_of(const std::vector<Stage>& stages, Stage stage) {
    return static_cast<std::size_t>(std::find(stages.begin(), stages.end(), stage) -
                                    stages.begin());
}

}  // namespace

void arrive_in_step(AppState& state, Stage from) {
    StepLook& look = step_look(state);
    look.stepped_once = true;
    look.play_clock_s = 0.0;
    if (state.stage == from) return;
    look.previous = from;
    look.fade = state.reduced_motion ? 1.0 : 0.0;
    look.lit.reset();
    look.editing.reset();
    settle_prediction(state);
    if (state.stage == ribbon_stages(state.document()).back()) look.playing = false;
    say(state, is_guessing(state) ? "Guess a row of this stage before you look."
                                  : words_of(state, state.stage));
}

void settle_step(AppState& state) {
    StepLook& look = step_look(state);
    look.previous = stage_in(state.document(), look.previous);
    const bool stays = look.editing && has_cell(state, look.editing->cell) &&
                       is_editable(state, look.editing->cell.tensor);
    if (!stays) look.editing.reset();
    settle_prediction(state);
}

void carry_out(AppState& state, const StepBy& action) {
    const std::vector<Stage> stages = ribbon_stages(state.document());
    const Index last = static_cast<Index>(stages.size()) - 1;
    const Index here = static_cast<Index>(place_of(stages, state.stage));
    const Index to = std::clamp(here + action.steps, Index{0}, last);
    if (to == here)
        say(state, here == last ? "This is the last stage: Home goes back to X."
                                : "This is the first stage: → computes the next one.");
    go_to_stage(state, stages[static_cast<std::size_t>(to)]);
}

void carry_out(AppState& state, const GoToEnd& action) {
    const std::vector<Stage> stages = ribbon_stages(state.document());
    go_to_stage(state, action.last ? stages.back() : stages.front());
}

void carry_out(AppState& state, const TogglePlay&) {
    StepLook& look = step_look(state);
    const std::vector<Stage> stages = ribbon_stages(state.document());
    const bool start = !look.playing;
    if (start && state.stage == stages.back()) go_to_stage(state, stages.front());
    look.playing = start;
    look.play_clock_s = 0.0;
}

void carry_out(AppState& state, const HoverOperand& action) {
    step_look(state).lit = action.operand;
}
void carry_out(AppState& state, const ShowModel& action) {
    step_look(state).model_open = action.on;
}

void carry_out(AppState& state, const ScaleRows& action) {
    step_look(state).rows_scaled = action.on;
    say(state, action.on ? "Colours of weights by row: the largest weight of each row has the full "
                           "colour, whatever it is."
                         : "Colours of weights: the full colour is a weight of 1 in every row.");
}

}  // namespace attn::view
