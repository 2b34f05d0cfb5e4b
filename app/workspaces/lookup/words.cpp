#include "app/workspaces/lookup/words.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "app/common/format.h"
#include "app/common/pair.h"
#include "app/common/words.h"
#include "app/workspaces/lookup/compute.h"

namespace attn::view {
namespace {

const LookupPair& pair_at(const LookupControls& controls, Index n) {
    return controls.pairs[static_cast<std::size_t>(n)];
}
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
                             [&](Index n) { return read.weights[static_cast<std::size_t>(n)]; });
    return order;
}

double of(const std::vector<double>& values, Index n) {
    return values[static_cast<std::size_t>(n)];
}

/// "Paris", or "the mean of A and B": what a hard lookup gives.
std::string hard_words(const LookupControls& controls, const MemoryRead& read) {
    if (read.best.size() == 1) return value_at_pair(controls, read.best.front());
    if (read.best.size() == controls.pairs.size()) return "the mean of all values";
    std::string names;
    for (std::size_t n = 0; n < read.best.size(); ++n)
        names += (n == 0                      ? ""
                  : n + 1 == read.best.size() ? " and "
                                              : ", ") +
                 value_at_pair(controls, read.best[n]);
    return "the mean of " + names;
}

}  // namespace

std::string point_words(const PlanePoint& at) {
    return fmt::format("({}, {})", cell_number(at[0], 2), cell_number(at[1], 2));
}

std::string page_title(LookupPage page) {
    constexpr const char* kTitles[] = {"Memory", "Capacity", "Similarity", "Alignment",
                                       "Permutation"};
    return kTitles[static_cast<std::size_t>(page)];
}

std::string page_hint(LookupPage page) {
    constexpr const char* kHints[] = {
        "Drag the query q, a key or a value, or move q with the arrow keys; A adds a pair.",
        "How many keys of width d_k are told apart: ← and → change d_k, ↑ and ↓ the number of "
        "pairs.",
        "All queries against all keys, without values: M switches dot product and cosine.",
        "For each query the key of the largest dot product and the key of the largest cosine.",
        "Drag a token, or press S to shuffle: without positions the weights go along."};
    return kHints[static_cast<std::size_t>(page)];
}

std::string memory_point(const LookupControls& controls, const MemoryRead& read) {
    if (controls.pairs.size() == 1)
        return fmt::format("One pair alone has the weight 100 %: every query reads {}.",
                           value_at_pair(controls, 0));
    const auto order = by_weight(read);
    const std::string hard = hard_words(controls, read);
    return fmt::format(
        "q reads {} {} and {} {}: the output is {} from {}, which a hard lookup gives, and {} from "
        "the mean of all values.",
        key_at(controls, order[0]), percent(of(read.weights, order[0])), key_at(controls, order[1]),
        percent(of(read.weights, order[1])), number(read.to_hard), hard, number(read.to_mean));
}

std::string winner_words(const LookupControls& controls, const MemoryRead& read) {
    if (!read.most_similar)
        return "A query or keys of length 0 have no direction: no cosine, and the same score 0 for "
               "every key.";
    const Index similar = *read.most_similar;
    if (read.best.size() > 1)
        return fmt::format(
            "{} keys have the largest q·k, {}: a hard lookup has no single answer; the limit of "
            "soft "
            "lookup for τ → 0 is the mean of their values.",
            read.best.size(), number(of(read.scores, read.best.front())));
    const Index best = read.best.front();
    if (best == similar)
        return fmt::format("Largest q·k and largest cosine agree: {} ({} and {}).",
                           key_at(controls, best), number(of(read.scores, best)),
                           number(of(read.cosines, best)));
    const auto norm = [&](Index n) {
        const PlanePoint& k = pair_at(controls, n).k;
        return std::hypot(k[0], k[1]);
    };
    return fmt::format(
        "“Similar” is not “largest dot”: {} wins with q·k = {} at cosine {}; {} is more similar, "
        "cosine {}, but shorter: q·k = {}, ‖k‖ = {} against {}.",
        key_at(controls, best), number(of(read.scores, best)),
        std::isnan(of(read.cosines, best)) ? "none" : number(of(read.cosines, best)),
        key_at(controls, similar), number(of(read.cosines, similar)),
        number(of(read.scores, similar)), number(norm(similar)), number(norm(best)));
}

std::string values_words(const LookupControls& controls, const MemoryRead& read) {
    const PlanePoint output{read.output[0], read.output[1]};
    const auto other = read_memory(memory_of(controls, true), controls.query, controls.temperature);
    if (!other) return {};
    const bool same =
        std::ranges::all_of(controls.pairs, [](const LookupPair& p) { return p.k == p.v; });
    if (same)
        return fmt::format(
            "Here V = K: the output {} is a blend of the keys themselves. Move a value: no weight "
            "changes, for K alone is matched; V is handed over.",
            point_words(output));
    return fmt::format(
        "K is matched, V is handed over: no weight depends on V. With V = K the same weights would "
        "give {} in place of {}.",
        point_words({other->output[0], other->output[1]}), point_words(output));
}

std::string contribution_words(const LookupControls& controls, const MemoryRead& read) {
    const Index heaviest = by_weight(read).front();
    const auto most = std::ranges::max_element(read.contributions);
    const Index brings = most - read.contributions.begin();
    const auto both = [&](Index n) {
        return fmt::format("{} has {} and brings ‖a v‖ = {}", value_at_pair(controls, n),
                           percent(of(read.weights, n)), number(of(read.contributions, n)));
    };
    if (brings == heaviest || *most == of(read.contributions, heaviest))
        return fmt::format(
            "Weight is not contribution: that is ‖a v‖. Here the heaviest brings most: {}.",
            both(heaviest));
    return fmt::format("High weight is not high contribution: {}; {}.", both(heaviest),
                       both(brings));
}

std::string pair_sentence(const AppState& state) {
    const LookupControls& controls = lookup_controls(state);
    const MemoryRead read = memory_read(controls);
    const Index n = lookup_look(state).pair;
    return fmt::format("{} → {}: q·k = {}, weight {}.", key_at(controls, n),
                       value_at_pair(controls, n), number(of(read.scores, n)),
                       percent(of(read.weights, n)));
}

std::string difference_words(double by, int digits) {
    return by == 0.0 ? "exactly 0" : significant(by, digits);
}

std::string position_words(PermutationPosition position) {
    constexpr const char* kWords[] = {"none", "sinusoidal waves added to X",
                                      "RoPE (it turns Q and K)",
                                      "ALiBi (a slope times the distance)", "a causal mask"};
    return kWords[static_cast<std::size_t>(position)];
}

std::string cell_sentence(const AppState& state) {
    const LookupLook& look = lookup_look(state);
    return pair_name(state.document(), {look.row, look.column}) + ".";
}

}  // namespace attn::view
