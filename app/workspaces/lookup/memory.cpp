#include <cmath>

#include <fmt/format.h>

#include "app/common/format.h"
#include "app/common/state.h"
#include "app/workspaces/lookup/compute.h"
#include "app/workspaces/lookup/text.h"
#include "app/workspaces/lookup/view.h"
#include "core/metrics.h"

namespace attn::view {
namespace {

constexpr double kSameWeight = 1e-12;  // equal but for rounding

const LookupPair& pair_at(const LookupControls& controls, Index n) { return controls.pairs[n]; }
std::string key_at(const LookupControls& controls, Index n) {
    return shown_token(pair_at(controls, n).key, kMostNamed);
}
std::string value_at_pair(const LookupControls& controls, Index n) {
    return shown_token(pair_at(controls, n).value, kMostNamed);
}

/// Pairs by weight, largest first.
std::vector<Index> by_weight(const MemoryRead& read) {
    std::vector<Index> order = first_places(std::ssize(read.weights));
    std::ranges::stable_sort(order, std::ranges::greater{},
                             [&](Index n) { return read.weights[n]; });
    return order;
}

double of(const std::vector<double>& values, Index n) { return values[n]; }

/// "A", "A and B", "A, B and C".
std::string names_of(const LookupControls& controls, const std::vector<Index>& pairs,
                     std::string (*name)(const LookupControls&, Index)) {
    std::string names;
    for (std::size_t n = 0; n < pairs.size(); ++n)
        names += (n == 0 ? "" : n + 1 == pairs.size() ? " and " : ", ") + name(controls, pairs[n]);
    return names;
}

/// How far the output is from its limit for τ → 0.
std::string distances_text(const LookupControls& controls, const MemoryRead& read) {
    if (read.best.size() == controls.pairs.size())
        return "all scores q·k are equal, so the output is the mean of all values at every τ";
    const std::string hard = significant(read.to_hard, 2);
    const std::string names = names_of(controls, read.best, value_at_pair);
    if (read.best.size() == 1)
        return fmt::format("the output lies {} from “{}”, the value of the best match", hard,
                           names);
    return fmt::format("the output lies {} from the mean of {}, its limit as τ → 0", hard, names);
}

/// The first line of Memory.
std::string memory_point(const LookupControls& controls, const MemoryRead& read) {
    if (controls.pairs.size() == 1)
        return fmt::format("The only pair has the weight 100 %: every query reads {}.",
                           value_at_pair(controls, 0));
    const auto order = by_weight(read);
    return fmt::format("The query attends {} to “{}” and {} to “{}”: {}.",
                       percent_text(of(read.weights, order[0])), key_at(controls, order[0]),
                       percent_text(of(read.weights, order[1])), key_at(controls, order[1]),
                       distances_text(controls, read));
}

double key_length(const LookupControls& controls, Index n) {
    const PlanePoint& k = pair_at(controls, n).k;
    return std::hypot(k[0], k[1]);
}

/// Which key wins by dot product and which by cosine.
std::string winner_text(const LookupControls& controls, const MemoryRead& read) {
    if (read.most_similar.empty())
        return "A vector of length 0 has no direction, so no cosine is defined and every score is "
               "0.";
    const auto is_similar = [&](Index n) { return std::ranges::count(read.most_similar, n) > 0; };
    const Index best = read.best.front();
    const double score = of(read.scores, best);
    if (read.best.size() > 1)
        return fmt::format(
            "{} keys share the largest q·k, {}. A hard lookup has no single answer; as τ → 0, "
            "soft lookup gives the mean of the values of these keys.",
            read.best.size(), number(score));
    if (is_similar(best) && read.most_similar.size() == 1)
        return fmt::format("“{}” has both the largest q·k and the largest cosine ({} and {}).",
                           key_at(controls, best), number(score), number(of(read.cosines, best)));
    if (is_similar(best))
        return fmt::format("{} have the largest cosine, {}; of these, {} has the largest q·k, {}.",
                           names_of(controls, read.most_similar, key_at),
                           number(of(read.cosines, best)), key_at(controls, best), number(score));
    const Index similar = read.most_similar.front();
    const double lengths[] = {key_length(controls, similar), key_length(controls, best)};
    return fmt::format(
        "“Similar” is not “largest dot product”: “{}” wins with q·k = {} at cosine {}; “{}” is "
        "more "
        "similar, "
        "cosine {}, but {}: q·k = {}, ‖k‖ = {} against {}.",
        key_at(controls, best), number(score),
        std::isnan(of(read.cosines, best)) ? "none" : number(of(read.cosines, best)),
        key_at(controls, similar), number(of(read.cosines, similar)),
        lengths[0] < lengths[1] ? "shorter" : "longer, and points away from q",
        number(of(read.scores, similar)), number(lengths[0]), number(lengths[1]));
}

/// That K is matched and V handed over, with what V = K would give.
std::string values_text(const LookupControls& controls, const MemoryRead& read) {
    const PlanePoint output{read.output[0], read.output[1]};
    const auto other = read_memory(memory_of(controls, true), controls.query, controls.temperature);
    if (!other) return {};
    const bool same =
        std::ranges::all_of(controls.pairs, [](const LookupPair& p) { return p.k == p.v; });
    if (same)
        return fmt::format(
            "Here V = K, so the output {} is a blend of the keys. Move a value: no weight changes, "
            "because the query is compared with K, not with V.",
            point_text(output));
    const std::string here = point_text(output);
    const std::string there = point_text({other->output[0], other->output[1]});
    return fmt::format(
        "The query is compared with K, and the output is made of V: no weight depends on V. With V "
        "= K, the same weights would give {}{}.",
        there, here == there ? ", the same output as here" : " instead of " + here);
}

/// That the largest weight need not bring most.
std::string contribution_text(const LookupControls& controls, const MemoryRead& read) {
    const auto most = std::ranges::max_element(read.contributions);
    const Index brings = most - read.contributions.begin();
    if (*most == 0.0) return "Every value with a weight is (0, 0), so no pair contributes.";
    const auto heavy = largest_places(std::span<const double>(read.weights), kSameWeight);
    const Index heaviest = std::ranges::count(heavy, brings) > 0 ? brings : heavy.front();
    const auto both = [&](Index n) {
        return fmt::format("“{}” has weight {} and contributes ‖a v‖ = {}",
                           value_at_pair(controls, n), percent_text(of(read.weights, n)),
                           number(of(read.contributions, n)));
    };
    if (heavy.size() > 1 && brings == heaviest)
        return fmt::format(
            "The contribution of a pair is ‖a v‖, not its weight a. Of {} pairs with the largest "
            "weight, {}.",
            heavy.size(), both(heaviest));
    if (brings == heaviest || *most == of(read.contributions, heaviest))
        return fmt::format(
            "The contribution of a pair is ‖a v‖, not its weight a. Here the largest weight "
            "contributes most: {}.",
            both(heaviest));
    if (percent(of(read.weights, heaviest)) == percent(of(read.weights, brings)))
        return fmt::format(
            "The contribution of a pair is ‖a v‖, not its weight a. Of nearly equal weights, {}; "
            "{}.",
            both(heaviest), both(brings));
    return fmt::format("The largest weight does not contribute most: {}; {}.", both(heaviest),
                       both(brings));
}

/// The part of each pair in the planes and in the table.
void add_pairs(const AppState& state, const MemoryRead& read, MemoryView& view) {
    const LookupControls& controls = lookup_controls(state);
    const LookupLook& look = lookup_look(state);
    for (std::size_t n = 0; n < controls.pairs.size(); ++n) {
        const LookupPair& pair = controls.pairs[n];
        const auto at = static_cast<Index>(n);
        const bool selected = look.pair == at;
        const bool hovered = look.hovered == at;
        const double weight = read.weights[n];
        view.keys.push_back({shown_token(pair.key), pair.k, weight,
                             fmt::format("k = {}\nq·k = {}, weight {}", point_text(pair.k),
                                         number(read.scores[n]), percent(weight)),
                             selected, hovered});
        view.values.push_back(
            {shown_token(pair.value), pair.v, weight,
             fmt::format("v = {}\nweight {}: contributes {}", point_text(pair.v), percent(weight),
                         point_text({weight * pair.v[0], weight * pair.v[1]})),
             selected, hovered});
        view.rows.push_back(
            {.key = shown_token(pair.key),
             .value = shown_token(pair.value),
             .score = cell_number(read.scores[n], 2),
             .cosine = std::isnan(read.cosines[n]) ? "–" : cell_number(read.cosines[n], 2),
             .weight = percent(weight),
             .at = point_text(pair.v),
             .contribution = cell_number(read.contributions[n], 2),
             .share = weight,
             .best = std::ranges::count(read.best, at) > 0,
             .most_similar = std::ranges::count(read.most_similar, at) > 0,
             .selected = selected,
             .hovered = hovered});
    }
}

void add_numbers(const MemoryRead& read, MemoryView& view) {
    view.numbers = {
        {"output", "o = Σ_j a_j v_j", point_text(view.output),
         "A convex combination of the values, so it lies in their convex hull."},
        {"entropy", "H = −Σ a ln a", fmt::format("{} nats", number(read.entropy)),
         fmt::format("0: all weight on one pair; ln {} = {}: equal weights.", read.weights.size(),
                     number(std::log(static_cast<double>(read.weights.size()))))}};
}

}  // namespace

std::optional<PlanePoint> on_plane(double x, double y) {
    constexpr double kSteps = 100.0;  // in one unit
    if (std::isnan(x) || std::isnan(y)) return std::nullopt;
    const auto retained = [](double at) {
        return std::round(std::clamp(at, -kPlaneEnd, kPlaneEnd) * kSteps) / kSteps + 0.0;
    };
    return PlanePoint{retained(x), retained(y)};
}

MemoryView build_memory_view(const AppState& state) {
    const LookupControls& controls = lookup_controls(state);
    const MemoryRead read = memory_read(controls);
    MemoryView view;
    view.point = memory_point(controls, read);
    view.notes = {winner_text(controls, read), values_text(controls, read),
                  contribution_text(controls, read),
                  "The area of a disc is the weight a. The ring “hard” marks the result of argmax. "
                  "The output o stays in the shaded convex hull of the values."};
    view.query = controls.query;
    view.output = {read.output[0], read.output[1]};
    view.hard = {read.hard[0], read.hard[1]};
    view.mean = {read.mean[0], read.mean[1]};
    add_pairs(state, read, view);
    add_numbers(read, view);
    for (const MemoryPreset& preset : memory_presets()) {
        if (preset.pairs == controls.pairs) view.preset = static_cast<int>(view.preset_keys.size());
        view.preset_names.push_back(preset.text);
        view.preset_keys.push_back(preset.key);
    }
    std::vector<PlanePoint> values;
    for (const LookupPair& each : controls.pairs) values.push_back(each.v);
    for (const Index n : convex_hull(values)) view.hull.push_back(values[n]);
    view.temperature = controls.temperature;
    view.tau = significant(controls.temperature, 3);
    view.pair = lookup_look(state).pair;
    const LookupPair& pair = controls.pairs[view.pair];
    view.key_name = pair.key;
    view.value_name = pair.value;
    view.free = free_place(controls);
    return view;
}

}  // namespace attn::view
