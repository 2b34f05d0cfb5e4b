#include "app/files/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

namespace attn::files {
namespace {

/// Levenshtein's edit distance: insertions, deletions and replacements from `a` to `b`.
std::size_t edit_distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> row(b.size() + 1);  // distances from a[0..i) to each b[0..j)
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 0; i < a.size(); ++i) {
        std::size_t diagonal = std::exchange(row[0], i + 1);
        for (std::size_t j = 0; j < b.size(); ++j) {
            const std::size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
            diagonal = row[j + 1];
            row[j + 1] = std::min({replaced, row[j] + 1, diagonal + 1});
        }
    }
    return row.back();
}

}  // namespace

std::vector<std::string_view> split(std::string_view text, char separator) {
    std::vector<std::string_view> parts;
    while (true) {
        const std::size_t end = text.find(separator);
        parts.push_back(text.substr(0, end));
        if (end == text.npos) return parts;
        text.remove_prefix(end + 1);
    }
}

std::vector<std::string_view> split_list(std::string_view text) {
    std::vector<std::string_view> parts = split(text);
    if (parts.back().empty()) parts.pop_back();
    return parts;
}

std::vector<std::string> nearest_candidates(std::string_view word,
                                            std::span<const std::string> candidates,
                                            std::size_t count) {
    std::vector<std::pair<std::size_t, std::string>> nearest;
    for (const std::string& candidate : candidates)
        nearest.emplace_back(edit_distance(word, candidate), candidate);
    std::ranges::stable_sort(nearest, {}, &std::pair<std::size_t, std::string>::first);
    std::vector<std::string> best;
    for (std::size_t n = 0; n < std::min(count, nearest.size()); ++n)
        best.push_back(std::move(nearest[n].second));
    return best;
}

std::string did_you_mean(std::string_view word, std::span<const std::string> candidates) {
    std::size_t best_distance = 3;
    std::string_view best;
    for (const std::string& candidate : candidates) {
        const std::size_t distance = edit_distance(word, candidate);
        if (distance >= best_distance || distance * 2 >= candidate.size()) continue;
        best_distance = distance;
        best = candidate;
    }
    return best.empty() ? "" : fmt::format("; did you mean {}?", best);
}

}  // namespace attn::files
