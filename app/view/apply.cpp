#include <variant>

#include "app/view/apply_parts.h"
#include "app/view/edits.h"

namespace attn::view {
namespace {

template <class... Kinds>
bool is_one_of(const Action& action) {
    return (std::holds_alternative<Kinds>(action) || ...);
}

/// A drag sends many of these; together they are one undo step.
bool is_dragged(const Action& action) {
    return is_one_of<SetModelWidth, SetKeyWidth, SetHeads, SetTemperature, SetSeed,
                     SetSaturationWidth, SetSaturationKeys, SetSaturationSeed>(action);
}

/// What may happen in the middle of a drag.
bool happens_beside(const Action& action) {
    return is_one_of<Tick, HoverCell, HoverMapCell, SweepReady, TraceReady, MapInputReady, MapReady,
                     MapCellReady, MachineProbed, SetMapCanvas, Notify, TakeScreenshot>(action);
}

}  // namespace

void apply(AppState& state, const Action& action) {
    const bool dragged = is_dragged(action);
    if (!happens_beside(action) && state.gesture != action.index()) state.gesture.reset();
    const auto edit_before = state.now;
    const auto steps_before = state.history.size();
    const auto document_before = state.history[state.now].document;
    const auto saturation_before = state.saturation();
    std::visit([&](const auto& kind) { carry_out(state, kind); }, action);
    const bool edited = state.now != edit_before || state.history.size() != steps_before ||
                        state.history[state.now].document != document_before ||
                        !(state.saturation() == saturation_before);
    if (dragged && edited) state.gesture = action.index();
    warn_of_backend(state);
}

Actions due_actions(const AppState& state) {
    constexpr double kSecondsPerStage = 1.2;
    if (!state.step.playing || state.step.play_clock_s < kSecondsPerStage) return {};
    return {StepBy{1}};
}

}  // namespace attn::view
