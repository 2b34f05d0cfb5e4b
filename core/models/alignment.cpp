#include "core/models/alignment.h"

#include <algorithm>
#include <charconv>
#include <set>

#include <fmt/format.h>

#include "core/text.h"

namespace attn {
namespace {

Result<void> check_position(Index position, Index tokens, std::string_view whose,
                            std::set<Index>& seen) {
    if (position < 0 || position >= tokens)
        return bad_input(fmt::format("token {} is paired, but {} has {}, counted from 0", position,
                                     whose, counted(tokens, "token")));
    if (!seen.insert(position).second)
        return bad_input(fmt::format("token {} of {} is paired twice", position, whose));
    return {};
}

Result<Index> position_in(std::string_view text, std::string_view pair) {
    const auto from = text.find_first_not_of(' ');
    text = from == text.npos ? std::string_view() : text.substr(from);
    while (text.ends_with(' ')) text.remove_suffix(1);
    Index position = 0;
    const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), position);
    if (fault != std::errc() || end != text.data() + text.size() || text.empty() || position < 0)
        return bad_input(fmt::format(
            "'{}' pairs no tokens; expected the position in the text and in the other one, as 3=4",
            shortened(pair)));
    return position;
}

}  // namespace

Alignment common_ends(const std::vector<ModelToken>& text, const std::vector<ModelToken>& other) {
    const Index tokens = std::ssize(text), others = std::ssize(other);
    const auto same = [&](Index n, Index m) { return text[n].id == other[m].id; };
    Alignment made(text.size(), -1);
    Index first = 0, last = 0;
    const Index most = std::min(tokens, others);
    while (first < most && (tokens == others || same(first, first))) ++first;
    while (last < most - first && same(tokens - 1 - last, others - 1 - last)) ++last;
    for (Index n = 0; n < tokens; ++n) {
        if (n < first) made[n] = n;
        if (n >= tokens - last) made[n] = n + others - tokens;
    }
    return made;
}

Result<Alignment> aligned(const PairedTokens& pairs, Index tokens, Index others) {
    if (pairs.empty()) return bad_input("no token is paired with one of the text to patch from");
    Alignment made(static_cast<std::size_t>(tokens), -1);
    std::set<Index> seen, seen_there;
    for (const auto& [here, there] : pairs) {
        auto valid = check_position(here, tokens, "the text", seen);
        if (valid) valid = check_position(there, others, "the text to patch from", seen_there);
        if (!valid) return tl::unexpected(valid.error());
        made[here] = there;
    }
    return made;
}

PairedTokens pairs_of(const Alignment& alignment) {
    PairedTokens pairs;
    for (Index n = 0; n < std::ssize(alignment); ++n)
        if (const Index there = alignment[n]; there >= 0) pairs.emplace_back(n, there);
    return pairs;
}

Result<PairedTokens> parse_pairs(std::string_view text) {
    PairedTokens pairs;
    while (!text.empty()) {
        const auto comma = std::min(text.find(','), text.size());
        const std::string_view pair = text.substr(0, comma);
        const auto equals = std::min(pair.find('='), pair.size());
        const auto here = position_in(pair.substr(0, equals), pair);
        const auto there = position_in(pair.substr(std::min(equals + 1, pair.size())), pair);
        if (!here) return tl::unexpected(here.error());
        if (!there) return tl::unexpected(there.error());
        pairs.emplace_back(*here, *there);
        text.remove_prefix(std::min(comma + 1, text.size()));
    }
    return pairs;
}

std::string pairs_text(const PairedTokens& pairs) {
    std::string text;
    for (const auto& [here, there] : pairs)
        text += fmt::format("{}{}={}", text.empty() ? "" : ", ", here, there);
    return text;
}

}  // namespace attn
