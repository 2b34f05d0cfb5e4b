#include <algorithm>

#include <fmt/format.h>

#include "app/common/document/edits.h"
#include "app/workspaces/saturation/actions.h"
#include "app/workspaces/saturation/requests.h"
#include "app/workspaces/saturation/words.h"

namespace attn::view {
namespace {

constexpr std::string_view kModelNames[] = {"fixed_logits", "sampled"};

/// What is narrower than core's check_saturation(), or of two fields.
Result<void> check_controls(const SaturationControls& controls) {
    const SaturationSettings& settings = controls.settings;
    const auto logits = std::ssize(settings.logits);
    if (settings.model == SaturationModel::fixed_logits && (logits < 1 || logits > kMostKeys))
        return bad_input(
            fmt::format("the number of keys is {}: it must be 1 to {}", logits, kMostKeys));
    if (controls.draw < 0 || controls.draw >= settings.trials)
        return bad_input(
            fmt::format("draw is {}: it must be 0 to {}", controls.draw, settings.trials - 1));
    const Index widths[] = {controls.d_k, controls.pin};
    return check_saturation(settings, widths);
}

}  // namespace

void describe(Visitor& visit, SaturationControls& controls) {
    SaturationSettings& settings = controls.settings;
    visit("model", settings.model, kModelNames,
          {.words = "Model", .tip = "Where the raw scores z come from"});
    visit("logits", settings.logits);
    About keys{.tip = "n: how many keys the query looks at", .low = kFewestKeys, .high = kMostKeys};
    if (visit.reads() &&
        settings.model == SaturationModel::fixed_logits)  // they mean nothing there
        keys.low = -About{}.high, keys.high = About{}.high;
    visit("keys", settings.keys, keys);
    visit("trials", settings.trials,
          {.words = "draws",
           .tip = "how many draws of q and the keys the medians are of",
           .low = 1,
           .high = kMostDraws});
    visit("seed", settings.seed,
          {.tip = "seed of every draw\n"
                  "The same seed gives the same numbers everywhere. Double-click to type."});
    visit("d_k", controls.d_k,
          {.tip = "d_k: how many products q·k adds up\n← and → go to the next power of two.",
           .low = 1,
           .high = kWidestSweep});
    visit("pin", controls.pin, {.words = "pinned d_k", .low = 1, .high = kWidestSweep});
    visit("draw", controls.draw);
    if (!visit.reads()) return;
    if (auto fine = check_controls(controls); !fine) visit.complain(": " + fine.error().sentence);
}

void describe(Visitor& visit, SaturationLook& look) {
    visit("details", look.details,
          {.tip = "The derivative by the raw score z\nWhy it starts lower when scaled, where the "
                  "curves cross, and more numbers of the row that is drawn."});
    bool side = false;  // that older sessions had in focus
    if (visit.reads()) visit("scaling", side);
}

Result<void> prepare(const AppState&, SaturationControls& next, std::string_view changed) {
    SaturationSettings& settings = next.settings;
    if (changed == "logits") settings.model = SaturationModel::fixed_logits;
    if (changed == "trials")
        next.draw = std::clamp<Index>(next.draw, 0, std::max<Index>(settings.trials, 1) - 1);
    return {};
}

void carry_out(AppState& state, const Redraw&) {
    SaturationControls next = saturation_controls(state);
    next.draw = (next.draw + 1) % next.settings.trials;
    const std::string words = fmt::format("Draw {} of 0…{}", next.draw, next.settings.trials - 1);
    edit_controls(state, std::move(next), words);
}

void carry_out(AppState& state, const ShowFiveBars&) {
    SaturationControls next = saturation_controls(state);
    next.settings.model = SaturationModel::fixed_logits;
    next.settings.logits = SaturationSettings{}.logits;
    next.d_k = 64;
    const std::string words =
        fmt::format("Five bars: logits {} at d_k = 64", listed(next.settings.logits));
    edit_controls(state, std::move(next), words);
}

void carry_out(AppState& state, const SweepReady& action) {
    if (!action.fault.empty()) return say(state, action.fault, Severity::error);
    saturation_curves(state) = {action.sweep, action.settings, action.elapsed_ms};
}

}  // namespace attn::view
