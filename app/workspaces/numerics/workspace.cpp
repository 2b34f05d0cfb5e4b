#include <cmath>

#include <fmt/format.h>

#include "app/common/document/edits.h"
#include "app/common/workspace.h"
#include "app/workspaces/numerics/actions.h"
#include "app/workspaces/numerics/row.h"
#include "app/workspaces/numerics/text.h"
#include "app/workspaces/numerics/view.h"
#include "core/run_control.h"
#include "core/stopwatch.h"
#include "core/train/task_table.h"

namespace attn::view {
namespace {

template <class Enum>
Enum after(Enum value, std::size_t count) {
    return static_cast<Enum>((static_cast<std::size_t>(value) + 1) % count);
}

void add_gains(const CommandAdder& add, Index gain) {
    add("Next larger power of two as the gain", Key::right, SetNumericsGain{next_gain(gain, 1)});
    add("Next smaller power of two as the gain", Key::left, SetNumericsGain{next_gain(gain, -1)});
    add("Gain 1: the logits unchanged", Key::home, SetNumericsGain{1});
    add("Largest gain", Key::end, SetNumericsGain{kMostGain});
}

void add_cells(const CommandAdder& add, const NumericsLook& look, Index keys) {
    const auto at = [&](SoftmaxAlgorithm algorithm, FloatFormat format, Index key) {
        return SelectNumericsCell{algorithm, format, std::clamp<Index>(key, 0, keys - 1)};
    };
    const SoftmaxAlgorithm algorithm = after(look.algorithm, kSoftmaxAlgorithmCount);
    const FloatFormat format = after(look.format, kFloatFormatCount);
    add(fmt::format("Explain {}", title_of(algorithm)), Key::a,
        at(algorithm, look.format, look.key));
    add(fmt::format("Explain {}", info(format).name), Key::f, at(look.algorithm, format, look.key));
    add("Explain the next key", Key::period, at(look.algorithm, look.format, look.key + 1));
    add("Explain the previous key", Key::comma, at(look.algorithm, look.format, look.key - 1));
}

void add_rows(const CommandAdder& add, const AppState& state) {
    for (const LessonRow& lesson : lesson_rows())
        add(fmt::format("Logits: {}", lesson.text), Key::none, SetNumericsLogits{lesson.logits});
    const auto row = document_logits(state);
    if (numerics_controls(state).row == LogitRow::document)
        return add("The typed logits", Key::d, SetNumericsRow{LogitRow::typed});
    add("The row of the document that is selected in Step", Key::d,
        SetNumericsRow{LogitRow::document}, row.has_value(), row ? "" : row.error().text());
}

void enter_numerics(AppState& state) { show_message(state, "← and → change the gain."); }

void add_numerics_commands(std::vector<Command>& list, const AppState& state) {
    const CommandAdder add{list, "Numerics"};
    add_gains(add, numerics_controls(state).gain);
    add_cells(add, numerics_look(state), std::ssize(shown_logits(state)));
    add_rows(add, state);
}

std::vector<Shot> numerics_shots() {
    return {{"", {}},
            {"gain-64", {SetNumericsGain{64}}},
            {"below-zero", {SetNumericsLogits{lesson_rows()[1].logits}, SetNumericsGain{64}}},
            {"equal-keys", {SetNumericsLogits{lesson_rows()[3].logits}, SetNumericsGain{1}}},
            {"document", {SetNumericsRow{LogitRow::document}}}};
}

constexpr std::string_view kNumericsMouse[] = {
    "Drag over a curve, or the slider, to set the gain, which multiplies every logit.",
    "Click a bar to see each step of that weight, and where it breaks.",
    "Click the logits to type them; inf, -inf and nan are allowed.",
    "Point at a format to see its bits and its range.",
};
constexpr RequestKind kRequests[] = {
    request_kind<requested_numerics>("numerics"),
};
constexpr PersistedValue kPersisted[] = {persisted(numerics_controls), persisted(numerics_look)};

/// The gain is pulled from one end to the other.
std::optional<Action> drag_numerics(const AppState&, Movement movement, double part) {
    if (movement != Movement::drag) return std::nullopt;
    return SetNumericsGain{static_cast<Index>(std::exp2(16.0 * part))};
}

}  // namespace

// ---- requests

std::optional<NumericsRequest> requested_numerics(const AppState& state) {
    if (state.workspace != "numerics") return std::nullopt;
    NumericsRequest wanted{shown_logits(state)};
    const NumericsCurves& curves = numerics_curves(state);
    if (curves.sweep && same_numbers(curves.logits, wanted.logits)) return std::nullopt;
    return wanted;
}

Action run(const NumericsRequest& request, const RunControl& control) {
    const Stopwatch watch;
    auto sweep = numerics_sweep(request.logits, numerics_gains(), control.stop);
    const double elapsed_ms = watch.ms();
    return NumericsReady{request.logits, std::make_shared<const NumericsSweep>(std::move(sweep)),
                         elapsed_ms};
}

void describe(Visitor& visit, NumericsControls& controls) {
    constexpr std::string_view kRows[] = {"typed", "document"};
    visit("row", controls.row, kRows, {.text = "row of logits"});
    visit("logits", controls.logits);
    visit("gain", controls.gain,
          {.tip = "s = gain · x: the gain multiplies every logit\nSteps are powers of two. Keys: ← "
                  "and →",
           .low = 1,
           .high = kMostGain});
    if (!visit.reads()) return;
    if (auto valid = check_logits(controls.logits); !valid)
        visit.complain(": " + valid.error().text());
}

void describe(Visitor& visit, NumericsLook& look) {
    visit("algorithm", look.algorithm, kNamesOf<SoftmaxAlgorithm>);
    visit("format", look.format, kNamesOf<FloatFormat>);
    visit("key", look.key, {.low = 0, .high = kMostNumericsKeys - 1});
}

Result<void> prepare(const AppState& state, NumericsControls& next, std::string_view changed) {
    if (changed == "logits") next.row = LogitRow::typed;
    if (changed != "row" || next.row == LogitRow::typed) return {};
    return document_logits(state).map([](const auto&) {});
}

void carry_out(AppState& state, const SelectNumericsCell& action) {
    const Index keys = std::ssize(shown_logits(state));
    numerics_look(state) = {action.algorithm, action.format,
                            std::clamp<Index>(action.key, 0, keys - 1)};
}

void carry_out(AppState& state, const NumericsReady& action) {
    numerics_curves(state) = {action.sweep, action.logits, action.elapsed_ms};
}

extern const WorkspaceInfo kNumericsWorkspace{
    .key = "numerics",
    .title = "Numerics",
    .tip = "Why softmax subtracts the maximum: where each number format breaks.",
    .group = Group::why,
    .letter = Key::n,
    .actions = NumericsActions::kTypes,
    .values = kPersisted,
    .requests = kRequests,
    .enter = enter_numerics,
    .add_commands = add_numerics_commands,
    .clear = [](AppState& state) { numerics_look(state) = {}; },
    .still = [](AppState& state) { numerics_curves(state).elapsed_ms = 0.0; },
    .moved = drag_numerics,
    .reasons = numerics_reasons,
    .has_side = [](const AppState&) { return true; },
    .inspector = numerics_inspector,
    .shots = numerics_shots,
    .mouse = kNumericsMouse,
};

}  // namespace attn::view
