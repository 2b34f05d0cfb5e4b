#include <algorithm>

#include <fmt/format.h>

#include "app/common/document/edits.h"
#include "app/workspaces/saturation/actions.h"
#include "app/workspaces/saturation/requests.h"
#include "app/workspaces/saturation/view.h"
#include "app/workspaces/saturation/words.h"

namespace attn::view {
namespace {

Result<void> check_width(const char* name, Index d_k) {
    const Index widest = sweep_widths().back();
    if (d_k >= 1 && d_k <= widest) return {};
    return bad_input(fmt::format("{} is {}: it must be 1 to {}", name, d_k, widest));
}

/// Of what both models have.
Result<void> check_widths(const SaturationControls& controls) {
    if (auto fine = check_width("d_k", controls.d_k); !fine) return fine;
    return check_width("the pinned d_k", controls.pin);
}

Result<void> check_draws(const SaturationControls& controls) {
    const SaturationSettings& settings = controls.settings;
    if (settings.trials < 1 || settings.trials > kMostDraws)
        return bad_input(fmt::format("the number of draws is {}: it must be 1 to {}",
                                     settings.trials, kMostDraws));
    if (controls.draw < 0 || controls.draw >= settings.trials)
        return bad_input(
            fmt::format("draw is {}: it must be 0 to {}", controls.draw, settings.trials - 1));
    return {};
}

Result<void> check_keys(const SaturationSettings& settings) {
    const bool drawn = settings.model == SaturationModel::sampled;
    const Index keys = drawn ? settings.keys : std::ssize(settings.logits);
    const Index fewest = drawn ? kFewestKeys : 1;
    if (keys >= fewest && keys <= kMostKeys) return {};
    return bad_input(
        fmt::format("the number of keys is {}: it must be {} to {}", keys, fewest, kMostKeys));
}

/// Changes a copy, checks it, and makes it the present one.
template <class Change>
void change_saturation(AppState& state, const std::string& words, Change&& change_controls) {
    SaturationControls controls = saturation_controls(state);
    change_controls(controls);
    if (auto fine = check_controls(controls); !fine) return say(state, fine.error());
    edit_controls(state, std::move(controls), words);
}

}  // namespace

Result<void> check_controls(const SaturationControls& controls) {
    if (auto fine = check_widths(controls); !fine) return fine;
    if (auto fine = check_keys(controls.settings); !fine) return fine;
    if (auto fine = check_draws(controls); !fine) return fine;
    const Index widths[] = {controls.d_k, controls.pin};
    return check_saturation(controls.settings, widths);
}

void carry_out(AppState& state, const SetSaturationModel& action) {
    const bool sampled = action.model == SaturationModel::sampled;
    change_saturation(
        state, sampled ? "Model: q and k drawn from N(0, 1)" : "Model: fixed logits × √d_k",
        [&](SaturationControls& controls) { controls.settings.model = action.model; });
}

void carry_out(AppState& state, const SetSaturationWidth& action) {
    change_saturation(state, fmt::format("d_k = {}", action.d_k),
                      [&](SaturationControls& controls) { controls.d_k = action.d_k; });
}

void carry_out(AppState& state, const PinSaturation& action) {
    change_saturation(state, fmt::format("Compared with d_k = {}", action.d_k),
                      [&](SaturationControls& controls) { controls.pin = action.d_k; });
}

void carry_out(AppState& state, const SetSaturationKeys& action) {
    change_saturation(state, fmt::format("{} keys", action.keys),
                      [&](SaturationControls& controls) { controls.settings.keys = action.keys; });
}

void carry_out(AppState& state, const SetSaturationDraws& action) {
    change_saturation(
        state, fmt::format("{} draws", action.draws), [&](SaturationControls& controls) {
            controls.settings.trials = action.draws;
            controls.draw =
                std::clamp<Index>(controls.draw, 0, std::max<Index>(action.draws, 1) - 1);
        });
}

void carry_out(AppState& state, const SetSaturationSeed& action) {
    change_saturation(state, fmt::format("Seed {}", action.seed),
                      [&](SaturationControls& controls) { controls.settings.seed = action.seed; });
}

void carry_out(AppState& state, const Redraw&) {
    const Index next =
        (saturation_controls(state).draw + 1) % saturation_controls(state).settings.trials;
    change_saturation(
        state, fmt::format("Draw {} of 0…{}", next, saturation_controls(state).settings.trials - 1),
        [&](SaturationControls& controls) { controls.draw = next; });
}

void carry_out(AppState& state, const SetSaturationLogits& action) {
    change_saturation(state, fmt::format("Logits {}", listed(action.logits)),
                      [&](SaturationControls& controls) {
                          controls.settings.model = SaturationModel::fixed_logits;
                          controls.settings.logits = action.logits;
                      });
}

void carry_out(AppState& state, const ShowFiveBars&) {
    const SaturationSettings five;
    change_saturation(state, fmt::format("Five bars: logits {} at d_k = 64", listed(five.logits)),
                      [&](SaturationControls& controls) {
                          controls.settings.model = SaturationModel::fixed_logits;
                          controls.settings.logits = five.logits;
                          controls.d_k = 64;
                      });
}

void carry_out(AppState& state, const ShowSaturationDetails& action) {
    saturation_look(state).details = action.on;
}

void carry_out(AppState& state, const SweepReady& action) {
    if (!action.fault.empty()) return say(state, action.fault, Severity::error);
    saturation_curves(state) = {action.sweep, action.settings, action.elapsed_ms};
}

}  // namespace attn::view
