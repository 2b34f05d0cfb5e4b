#include "app/workspaces/saturation/view.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/common/format.h"
#include "app/workspaces/saturation/parts.h"
#include "app/workspaces/saturation/requests.h"
#include "app/workspaces/saturation/words.h"
#include "core/tex.h"

namespace attn::view {
namespace {

constexpr std::string_view kVerdictWords[] = {"healthy", "saturating", "saturated"};

std::string model_words(const SaturationSettings& settings) {
    if (settings.model == SaturationModel::fixed_logits)
        return fmt::format(
            "z = √d_k × [{}]. Nothing is drawn: the growth with √d_k is put in by hand, and ÷ √d_k "
            "takes it out exactly. The sampled model shows where it comes from.",
            listed(settings.logits));
    return fmt::format(
        "z_j = q·k_j, every component of q and of {} keys drawn from N(0, 1). Nobody put √d_k in: "
        "d_k products add up, so Var(z) = d_k. Curves: median and 10–90 % of {} draws.",
        settings.keys, settings.trials);
}

std::string status_words(const SaturationCurves& curves, bool stale) {
    if (!curves.sweep) return "computing the curves…";
    if (stale) return "computing… (the medians are of the settings before)";
    std::string words = fmt::format("{} widths", curves.sweep->size());
    if (curves.settings.model == SaturationModel::sampled)
        words = fmt::format("{} draws × {} keys × {}", curves.settings.trials, curves.settings.keys,
                            words);
    return curves.elapsed_ms > 0.0 ? fmt::format("{} in {:.1f} ms", words, curves.elapsed_ms)
                                   : words;
}

// --- medians

/// The points of the widths that are wanted: a sweep may hold one more from before.
Medians medians_of(const SaturationCurves& curves, const SaturationControls& controls) {
    Medians medians{{}, controls.settings, controls.d_k, controls.pin};
    if (!curves.sweep) return medians;
    medians.settings = curves.settings;
    const std::vector<Index> widths = wanted_widths(controls);
    for (const SaturationPoint& point : *curves.sweep)
        if (std::ranges::binary_search(widths, point.d_k)) medians.points.push_back(point);
    return medians;
}

std::string median_words(const SaturationSettings& settings) {
    if (settings.model == SaturationModel::fixed_logits) return "of the fixed logits";
    return fmt::format("median of {} draws", grouped(settings.trials));
}

using Text = std::string (*)(double);

ComparedNumber median_row(const char* label, const char* formula, const char* tooltip,
                          Band SaturationSide::*number, const SaturationPoint* here, Text text) {
    ComparedNumber row{label, formula, tooltip, "…", "…"};
    if (here == nullptr) return row;
    row.scaled = text((here->scaled.*number).median);
    row.unscaled = text((here->unscaled.*number).median);
    return row;
}

VerdictView verdict_view(const SaturationSide& side) {
    const Verdict verdict = verdict_of(side.evenness.median);
    return {verdict, std::string(kVerdictWords[static_cast<std::size_t>(verdict)])};
}

SaturationTable table_view(const Medians& medians) {
    const SaturationPoint* here = medians.here();
    SaturationTable table;
    table.caption = median_words(medians.settings);
    table.rows = {
        median_row("p_max", "max_j a_j", "The largest weight. 100 % is one-hot.",
                   &SaturationSide::max_probability, here, percent),
        median_row("evenness", "H / ln n",
                   "Entropy H = −Σ a ln a over its largest value: 100 % is uniform, 0 % one-hot.",
                   &SaturationSide::evenness, here, percent),
        median_row("‖J‖_F", "J = ∂a/∂s",
                   "Root of the sum of squares of the softmax Jacobian with respect to its input "
                   "s: at most 1/2. The gradient that softmax passes.",
                   &SaturationSide::jacobian, here, measure)};
    table.rule = fmt::format("evenness ≥ {:.0f} % is healthy, < {:.0f} % saturated",
                             100.0 * kHealthyEvenness, 100.0 * kSaturatedEvenness);
    if (here == nullptr) return table;
    table.scaled = verdict_view(here->scaled);
    table.unscaled = verdict_view(here->unscaled);
    return table;
}

}  // namespace

Verdict verdict_of(double evenness) {
    if (evenness >= kHealthyEvenness) return Verdict::healthy;
    return evenness >= kSaturatedEvenness ? Verdict::saturating : Verdict::saturated;
}

const SaturationPoint* Medians::at(Index width) const {
    const auto found = std::ranges::find(points, width, &SaturationPoint::d_k);
    return found == points.end() ? nullptr : &*found;
}

Index nearest_stop(double d_k) {
    const double last = std::log2(static_cast<double>(sweep_widths().back()));
    const double power = std::round(std::log2(std::max(d_k, 1.0)));
    return Index{1} << static_cast<int>(std::clamp(power, 0.0, last));
}

Index next_stop(Index d_k, int steps) {
    const double power = std::log2(static_cast<double>(std::max<Index>(d_k, 1)));
    const double next = steps > 0 ? std::floor(power) + 1.0 : std::ceil(power) - 1.0;
    return nearest_stop(std::exp2(next));
}

SaturationView build_saturation_view(const AppState& state) {
    const SaturationControls& controls = saturation_controls(state);
    const SaturationSettings& settings = controls.settings;
    const SaturationCurves& curves = saturation_curves(state);
    const SaturationPair pair = saturation_at(settings, controls.d_k, controls.draw);
    const Medians medians = medians_of(curves, controls);
    const SaturationPoint* const here = medians.here();
    SaturationView view;
    view.controls = controls;
    view.look = saturation_look(state);
    view.drawn = settings.model == SaturationModel::sampled;
    view.model_words = model_words(settings);
    view.logits = written_logits(settings.logits);
    view.tex = fmt::format(R"(a = \mathrm{{softmax}}(\frac{{{}}}{{\sqrt{{d_k}}}}))",
                           view.drawn ? R"(q \cdot k)" : "z");
    view.formula = tex::plain_text(view.tex);
    view.sentence = here ? saturation_sentence(medians.settings, *here)
                         : fmt::format("Computing at d_k = {}: {}…", medians.d_k,
                                       median_words(medians.settings));
    view.note = sentence_note(medians.settings);
    view.hero = hero_view(medians);
    view.plots = small_plots(medians);
    view.table = table_view(medians);
    view.stale = !(curves.settings == settings) || !curves.sweep;
    view.row_caption =
        view.drawn ? fmt::format("One draw of them: {} of 0…{}", controls.draw, settings.trials - 1)
                   : "The weights, key by key";
    set_sides(view, pair, state.theme);
    view.status = status_words(curves, view.stale);
    if (view.look.details)
        view.details = {raw_sentence(medians.points), raw_plot(medians),
                        view.drawn ? "of the draw beside" : "of the weights beside",
                        row_numbers(pair, medians.d_k)};
    return view;
}

}  // namespace attn::view
