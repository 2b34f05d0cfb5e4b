#include "app/common/workspace.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include <fmt/format.h>

#include "app/common/document/edits.h"
#include "app/common/logits.h"
#include "app/workspaces/saturation/requests.h"
#include "app/workspaces/saturation/view.h"

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

/// The same settings, and a point for every width.
bool is_answered(const SweepRequest& wanted, const SaturationCurves& curves) {
    if (!curves.sweep || !(curves.settings == wanted.settings)) return false;
    return std::ranges::all_of(wanted.widths, [&](Index d_k) {
        return std::ranges::find(*curves.sweep, d_k, &SaturationPoint::d_k) != curves.sweep->end();
    });
}

void enter_saturation(AppState& state) {
    say(state, "The same scores with and without ÷√d_k: ← and → move d_k, C pins it to compare.");
}

void add_saturation_commands(std::vector<Command>& list, const AppState& state) {
    const SaturationControls& controls = saturation_controls(state);
    const bool sampled = controls.settings.model == SaturationModel::sampled;
    const bool details = saturation_look(state).details;
    const CommandAdder add{list, "Saturation"};
    add("Next larger d_k", Key::right, SetSaturationWidth{next_stop(controls.d_k, 1)});
    add("Next smaller d_k", Key::left, SetSaturationWidth{next_stop(controls.d_k, -1)});
    add("Smallest d_k", Key::home, SetSaturationWidth{1});
    add("Largest d_k", Key::end, SetSaturationWidth{kWidestSweep});
    add("Compare with this d_k: pin it", Key::c, PinSaturation{controls.d_k});
    add(sampled ? "Model: fixed logits" : "Model: sampled q and k", Key::m,
        SetSaturationModel{sampled ? SaturationModel::fixed_logits : SaturationModel::sampled});
    add("Five bars: the fixed logits of the demonstration", Key::b, ShowFiveBars{});
    add("Draw again", Key::r, Redraw{}, sampled);
    add(details ? "Close the details" : "Details: the derivative by the raw score", Key::d,
        ShowSaturationDetails{!details});
}

std::vector<Shot> saturation_shots() {
    return {{"", {}}, {"details", {ShowSaturationDetails{true}}}, {"five-bars", {ShowFiveBars{}}}};
}

}  // namespace

// ---- settings and actions

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

// ---- requests

std::optional<SweepRequest> requested_sweep(const AppState& state) {
    if (state.workspace != "saturation") return std::nullopt;
    const SweepRequest wanted{saturation_controls(state).settings,
                              wanted_widths(saturation_controls(state))};
    if (is_answered(wanted, saturation_curves(state))) return std::nullopt;
    return wanted;
}

Action run(const SweepRequest& request, const RunControl& control) {
    const auto begin = std::chrono::steady_clock::now();
    auto sweep = saturation_sweep(request.settings, request.widths, control.stop);
    const std::chrono::duration<double, std::milli> elapsed =
        std::chrono::steady_clock::now() - begin;
    if (!sweep) return SweepReady{request.settings, nullptr, 0.0, sweep.error().sentence};
    using Points = std::vector<SaturationPoint>;
    return SweepReady{request.settings, std::make_shared<const Points>(*std::move(sweep)),
                      elapsed.count(), ""};
}

std::vector<Index> sweep_widths() {
    std::vector<Index> widths;
    for (Index d_k = 1; d_k <= kWidestSweep; d_k *= 2) widths.push_back(d_k);
    return widths;
}

std::vector<Index> wanted_widths(const SaturationControls& controls) {
    std::vector<Index> widths = sweep_widths();
    for (const Index d_k : {controls.d_k, controls.pin}) {
        const auto at = std::ranges::lower_bound(widths, d_k);
        if (at == widths.end() || *at != d_k) widths.insert(at, d_k);
    }
    return widths;
}

namespace {

constexpr std::string_view kSaturationMouse[] = {
    "Drag the handle, or over any of the curves: d_k goes to the next power of two.",
    "Click a number under the large plot: the gradient is compared with that d_k.",
    "Click the logits, the keys, the draws or the seed: they can be typed.",
    "Point at a bar: its score and weight.",
    "Point at a curve or a number: what it is.",
};
constexpr RequestKind kRequests[] = {
    request_kind<requested_sweep>("curves"),
};
constexpr KeptValue kKept[] = {kept(saturation_controls), kept(saturation_look)};

/// d_k is pulled from one end to the other.
std::optional<Action> drag_saturation(const AppState&, Movement movement, double part) {
    if (movement != Movement::drag) return std::nullopt;
    return SetSaturationWidth{static_cast<Index>(std::exp2(12.0 * part))};
}

}  // namespace

extern const WorkspaceInfo kSaturationWorkspace;
const WorkspaceInfo kSaturationWorkspace{
    .key = "saturation",
    .title = "Saturation",
    .tip = "Why scores are divided by √d_k: softmax saturates.",
    .group = Group::why,
    .letter = Key::s,
    .actions = SaturationActions::kTypes,
    .values = kKept,
    .requests = kRequests,
    .enter = enter_saturation,
    .add_commands = add_saturation_commands,
    .still = [](AppState& state) { saturation_curves(state).elapsed_ms = 0.0; },
    .moved = drag_saturation,
    .shots = saturation_shots,
    .mouse = kSaturationMouse,
};

}  // namespace attn::view
