#include "app/view/heads/view.h"

#include <algorithm>

#include <fmt/format.h>

#include "app/view/common/colormap.h"
#include "app/view/heads/compute.h"
#include "app/view/heads/grids.h"
#include "app/view/heads/words.h"
#include "app/view/heads/workspace.h"

namespace attn::view {
namespace {

constexpr int kRamp = 24;        // colours of the legend
constexpr Index kMostInRow = 4;  // heads of an only layer; more are listed in several rows

std::string pin_letter(const HeadsLook& look, HeadPlace place) {
    if (look.pinned[0] == place) return "A";
    return look.pinned[1] == place ? "B" : "";
}

std::string thumb_title(const HeadsLook& look, const HeadFacts& facts) {
    const auto measure = find_head_measure(look.sort);
    if (!measure) return head_short(facts.place);
    const auto& value = facts.measures[*measure];
    return fmt::format("{}  {}", head_short(facts.place),
                       value ? fmt::format("{:.2f}", *value) : std::string("–"));
}

void add_thumbs(const AppState& state, AllHeadsView& view) {
    const HeadsLook& look = state.heads;
    const HeadsResult& result = *look.result;
    const HeadsAtlas atlas = heads_atlas(result);
    view.layers = atlas.layers;
    view.columns = atlas.columns;
    view.picture = heads_picture(state, atlas);
    for (const HeadPlace place : heads_in_order(result, look.sort)) {
        const HeadsLayer& layer = result.layers[static_cast<std::size_t>(place.layer)];
        const float aspect = static_cast<float>(layer.tq) / static_cast<float>(layer.tk);
        view.thumbs.push_back({place, thumb_title(look, *result.find(place)),
                               pin_letter(look, place), place == head_here(state),
                               heads_part(result, atlas, place), aspect});
    }
    for (Index n = 0; n < view.layers; ++n) view.layer_labels.push_back(fmt::format("layer {}", n));
    for (Index n = 0; n < view.columns; ++n) {
        view.head_labels.push_back(fmt::format("head {}", n));
        view.head_numbers.push_back(std::to_string(n));
    }
}

HeadsLegend legend_of(const AppState& state) {
    HeadsLegend legend;
    for (int n = 0; n < kRamp; ++n)
        legend.colors.push_back(
            color_at(ColorScale::unit, static_cast<double>(n) / (kRamp - 1), state.theme));
    const bool own = state.heads.own_range;
    legend.low = "0";
    legend.high = own ? "largest" : "1";
    legend.words = own ? "each head its own colours, up to its largest weight"
                       : "weights, the same colours for all heads";
    return legend;
}

HeadsControls controls_of(const AppState& state) {
    const HeadsLook& look = state.heads;
    HeadsControls controls;
    controls.sort_names = {"layer and head"};
    controls.sort_keys = {""};
    for (const HeadMeasureInfo& each : head_measure_table()) {
        controls.sort_names.emplace_back(each.title);
        controls.sort_keys.emplace_back(each.key);
    }
    const auto at = std::ranges::find(controls.sort_keys, look.sort);
    controls.sort = static_cast<int>(at - controls.sort_keys.begin());
    controls.own_range = look.own_range;
    controls.pinned = !pin_letter(look, head_here(state)).empty();
    controls.compares = look.pinned[0] && look.pinned[1];
    return controls;
}

void add_notes(const HeadsResult& result, AllHeadsView& view) {
    for (std::size_t n = 0; n < result.layers.size(); ++n)
        if (!result.layers[n].fault.empty())
            view.notes.push_back(fmt::format("Layer {}: {}.", n, result.layers[n].fault));
}

}  // namespace

AllHeadsView build_all_heads_view(const AppState& state) {
    AllHeadsView view;
    view.lacks = heads_lacks(state);
    if (!view.lacks.empty() || !has_current_heads(state)) return view;
    const HeadsLook& look = state.heads;
    view.here = head_here(state);
    view.point = heads_point(state);
    add_thumbs(state, view);
    view.listed = !look.sort.empty() || (view.layers == 1 && view.columns > kMostInRow);
    view.legend = legend_of(state);
    view.grids = heads_grids(state);
    view.controls = controls_of(state);
    view.hovered_pair = look.hovered_pair;
    add_notes(*look.result, view);
    const HeadFacts* const hovered = look.hovered ? look.result->find(*look.hovered) : nullptr;
    if (hovered == nullptr) return view;
    view.hovered = look.hovered;
    view.hover_title = head_name(hovered->place);
    view.hover_words = hover_words(*hovered);
    return view;
}

}  // namespace attn::view
