#include "app/workspaces/heads/view.h"

#include <fmt/format.h>

#include "app/common/document/document.h"
#include "app/common/document/first_nan.h"
#include "app/common/document/heads.h"
#include "app/common/document/image_tokens.h"
#include "app/common/document/intervention_effects.h"
#include "app/common/document/model_text.h"
#include "app/common/document/swept.h"
#include "app/common/format.h"
#include "app/common/number_style.h"
#include "app/common/state.h"
#include "app/common/text.h"
#include "app/workspaces/heads/corpus.h"
#include "app/workspaces/heads/grids.h"
#include "app/workspaces/heads/shown.h"
#include "app/workspaces/heads/text.h"
#include "core/scores/score.h"
#include "core/train/task_table.h"

namespace attn::view {
namespace {

constexpr int kRamp = 24;  // colours of the legend

std::string thumb_title(const HeadsLook& look, const HeadFacts& facts) {
    const auto measure = find_head_measure(look.sort);
    if (!measure) return head_name(facts.place);
    const auto& value = facts.measures[*measure];
    return fmt::format("{}  {}", head_name(facts.place),
                       value ? fmt::format("{:.2f}", *value) : std::string("–"));
}

/// The largest mean KL that interventions made.
double largest_change(const Document& document) {
    double largest = 0.0;
    if (document.effects)
        for (const HeadEffect& effect : document.effects->run.heads)
            largest = std::max(largest, effect.mean_kl());
    return largest;
}

/// Whether it is off, and how much interventions changed it.
void mark_change(const Document& document, double largest, HeadThumb& thumb) {
    thumb.off = is_off(document, thumb.place);
    const HeadEffect* const effect = effect_on(document, thumb.place);
    if (effect == nullptr) return;
    thumb.change = change_number(*effect);
    if (effect->finite == 0)
        thumb.change_share = effect->infinite > 0 ? 1.0F : 0.0F;
    else if (largest > 0.0)
        thumb.change_share = static_cast<float>(effect->mean_kl() / largest);
}

void add_thumbs(const AppState& state, AllHeadsView& view) {
    const HeadsLook& look = heads_look(state);
    const HeadsResult& result = *look.result;
    const HeadsAtlas atlas = heads_atlas(result);
    view.layers = atlas.layers;
    view.columns = atlas.columns;
    view.picture = heads_picture(state, atlas);
    const bool of_layer = info(look.show).of_layer;
    if (of_layer) view.columns = 1;
    const double largest = largest_change(state.document());
    for (const HeadPlace place : heads_in_order(result, look.sort)) {
        const HeadsLayer& layer = result.layers[place.layer];
        // one picture a layer: it stands for the head that is shown, or the layer's last
        if (of_layer && place.head != std::min(head_here(state).head, layer.heads - 1)) continue;
        const HeadFacts& facts = *result.find(place);
        const bool shows = passes(look.filter, facts);
        if (view.listed && !shows) continue;
        HeadThumb thumb;
        thumb.place = place;
        thumb.title = of_layer ? fmt::format("layer {}", place.layer) : thumb_title(look, facts);
        thumb.pin = pin_letter(look, place);
        thumb.shown = place == head_here(state);
        thumb.passes = shows;
        thumb.column = of_layer ? 0 : place.head;
        thumb.part = heads_part(result, atlas, place);
        thumb.aspect = static_cast<float>(layer.tq) / static_cast<float>(layer.tk);
        if (!of_layer) mark_change(state.document(), largest, thumb);
        view.thumbs.push_back(std::move(thumb));
    }
    for (Index n = 0; n < view.layers; ++n) view.layer_labels.push_back(fmt::format("L{}", n));
    for (Index n = 0; n < view.columns; ++n)
        view.head_labels.push_back(of_layer ? "all" : fmt::format("H{}", n));
}

std::string clipped_text(const HeadsLook& look) {
    if (look.clip == SinkClip::first) return "key 0: outside the colour scale";
    const Index keys = clipped_keys(*look.shown);
    if (keys == 0) return fmt::format("no key has a mean weight ≥ {}", number(look.clip_limit));
    return fmt::format("keys of mean weight ≥ {}: outside the colour scale",
                       number(look.clip_limit));
}

std::string range_text(const HeadsLook& look) {
    const std::string_view title =
        look.show == HeadShow::weights ? "weights" : info(look.show).title;
    const std::string_view curve = look.curve == ColorCurve::log      ? ", log"
                                   : look.curve == ColorCurve::linear ? ", linear"
                                                                      : ", √";
    return look.own_range ? fmt::format("{}, each head scaled to its maximum{}", title, curve)
                          : fmt::format("{}{}", title, curve);
}

HeadsLegend legend_of(const AppState& state) {
    const HeadsLook& look = heads_look(state);
    const HeadShowInfo& what = info(look.show);
    const ColorScale scale = what.has_sign ? ColorScale::diverging : ColorScale::unit;
    HeadsLegend legend;
    const ColorRange range =
        look.result->heads.empty()
            ? ColorRange{scale}
            : head_colors(look, look.result->heads.front().place, color_look(state)).range;
    for (int n = 0; n < kRamp; ++n)
        legend.colors.push_back(
            color_at(scale, static_cast<double>(n) / (kRamp - 1), state.theme, range.map));
    const bool own = look.own_range;
    legend.high = own ? "largest" : legend_tick(range.high);
    legend.low = "0";
    if (what.has_sign)
        legend.low = own ? "−largest" : legend_tick(range.low);
    else if (look.curve == ColorCurve::log)
        legend.low = own ? fmt::format("≤ {:g} of it", kLogFloor)
                         : fmt::format("≤ {}", tick(range.high * kLogFloor));
    legend.text = range_text(look);
    const Index keys = state.document().size.tk;
    if (look.show == HeadShow::weights && !own && keys > 0) {
        const double even = 1.0 / static_cast<double>(keys);
        legend.even = static_cast<float>(position_of(range, even));
        legend.text += fmt::format("; mark: 1/n = {}", legend_tick(even));
    }
    legend.caution = what.caution;
    legend.source = what.source;
    if (look.show == HeadShow::gradient) legend.text += "; L = Σ output of each layer";
    if (const double largest = largest_change(state.document());
        largest > 0.0 && has_own_heads(state.document()) && !what.of_layer)
        legend.change_text = fmt::format(
            "strip: mean KL(untouched‖now) of its rows, longest {} nats", number(largest));
    if (look.clip == SinkClip::none) return legend;
    legend.clipped = clipped_color(state.theme);
    legend.clipped_text = clipped_text(look);
    return legend;
}

void add_option(HeadsChoice& choice, std::string_view name, std::string_view key,
                std::string_view now) {
    if (key == now) choice.current = static_cast<int>(choice.keys.size());
    choice.names.emplace_back(name);
    choice.keys.emplace_back(key);
}

HeadsChoice measures_of(const Document& document, std::string_view none, std::string_view now) {
    HeadsChoice choice;
    if (!none.empty()) add_option(choice, none, "", now);
    const auto measures = heads_measures(document);
    for (const HeadMeasureInfo& each :
         head_measure_table())  // one that is chosen stays in the list
        if (each.key == now ||
            std::ranges::find(measures, each.key, &HeadMeasureInfo::key) != measures.end())
            add_option(choice, each.title, each.key, now);
    return choice;
}

HeadsChoice labels_of(const HeadsFilter& filter) {
    HeadsChoice choice;
    add_option(choice, "any label", "", filter.label);
    for (const HeadMeasureInfo& each : head_measure_table())
        if (is_head_label(each.measure))
            add_option(choice, label_titles(each.measure), each.key, filter.label);
    add_option(choice, "no label", kUnlabelled, filter.label);
    return choice;
}

template <class Enum>
HeadsChoice names_of(std::span<const std::string_view> names, Enum now) {
    HeadsChoice choice;
    for (const std::string_view name : names)
        add_option(choice, name, name, names[static_cast<std::size_t>(now)]);
    return choice;
}

HeadsControls controls_of(const AppState& state) {
    const HeadsLook& look = heads_look(state);
    HeadsControls controls;
    for (const HeadShowInfo& each : head_show_table())
        add_option(controls.show, each.title, each.key, info(look.show).key);
    controls.show.names.front() = "weights α";
    controls.clip = names_of(kSinkClips, look.clip);
    controls.clip.names = {"shown", "clip key 0", "clip heavy keys"};
    controls.list = names_of(kHeadsLists, look.list);
    controls.form = names_of(kHeadForms, look.form);
    if (has_image_tokens(state))
        controls.form.names[static_cast<std::size_t>(HeadForm::text)] = "image";
    controls.image = head_image_look(state);
    controls.sort = measures_of(state.document(), "layer and head", look.sort);
    controls.label = labels_of(look.filter);
    controls.measure = measures_of(state.document(), "any measure", look.filter.measure);
    controls.x = measures_of(state.document(), "", look.scatter_x);
    controls.y = measures_of(state.document(), "", look.scatter_y);
    controls.ablation = names_of(kAblations, look.ablation);
    controls.ablation.names = {"0", "mean", "patch"};
    controls.part = names_of(kSweepParts, look.part);
    controls.part.names = {"heads", "residual", "MLP"};
    controls.of = names_of(kHeadsOf, look.of);
    controls.of.names = {"this head", "its layer", "filtered"};
    controls.circuit = names_of(kCircuitShows, look.circuit_show);
    controls.circuit.names = {"QK", "OV", "composition", "edges"};
    controls.over = names_of(kCircuitOvers, look.circuit_over);
    controls.over.names = {"text", "vocabulary"};
    controls.parting = look.parting;
    controls.from = look.from;
    controls.pairs = look.pairs;
    controls.sweep = names_of(kSweepShows, look.sweep_show);
    controls.sweep.names = {"Δ logits", "KL"};
    controls.curve = std::max(static_cast<int>(look.curve), 1) - 1;
    controls.clip_limit = look.clip_limit;
    controls.least = look.filter.least;
    controls.count = shown_count(look);
    controls.own_range = look.own_range;
    if (const auto measure = find_head_measure(look.filter.measure); measure && look.result)
        for (const HeadFacts& facts : look.result->heads)
            controls.least_high =
                std::max(controls.least_high, facts.measures[*measure].value_or(0.0));
    controls.pinned = !pin_letter(look, head_here(state)).empty();
    controls.compares = look.pinned[0] && look.pinned[1];
    const ModelOrigin* const model = wanted_model(state);
    controls.model = model != nullptr;
    controls.off = will_be_off(state, head_here(state));
    controls.switch_unavailable = interventions_lack(state.document());
    controls.edits = head_edits(state);
    if (model != nullptr) controls.interventions = interventions_of(model->changes);
    return controls;
}

std::string pending_text(const AppState& state) {
    const HeadsLook& look = heads_look(state);
    return job_status_text(
        state, "heads",
        fmt::format("Computing {} of all heads of {}: {}.",
                    look.show == HeadShow::gradient ? "weights and their gradients" : "weights",
                    counted(std::ssize(state.document().layers), "layer"), percent(look.done)));
}

void add_corpus_table(const AppState& state, AllHeadsView& view) {
    const auto shown = corpus_shown(state);
    view.table = {shown, &shown->table};
}

/// Where there is no attention to show, the model not being there: the corpus alone.
void add_corpus_alone(const AppState& state, AllHeadsView& view) {
    if (heads_look(state).list != HeadsList::corpus || !corpus_missing_data(state).empty() ||
        state.document().no_attention.empty())
        return;
    view.missing_data.clear();
    view.large_missing_data = sentence(state.document().no_attention);
    view.list = HeadsList::corpus;
    view.controls = controls_of(state);
    view.point = heads_point(state);
    add_corpus_table(state, view);
}

void add_notes(const HeadsResult& result, AllHeadsView& view) {
    for (std::size_t n = 0; n < result.layers.size(); ++n) {
        const HeadsLayer& layer = result.layers[n];
        const auto add = [&](const std::string& text) {
            if (!text.empty()) view.notes.push_back(fmt::format("Layer {}: {}.", n, text));
        };
        add(layer.fault);
        std::ranges::for_each(layer.notes, add);
        add(odd_rows_text(layer));
        add(excluded_rows_text(measured_rows(result, static_cast<Index>(n))));
    }
    constexpr std::size_t kMostNotes = 3;
    if (view.notes.size() <= kMostNotes) return;
    const std::size_t more = view.notes.size() - kMostNotes + 1;
    view.notes.resize(kMostNotes - 1);
    view.notes.push_back(fmt::format("{} more notes about layers are not shown.", more));
}

/// Of more weights than are held: the table of measures alone.
void add_measures_alone(const AppState& state, AllHeadsView& view) {
    if (!has_only_measures(state)) return;
    view.large_missing_data = std::move(view.missing_data);
    view.missing_data.clear();
    view.controls = controls_of(state);
    view.list = HeadsList::table;
    if (const HeadsResult* const measures = current_measures(state)) {
        view.here = head_here(state);
        view.table = std::make_shared<const HeadsTable>(heads_table(state));
        add_notes(*measures, view);
    } else {
        view.pending =
            job_status_text(state, "heads",
                            fmt::format("Measuring the heads of {}: {}.",
                                        counted(std::ssize(state.document().layers), "layer"),
                                        percent(heads_look(state).done)));
    }
}

void add_together(const AppState& state, const std::vector<HeadPlace>& places, AllHeadsView& view) {
    view.large_missing_data = undefined_text(state, places);
    if (!view.large_missing_data.empty()) return;
    const HeadsLook& look = heads_look(state);
    if (look.form == HeadForm::matrix && look.maps && !look.maps->cells.empty())
        view.maps = cells_views(state, look.maps->cells, {look.pair});
    else if (look.form == HeadForm::matrix)
        view.grids = {mean_grid(state, places)};
    else
        view.lines = {lines_together(state, places)};
}

void add_large(const AppState& state, AllHeadsView& view) {
    const HeadsLook& look = heads_look(state);
    if (look.form == HeadForm::circuit) {
        view.circuit = head_circuit_view(state);
        if (view.circuit->edges) view.answer.clear();
        return;
    }
    if (look.form == HeadForm::alignment) {
        auto places = heads_together(state);
        if (places.empty() && look.result->find(head_here(state)) != nullptr)
            places = {head_here(state)};
        if (places.empty()) return;
        view.large_missing_data = undefined_text(state, places);
        if (view.large_missing_data.empty()) view.alignment = head_alignment_view(state, places);
        return;
    }
    if (const auto together = heads_together(state); !together.empty())
        return add_together(state, together, view);
    const std::vector<HeadPlace> places = large_heads(state);
    if (look.form == HeadForm::dimensions) {
        if (!places.empty()) view.dimensions = head_dimensions(state, places.back());
        return;
    }
    view.large_missing_data = undefined_text(state, places);
    if (!view.large_missing_data.empty()) return;
    if (look.form == HeadForm::matrix && look.maps && !look.maps->cells.empty())
        view.maps = cells_views(state, look.maps->cells, {look.pair});
    else if (look.form == HeadForm::matrix)
        view.grids = heads_grids(state);
    for (const HeadPlace place : places) {
        const std::string letter = places.size() > 1 ? pin_letter(look, place) + ": " : "";
        if (look.form == HeadForm::lines) {
            view.lines.push_back(head_lines(state, place));
            view.lines.back().title.insert(0, letter);
        } else if (look.form == HeadForm::text && has_image_tokens(state)) {
            view.images.push_back(head_image(state, place));
            view.images.back().title.insert(0, letter);
        } else if (look.form == HeadForm::text) {
            view.texts.push_back(head_text(state, place));
            view.texts.back().title.insert(0, letter);
        }
    }
}

}  // namespace

AllHeadsView build_all_heads_view(const AppState& state) {
    AllHeadsView view;
    view.missing_data = heads_missing_data(state);
    if (!view.missing_data.empty()) {
        add_corpus_alone(state, view);
        add_measures_alone(state, view);
        return view;
    }
    const HeadsLook& look = heads_look(state);
    view.controls = controls_of(state);
    view.list = look.list;
    if (!has_current_heads(state) || !look.shown) {
        view.pending = pending_text(state);
        return view;
    }
    view.here = head_here(state);
    view.point = first_nan_text(state);
    view.warns = !view.point.empty();
    if (!view.warns) view.point = heads_point(state);
    view.answer = answer_text(state);
    const bool only_layer = look.result->layers.size() == 1;
    view.listed = !look.sort.empty() || (only_layer && !info(look.show).of_layer);
    add_thumbs(state, view);
    view.legend = legend_of(state);
    view.why = label_rule() + "\n" + view.legend.caution + " " + view.legend.source;
    if (look.list == HeadsList::scatter) view.scatter = heads_scatter(state);
    if (look.list == HeadsList::table)
        view.table = std::make_shared<const HeadsTable>(heads_table(state));
    if (look.list == HeadsList::sweep) view.sweep = head_sweep(state);
    if (look.list == HeadsList::corpus) {
        view.list_missing_data = corpus_missing_data(state);
        if (view.list_missing_data.empty()) add_corpus_table(state, view);
    }
    add_large(state, view);
    view.hovered_pair = look.hovered_pair;
    view.hovered_circuit = look.hovered_circuit;
    view.pair = look.pair;
    add_notes(*look.result, view);
    const HeadFacts* const hovered = look.hovered ? look.result->find(*look.hovered) : nullptr;
    if (hovered == nullptr) return view;
    view.hovered = look.hovered;
    view.hover_title = head_name(hovered->place);
    view.hover_text = hover_text(state.document(), *hovered);
    for (const std::string& each : changes_of(state.document(), hovered->place))
        view.hover_text += "\n" + each;
    if (const HeadEffect* const effect = effect_on(state.document(), hovered->place))
        view.hover_text += fmt::format("\nchange: {}", change_text(*effect));
    return view;
}

}  // namespace attn::view
