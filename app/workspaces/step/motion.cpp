#include "app/workspaces/step/motion.h"

#include <cmath>
#include <cstring>
#include <iterator>

#include "app/common/state.h"
#include "app/workspaces/step/view.h"

namespace attn::view {
namespace {

ShownValues values_of(const AppState& state, Stage stage) {
    Sheet sheet = sheet_of(state, stage);
    ShownValues shown{stage, std::move(sheet.row_labels), {}};
    std::ranges::move(sheet.column_labels, std::back_inserter(shown.labels));
    for (Index i = 0; i < sheet.values.rows; ++i)
        shown.values.insert(shown.values.end(), sheet.values.row(i).begin(),
                            sheet.values.row(i).end());
    return shown;
}

/// To the bit: NaN is what it was.
bool are_same(const std::vector<float>& a, const std::vector<float>& b) {
    return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

bool shows_cells(const AppState& state) {
    return state.workspace == "step" && !state.show_gradients &&
           map_form(state, state.stage) == MapForm::own;
}

}  // namespace

void keep_shown(AppState& state, const Action& action) {
    StepLook& look = step_look(state);
    look.shown.reset();
    if (kind_of(action) == Kind::moment) return;  // it changes no number
    if (!look.ticks || state.reduced_motion || kind_of(action) == Kind::drag || !shows_cells(state))
        return look.motion.reset();
    look.shown = values_of(state, state.stage);
    if (look.motion) look.shown->values = moving_values(state, state.stage);
}

void begin_motion(AppState& state) {
    StepLook& look = step_look(state);
    const std::optional<ShownValues> shown = std::exchange(look.shown, std::nullopt);
    if (!shown) return;
    const bool typed = look.flash && look.flash->cell.tensor == OperandId(state.stage);
    const bool stays = shows_cells(state) && shown->stage == state.stage && !typed;
    ShownValues now = values_of(state, state.stage);
    if (stays && look.motion && are_same(look.motion->to, now.values)) return;
    look.motion.reset();
    const bool same_cells =
        shown->labels == now.labels && shown->values.size() == now.values.size();
    if (stays && same_cells && !are_same(shown->values, now.values))
        look.motion = {state.stage, shown->values, std::move(now.values)};
}

void move_on(AppState& state, double seconds) {
    StepLook& look = step_look(state);
    look.ticks = true;
    if (look.motion && (look.motion->part += seconds / kMotionSeconds) >= 1.0) look.motion.reset();
}

std::vector<float> moving_values(const AppState& state, Stage stage) {
    const auto& motion = step_look(state).motion;
    if (!motion || motion->stage != stage) return {};
    const double t = motion->part;
    const auto part = static_cast<float>(t * t * (3.0 - 2.0 * t));
    std::vector<float> values(motion->to);
    for (std::size_t n = 0; n < values.size(); ++n) {
        const float from = motion->from[n], whole = values[n] - from;
        if (std::isfinite(whole)) values[n] = from + whole * part;
    }
    return values;
}

}  // namespace attn::view
