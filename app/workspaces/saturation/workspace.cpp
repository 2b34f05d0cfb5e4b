#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "app/common/document/edits.h"
#include "app/common/logits.h"
#include "app/common/workspace.h"
#include "app/workspaces/saturation/actions.h"
#include "app/workspaces/saturation/view.h"
#include "core/stopwatch.h"

namespace attn::view {
namespace {

constexpr double kFirstPlayed = 4.0;  // d_k

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

/// Whether there is a point for every width.
template <class Point>
bool has_widths(const std::vector<Point>* points, const std::vector<Index>& widths) {
    return points != nullptr && std::ranges::all_of(widths, [&](Index d_k) {
               return std::ranges::find(*points, d_k, &Point::d_k) != points->end();
           });
}

void enter_saturation(AppState& state) {
    show_message(state, shows_softmax_alone(state) ? "← and → change d_k."
                                                   : "← and → change d_k, ↑ and ↓ the gradient.");
}

/// z, s, q, W_Q; stays at the ends.
GradientOf next_gradient(const SaturationLook& look, int step) {
    return static_cast<GradientOf>(
        std::clamp(static_cast<int>(look.gradient) + step, 0, static_cast<int>(kGradientsOf) - 1));
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
    add("Play d_k from 4 to 4096", {}, PlayCollapse{}, !shows_softmax_alone(state),
        "Softmax alone has no sentence to play");
    add("Pin this d_k for comparison", Key::c, PinSaturation{controls.d_k});
    add(sampled ? "Model: fixed logits" : "Model: sampled q and k", Key::m,
        SetSaturationModel{sampled ? SaturationModel::fixed_logits : SaturationModel::sampled});
    add("Example of five keys with fixed logits", Key::b, ShowFiveBars{});
    add("Next sample", Key::r, Redraw{}, sampled);
    add(details ? "Close details: show the four gradients"
                : "Details: only softmax, its Jacobian and weights",
        Key::d, ShowSaturationDetails{!details}, sampled);
    const bool raw = saturation_look(state).raw;
    add(raw ? "Hide the gradient with respect to the raw score"
            : "Show the gradient with respect to the raw score",
        Key::w, ShowRawDerivative{!raw}, shows_softmax_alone(state));
    const bool alone = shows_softmax_alone(state);
    const bool sentence = saturation_look(state).sentence;
    add(sentence ? "Hide the sentence" : "Show the sentence at this d_k", Key::e,
        ShowSaturationSentence{!sentence}, !alone);
    add("Next gradient", Key::down, ShowGradient{next_gradient(saturation_look(state), 1)}, !alone);
    add("Previous gradient", Key::up, ShowGradient{next_gradient(saturation_look(state), -1)},
        !alone);
}

std::vector<Shot> saturation_shots() {
    return {{"", {}},
            {"w-q", {ShowGradient{GradientOf::w_q}}},
            {"details", {ShowSaturationDetails{true}}},
            {"raw", {ShowSaturationDetails{true}, ShowRawDerivative{true}}},
            {"five-bars", {ShowFiveBars{}}}};
}

constexpr std::string_view kSaturationMouse[] = {
    "Drag the handle or a curve to change d_k in powers of two.",
    "Click one of the four gradients to show it in the large plot.",
    "In the details, click a number under the large plot to compare with the Jacobian at that d_k.",
    "Click the logits, the keys, the draws or the seed to type a value.",
    "Point at a bar for its score and weight.",
    "Point at a curve or a number for its definition.",
};
constexpr RequestKind kRequests[] = {
    request_kind<requested_sweep>("curves"),
    request_kind<requested_gradient_sweep>("gradients over d_k"),
};
constexpr PersistedValue kPersisted[] = {persisted(saturation_controls),
                                         persisted(saturation_look)};

void tick_saturation(AppState& state, double seconds) {
    if (!saturation_play(std::as_const(state)).ticks) saturation_play(state).ticks = true;
    if (!saturation_play(std::as_const(state)).seconds) return;
    SaturationPlay& play = saturation_play(state);
    *play.seconds += seconds;
    const bool ends = *play.seconds >= kCollapseSeconds || state.reduced_motion ||
                      state.workspace != "saturation" || shows_softmax_alone(state);
    if (ends) play.seconds.reset();
}

/// d_k is pulled from one end to the other.
std::optional<Action> drag_saturation(const AppState&, Movement movement, double part) {
    if (movement != Movement::drag) return std::nullopt;
    return SetSaturationWidth{static_cast<Index>(std::exp2(12.0 * part))};
}

}  // namespace

// ---- settings and actions

void describe(Visitor& visit, SaturationControls& controls) {
    SaturationSettings& settings = controls.settings;
    visit("model", settings.model, kModelNames,
          {.text = "Model", .tip = "The source of the raw scores s"});
    visit("logits", settings.logits);
    About keys{.tip = "n: the number of keys", .low = kFewestKeys, .high = kMostKeys};
    if (visit.reads() &&
        settings.model == SaturationModel::fixed_logits)  // they mean nothing there
        keys.low = -About{}.high, keys.high = About{}.high;
    visit("keys", settings.keys, keys);
    visit("trials", settings.trials,
          {.text = "draws",
           .tip = "number of draws of q and the keys for each median",
           .low = 1,
           .high = kMostDraws});
    visit("seed", settings.seed,
          {.tip = "seed of all draws\n"
                  "One seed gives the same numbers on every machine. Double-click to type."});
    visit(
        "d_k", controls.d_k,
        {.tip = "d_k: the number of products in the sum q·k\n← and → go to the next power of two.",
         .low = 1,
         .high = kWidestSweep});
    visit("pin", controls.pin, {.text = "pinned d_k", .low = 1, .high = kWidestSweep});
    visit("draw", controls.draw);
    if (!visit.reads()) return;
    if (auto valid = check_controls(controls); !valid) visit.complain(": " + valid.error().text());
}

void describe(Visitor& visit, SaturationLook& look) {
    visit("gradient", look.gradient, kGradientNames,
          {.text = "gradient", .tip = "The variable of the gradient of the loss"});
    visit("details", look.details,
          {.tip = "Only softmax\nIts Jacobian, the weights of one sample, and the spread of the "
                  "scores."});
    visit("raw", look.raw,
          {.text = "raw score",
           .tip = "The gradient with respect to the raw score s\nWhere the curves with and without "
                  "scaling cross, and more numbers of the sample."});
    visit("sentence", look.sentence,
          {.tip = "The open sentence at this d_k\nIts weights with scaling and without."});
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
    const std::string text = fmt::format("Sample {} of {}", next.draw + 1, next.settings.trials);
    edit_controls(state, std::move(next), text);
}

void carry_out(AppState& state, const ShowFiveBars&) {
    SaturationControls next = saturation_controls(state);
    next.settings.model = SaturationModel::fixed_logits;
    next.settings.logits = SaturationSettings{}.logits;
    next.d_k = 64;
    const std::string text =
        fmt::format("Five bars: logits {} at d_k = 64", listed(next.settings.logits));
    edit_controls(state, std::move(next), text);
}

void carry_out(AppState& state, const SweepReady& action) {
    if (!action.fault.empty()) return show_error(state, action.fault);
    saturation_curves(state) = {action.sweep, action.settings, action.elapsed_ms};
}

void carry_out(AppState& state, const GradientSweepReady& action) {
    if (!action.fault.empty()) return show_error(state, action.fault);
    saturation_gradients(state) = {action.points, action.sampling, action.elapsed_ms};
}

SaturationControls shown_saturation(const AppState& state) {
    SaturationControls controls = saturation_controls(state);
    if (const auto& seconds = saturation_play(state).seconds) {
        const double part = std::clamp(*seconds / kCollapseSeconds, 0.0, 1.0);
        const double first = std::log2(kFirstPlayed), last = std::log2(double{kWidestSweep});
        controls.d_k = nearest_stop(std::exp2(first + (last - first) * part));
    }
    return controls;
}

void carry_out(AppState& state, const PlayCollapse&) {
    const bool ticks = saturation_play(std::as_const(state)).ticks;
    if (!ticks || shows_softmax_alone(state) || state.reduced_motion) return;
    saturation_play(state).seconds = 0.0;
}

// ---- requests

std::optional<SweepRequest> requested_sweep(const AppState& state) {
    if (state.workspace != "saturation" || !shows_softmax_alone(state)) return std::nullopt;
    const SweepRequest wanted{saturation_controls(state).settings,
                              wanted_widths(saturation_controls(state))};
    const SaturationCurves& have = saturation_curves(state);
    if (have.settings == wanted.settings && has_widths(have.sweep.get(), wanted.widths))
        return std::nullopt;
    return wanted;
}

Action run(const SweepRequest& request, const RunControl& control) {
    const Stopwatch watch;
    auto sweep = saturation_sweep(request.settings, request.widths, control.stop);
    const double elapsed_ms = watch.ms();
    if (!sweep) return SweepReady{request.settings, nullptr, 0.0, sweep.error().text()};
    using Points = std::vector<SaturationPoint>;
    return SweepReady{request.settings, std::make_shared<const Points>(*std::move(sweep)),
                      elapsed_ms, ""};
}

bool shows_softmax_alone(const AppState& state) {
    return saturation_look(state).details ||
           saturation_controls(state).settings.model == SaturationModel::fixed_logits;
}

std::optional<GradientSweepRequest> requested_gradient_sweep(const AppState& state) {
    if (state.workspace != "saturation" || shows_softmax_alone(state)) return std::nullopt;
    const SaturationSettings& settings = saturation_controls(state).settings;
    GradientSweepRequest wanted{{.keys = settings.keys, .seed = settings.seed},
                                wanted_widths(saturation_controls(state))};
    const SaturationGradients& have = saturation_gradients(state);
    if (have.sampling == wanted.sampling && has_widths(have.points.get(), wanted.widths))
        return std::nullopt;
    return wanted;
}

Action run(const GradientSweepRequest& request, const RunControl& control) {
    const Stopwatch watch;
    auto points = gradient_sweep(request.sampling, request.widths, control);
    const double elapsed_ms = watch.ms();
    if (!points) return GradientSweepReady{request.sampling, nullptr, 0.0, points.error().text()};
    using Points = std::vector<GradientPoint>;
    return GradientSweepReady{request.sampling, std::make_shared<const Points>(*std::move(points)),
                              elapsed_ms, ""};
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

extern const WorkspaceInfo kSaturationWorkspace{
    .key = "saturation",
    .title = "Saturation",
    .tip = "Why scores are divided by √d_k: softmax saturates.",
    .group = Group::why,
    .letter = Key::s,
    .actions = SaturationActions::kTypes,
    .values = kPersisted,
    .requests = kRequests,
    .enter = enter_saturation,
    .add_commands = add_saturation_commands,
    .tick = tick_saturation,
    .still =
        [](AppState& state) {
            saturation_curves(state).elapsed_ms = 0.0;
            saturation_gradients(state).elapsed_ms = 0.0;
            saturation_play(state).seconds.reset();
        },
    .moved = drag_saturation,
    .reasons = saturation_reasons,
    .is_animating =
        [](const AppState& state) { return saturation_play(state).seconds.has_value(); },
    .shots = saturation_shots,
    .mouse = kSaturationMouse,
};

}  // namespace attn::view
