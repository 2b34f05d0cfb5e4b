#include <algorithm>

#include <fmt/format.h>

#include "app/view/document/edits.h"
#include "app/view/saturation/actions.h"
#include "app/view/saturation/requests.h"
#include "app/view/saturation/view.h"

namespace attn::view {
Result<void> check_controls(const SaturationControls& controls) {
    const SaturationSettings& settings = controls.settings;
    const Index widths[] = {controls.d_k};
    if (auto fine = check_saturation(settings, widths); !fine) return fine;
    const bool drawn = settings.model == SaturationModel::sampled;
    const Index keys = drawn ? settings.keys : std::ssize(settings.logits);
    const Index widest = sweep_widths().back();
    if (controls.d_k > widest)
        return bad_input(fmt::format("d_k is {}: it must be 1 to {}", controls.d_k, widest));
    if (keys > kMostKeys || (drawn && keys < kFewestKeys))
        return bad_input(fmt::format("the number of keys is {}: it must be {} to {}", keys,
                                     kFewestKeys, kMostKeys));
    if (controls.draw < 0 || controls.draw >= settings.trials)
        return bad_input(fmt::format("draw is {}: it must be 0 to {}", controls.draw,
                                     std::max<Index>(settings.trials, 1) - 1));
    return {};
}

namespace {

/// Changes a copy, checks it, and makes it the present one.
template <class Change>
void change(AppState& state, const std::string& words, Change&& change_controls) {
    SaturationControls controls = state.saturation();
    change_controls(controls);
    if (auto fine = check_controls(controls); !fine) return say(state, fine.error());
    edit_saturation(state, std::move(controls), words);
}

}  // namespace

void carry_out(AppState& state, const SetSaturationModel& action) {
    const bool sampled = action.model == SaturationModel::sampled;
    change(state, sampled ? "Model: q and k drawn from N(0, 1)" : "Model: fixed logits × √d_k",
           [&](SaturationControls& controls) { controls.settings.model = action.model; });
}

void carry_out(AppState& state, const SetSaturationWidth& action) {
    change(state, fmt::format("d_k = {}", action.d_k),
           [&](SaturationControls& controls) { controls.d_k = action.d_k; });
}

void carry_out(AppState& state, const SetSaturationScaling& action) {
    change(state, action.on ? "Looking at the scaled side" : "Looking at the unscaled side",
           [&](SaturationControls& controls) { controls.scaling = action.on; });
}

void carry_out(AppState& state, const SetSaturationKeys& action) {
    change(state, fmt::format("{} keys", action.keys),
           [&](SaturationControls& controls) { controls.settings.keys = action.keys; });
}

void carry_out(AppState& state, const SetSaturationSeed& action) {
    change(state, fmt::format("Seed {}", action.seed),
           [&](SaturationControls& controls) { controls.settings.seed = action.seed; });
}

void carry_out(AppState& state, const Redraw&) {
    const Index next = (state.saturation().draw + 1) % state.saturation().settings.trials;
    change(state, fmt::format("Draw {} of 0…{}", next, state.saturation().settings.trials - 1),
           [&](SaturationControls& controls) { controls.draw = next; });
}

void carry_out(AppState& state, const SweepReady& action) {
    if (!action.fault.empty()) return say(state, action.fault, Severity::error);
    state.curves = {action.sweep, action.settings, action.elapsed_ms};
}

}  // namespace attn::view
