#include "app/common/workspace.h"
#include "app/common/actions.h"
#include "app/common/document/actions.h"
#include "app/workspaces/saturation/workspace.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>

#include <fmt/format.h>

#include "app/common/document/edits.h"
#include "app/common/fields.h"
#include "app/common/json.h"
#include "app/workspaces/saturation/actions.h"
#include "app/workspaces/saturation/requests.h"
#include "app/workspaces/saturation/view.h"

namespace attn::view {
namespace {

constexpr Index kWidestSweep = 4096;

/// The same settings, and a point for every width.
bool is_answered(const SweepRequest& wanted, const SaturationCurves& curves) {
    if (!curves.sweep || !(curves.settings == wanted.settings)) return false;
    return std::ranges::all_of(wanted.widths, [&](Index d_k) {
        return std::ranges::find(*curves.sweep, d_k, &SaturationPoint::d_k) != curves.sweep->end();
    });
}

}  // namespace

std::string saturation_lacks(const AppState&) { return {}; }

void enter_saturation(AppState& state) {
    say(state, "The same scores with and without ÷√d_k: ← and → move d_k, C pins it to compare.");
}

void add_saturation_commands(std::vector<Command>& list, const AppState& state) {
    const SaturationControls& controls = saturation_controls(state);
    const bool sampled = controls.settings.model == SaturationModel::sampled;
    const bool details = saturation_look(state).details;
    const auto add = [&](std::string words, Key key, Action action, bool enabled = true) {
        list.push_back({std::move(words), "Saturation", plain(key), std::move(action), enabled});
    };
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

std::optional<Action> escape_saturation(const AppState&) { return std::nullopt; }
void clear_saturation(AppState&) {}
InspectorView saturation_inspector(const AppState&) { return {}; }

nlohmann::ordered_json write_saturation(const AppState& state) {
    const SaturationControls& controls = saturation_controls(state);
    const SaturationSettings& settings = controls.settings;
    return {{"model", kModelNames[static_cast<std::size_t>(settings.model)]},
            {"logits", settings.logits},
            {"keys", settings.keys},
            {"trials", settings.trials},
            {"seed", settings.seed},
            {"d_k", controls.d_k},
            {"pin", controls.pin},
            {"draw", controls.draw},
            {"details", saturation_look(state).details}};
}

void read_saturation(Fields& fields, AppState& state) {
    SaturationControls& controls = state.history[state.now].controls.edit<SaturationControls>();
    SaturationSettings& settings = controls.settings;
    fields.read_name("model", settings.model, kModelNames);
    fields.read("logits", settings.logits);
    fields.read("keys", settings.keys);
    fields.read("trials", settings.trials);
    fields.read("seed", settings.seed);
    fields.read("d_k", controls.d_k);
    fields.read("pin", controls.pin);
    fields.read("draw", controls.draw);
    fields.read("details", saturation_look(state).details);
    bool side = false;  // that older sessions had in focus
    fields.read("scaling", side);
    if (auto fine = check_controls(controls); !fine) fields.complain(": " + fine.error().sentence);
}

bool is_saturation_animating(const AppState&) { return false; }

bool has_saturation_settled(const AppState& state) { return !requested_sweep(state); }

std::string saturation_figure_name(const AppState&) { return "saturation"; }

std::vector<Shot> saturation_shots() {
    return {{"", {}}, {"details", {ShowSaturationDetails{true}}}, {"five-bars", {ShowFiveBars{}}}};
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

/// d_k is pulled from one end to the other.
std::optional<Action> drag_saturation(const AppState&, Movement movement, double part) {
    if (movement != Movement::drag) return std::nullopt;
    return SetSaturationWidth{static_cast<Index>(std::exp2(12.0 * part))};
}

}  // namespace

const WorkspaceInfo kSaturationWorkspace{
    .key = "saturation",
    .title = "Saturation",
    .tip = "Why scores are divided by √d_k: softmax saturates.",
    .digit = Key::digit2,
    .shows_document = false,
    .actions = SaturationActions::kTypes,
    .requests = kRequests,
    .lacks = saturation_lacks,
    .enter = enter_saturation,
    .add_commands = add_saturation_commands,
    .escape = escape_saturation,
    .clear = clear_saturation,
    .settle = [](AppState&) {},
    .forget = [](AppState&) {},
    .still = [](AppState& state) { saturation_curves(state).elapsed_ms = 0.0; },
    .moved = drag_saturation,
    .has_side = [](const AppState&) { return false; },
    .inspector = saturation_inspector,
    .write = write_saturation,
    .read = read_saturation,
    .is_animating = is_saturation_animating,
    .has_settled = has_saturation_settled,
    .figure_name = saturation_figure_name,
    .shots = saturation_shots,
    .mouse = kSaturationMouse,
};

}  // namespace attn::view
