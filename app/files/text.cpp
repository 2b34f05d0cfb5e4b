#include "app/files/text.h"

#include <fmt/format.h>

#include "app/common/nearest.h"

namespace attn::files {

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

std::string did_you_mean(std::string_view word, std::span<const std::string> candidates) {
    std::size_t best_distance = 3;
    std::string_view best;
    for (const std::string& candidate : candidates) {
        const std::size_t distance = view::edit_distance(word, candidate);
        if (distance >= best_distance || distance * 2 >= candidate.size()) continue;
        best_distance = distance;
        best = candidate;
    }
    return best.empty() ? "" : fmt::format("; did you mean {}?", best);
}

}  // namespace attn::files
