#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "app/common/format.h"
#include "app/common/words.h"
#include "app/workspaces/lookup/view.h"
#include "app/workspaces/lookup/words.h"

namespace attn::view {
namespace {

void add_points(const AppState& state, const MemoryRead& read, MemoryView& view) {
    const LookupControls& controls = lookup_controls(state);
    const LookupLook& look = lookup_look(state);
    for (std::size_t n = 0; n < controls.pairs.size(); ++n) {
        const LookupPair& pair = controls.pairs[n];
        const bool selected = look.pair == static_cast<Index>(n);
        const bool hovered = look.hovered == static_cast<Index>(n);
        const double weight = read.weights[n];
        view.keys.push_back({shown_token(pair.key), pair.k, weight,
                             fmt::format("k = {}\nq·k = {}, weight {}", point_words(pair.k),
                                         number(read.scores[n]), percent(weight)),
                             selected, hovered});
        view.values.push_back(
            {shown_token(pair.value), pair.v, weight,
             fmt::format("v = {}\nweight {}: it brings {}", point_words(pair.v), percent(weight),
                         point_words({weight * pair.v[0], weight * pair.v[1]})),
             selected, hovered});
    }
}

void add_rows(const AppState& state, const MemoryRead& read, MemoryView& view) {
    const LookupControls& controls = lookup_controls(state);
    for (std::size_t n = 0; n < controls.pairs.size(); ++n) {
        const LookupPair& pair = controls.pairs[n];
        MemoryRowView row;
        row.key = shown_token(pair.key);
        row.value = shown_token(pair.value);
        row.score = cell_number(read.scores[n], 2);
        row.cosine = std::isnan(read.cosines[n]) ? "–" : cell_number(read.cosines[n], 2);
        row.weight = percent(read.weights[n]);
        row.at = point_words(pair.v);
        row.contribution = cell_number(read.contributions[n], 2);
        row.share = read.weights[n];
        row.best = std::ranges::count(read.best, static_cast<Index>(n)) > 0;
        row.most_similar = read.most_similar == static_cast<Index>(n);
        row.selected = view.keys[n].selected;
        row.hovered = view.keys[n].hovered;
        view.rows.push_back(std::move(row));
    }
}

void add_numbers(const MemoryRead& read, MemoryView& view) {
    view.numbers = {
        {"output", "o = Σ_j a_j v_j", point_words(view.output),
         "A convex combination of the values: it never leaves their hull."},
        {"to the hard answer", "‖o − lim τ→0‖", number(read.to_hard),
         "How far the soft output is from what the hard lookup gives: the value of the largest "
         "q·k; "
         "of several that are equal, their mean."},
        {"to the mean of V", "‖o − lim τ→∞‖", number(read.to_mean),
         "How far the output is from the mean of all values, which every query reads as τ → ∞."},
        {"entropy", "H = −Σ a ln a", fmt::format("{} nats", number(read.entropy)),
         fmt::format("0: one pair is read; ln {} = {}: all are read alike.", read.weights.size(),
                     number(std::log(static_cast<double>(read.weights.size()))))}};
}

void add_presets(const LookupControls& controls, MemoryView& view) {
    for (const MemoryPreset& preset : memory_presets()) {
        if (preset.pairs == controls.pairs) view.preset = static_cast<int>(view.preset_keys.size());
        view.preset_names.push_back(preset.words);
        view.preset_keys.push_back(preset.key);
    }
}

void add_hull(const LookupControls& controls, MemoryView& view) {
    std::vector<PlanePoint> values;
    for (const LookupPair& pair : controls.pairs) values.push_back(pair.v);
    for (const Index n : convex_hull(values))
        view.hull.push_back(values[static_cast<std::size_t>(n)]);
}

}  // namespace

std::optional<PlanePoint> on_plane(double x, double y) {
    constexpr double kSteps = 100.0;  // in one unit
    if (std::isnan(x) || std::isnan(y)) return std::nullopt;
    const auto kept = [](double at) {
        return std::round(std::clamp(at, -kPlaneEnd, kPlaneEnd) * kSteps) / kSteps + 0.0;
    };
    return PlanePoint{kept(x), kept(y)};
}

MemoryView build_memory_view(const AppState& state) {
    const LookupControls& controls = lookup_controls(state);
    const MemoryRead read = memory_read(controls);
    MemoryView view;
    view.point = memory_point(controls, read);
    view.notes = {winner_words(controls, read), values_words(controls, read),
                  contribution_words(controls, read)};
    view.query = controls.query;
    view.output = {read.output[0], read.output[1]};
    view.hard = {read.hard[0], read.hard[1]};
    view.mean = {read.mean[0], read.mean[1]};
    add_points(state, read, view);
    add_rows(state, read, view);
    add_numbers(read, view);
    add_presets(controls, view);
    add_hull(controls, view);
    view.temperature = controls.temperature;
    view.tau = significant(controls.temperature, 3);
    view.pair = lookup_look(state).pair;
    const LookupPair& pair = controls.pairs[static_cast<std::size_t>(view.pair)];
    view.key_name = pair.key;
    view.value_name = pair.value;
    view.can_add = controls.pairs.size() < kMostLookupPairs;
    view.can_remove = controls.pairs.size() > 1;
    return view;
}

}  // namespace attn::view
