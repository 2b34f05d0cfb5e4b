#include "app/common/nearest.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

namespace attn::view {

std::size_t edit_distance(std::string_view a, std::string_view b) {
    // rows[n % 3][j]: the distance from a[0..n) to b[0..j)
    std::array<std::vector<std::size_t>, 3> rows;
    rows.fill(std::vector<std::size_t>(b.size() + 1));
    std::iota(rows[0].begin(), rows[0].end(), std::size_t{0});
    for (std::size_t n = 1; n <= a.size(); ++n) {
        auto& row = rows[n % 3];
        const auto& above = rows[(n + 2) % 3];
        const auto& two_above = rows[(n + 1) % 3];
        row[0] = n;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t replaced = above[j - 1] + (a[n - 1] == b[j - 1] ? 0 : 1);
            row[j] = std::min({replaced, above[j] + 1, row[j - 1] + 1});
            if (n > 1 && j > 1 && a[n - 1] == b[j - 2] && a[n - 2] == b[j - 1])
                row[j] = std::min(row[j], two_above[j - 2] + 1);
        }
    }
    return rows[a.size() % 3].back();
}

std::vector<std::string> nearest_candidates(std::string_view word,
                                            std::span<const std::string> candidates,
                                            std::size_t count) {
    std::vector<std::pair<std::size_t, std::string>> nearest;
    for (const std::string& candidate : candidates)
        nearest.emplace_back(edit_distance(word, candidate), candidate);
    std::ranges::sort(nearest);
    std::vector<std::string> best;
    for (std::size_t n = 0; n < std::min(count, nearest.size()); ++n)
        best.push_back(std::move(nearest[n].second));
    return best;
}

}  // namespace attn::view
