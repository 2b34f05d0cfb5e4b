#include "app/common/document/mask_rules.h"

#include <algorithm>

#include <fmt/format.h>

#include "app/common/document/paint.h"
#include "core/masks.h"

namespace attn::view {
namespace {

// i query, j key, p position of the query.

std::string causal_verdict(const AppState& state, Pair pair, bool allows) {
    const Dimensions& size = state.document().size;
    const Index shift = causal_shift(size, *state.document().spec.mask.causal);
    return fmt::format("j = {} {} {} = {}", pair.key, allows ? "≤" : ">", shifted_words("i", shift),
                       pair.query + shift);
}

std::string block_verdict(const MaskSpec& mask, Pair pair, bool allows) {
    const Index length = *mask.block;
    return fmt::format("i is in block {0} {2} j in block {1}, of {3} each", pair.query / length,
                       pair.key / length, allows ? "=" : "≠", length);
}

std::string padding_verdict(const AppState& state, Pair pair, bool allows) {
    const auto& padding = state.document().spec.mask.padding;
    return fmt::format("j = {} {} {} valid keys", pair.key, allows ? "<" : "≥",
                       padding[static_cast<std::size_t>(state.batch)]);
}

std::string paint_verdict(const Document& document, bool allows) {
    const char* how = document.painted ? "painted" : "given";
    return fmt::format("{} as {}", how, allows ? "allowed" : "forbidden");
}

/// One side of a window: the distance to that side against its reach.
std::string side_verdict(std::string_view difference, Index distance, std::optional<Index> reach,
                         std::string_view side) {
    if (!reach) return fmt::format("no limit to the {}", side);
    return fmt::format("{} = {} {} {}", difference, distance, distance <= *reach ? "≤" : ">",
                       *reach);
}

std::string window_verdict(const AppState& state, Pair pair) {
    const MaskSpec& mask = state.document().spec.mask;
    const Index offset = state.document().size.query_offset;
    const Index p = pair.query + offset;
    if (p >= 0 && p < mask.global_tokens) return "the query is a global token: it sees every key";
    if (pair.key < mask.global_tokens) return "the key is a global token: every query sees it";
    const std::string query = offset == 0 ? "i" : "p";
    const std::string where =
        offset == 0 ? "" : fmt::format(", p = {}", shifted_words("i", offset));
    const WindowSides sides = window_sides(mask);
    if (sides.left == sides.right)
        return side_verdict(fmt::format("|{} − j|", query), std::abs(p - pair.key), sides.left,
                            "left") +
               where;
    if (p >= pair.key)
        return side_verdict(query + " − j", p - pair.key, sides.left, "left") + where;
    return side_verdict("j − " + query, pair.key - p, sides.right, "right") + where;
}

std::string verdict_words(const AppState& state, MaskRule rule, Pair pair, bool allows) {
    switch (rule) {
        case MaskRule::causal:
            return causal_verdict(state, pair, allows);
        case MaskRule::window:
            return window_verdict(state, pair);
        case MaskRule::block:
            return block_verdict(state.document().spec.mask, pair, allows);
        case MaskRule::padding:
            return padding_verdict(state, pair, allows);
        case MaskRule::paint:
            return paint_verdict(state.document(), allows);
    }
    return {};
}

std::string name_of(const Document& document, MaskRule rule) {
    constexpr const char* kNames[] = {"causal", "window", "block", "padding", "paint"};
    if (rule == MaskRule::paint && !document.painted) return "given mask";
    return kNames[static_cast<std::size_t>(rule)];
}

}  // namespace

bool has_rule(const MaskSpec& mask, MaskRule rule) {
    switch (rule) {
        case MaskRule::causal:
            return mask.causal.has_value();
        case MaskRule::window:
            return mask.windowed();
        case MaskRule::block:
            return mask.block.has_value();
        case MaskRule::padding:
            return !mask.padding.empty();
        case MaskRule::paint:
            return mask.custom != nullptr;
    }
    return false;
}

MaskSpec rule_alone(const MaskSpec& mask, MaskRule rule) {
    MaskSpec alone;
    switch (rule) {
        case MaskRule::causal:
            alone.causal = mask.causal;
            break;
        case MaskRule::window:
            alone.window = mask.window;
            alone.window_left = mask.window_left;
            alone.window_right = mask.window_right;
            alone.global_tokens = mask.global_tokens;
            break;
        case MaskRule::block:
            alone.block = mask.block;
            break;
        case MaskRule::padding:
            alone.padding = mask.padding;
            break;
        case MaskRule::paint:
            alone.custom = mask.custom;
            break;
    }
    return alone;
}

std::vector<std::uint8_t> pairs_allowed_by(const AppState& state, const MaskSpec& mask) {
    const Dimensions& size = state.document().size;
    std::vector<std::uint8_t> pairs(static_cast<std::size_t>(size.tq * size.tk));
    const std::span<std::uint8_t> all(pairs);
    const auto keys = static_cast<std::size_t>(size.tk);
    for (Index i = 0; i < size.tq; ++i)
        fill_allowed(mask, size, state.batch, state.head, i,
                     all.subspan(static_cast<std::size_t>(i) * keys, keys));
    return pairs;
}

Index count_allowed(std::span<const std::uint8_t> pairs) {
    return std::ranges::count(pairs, std::uint8_t{1});
}

Index count_allowed(const AppState& state, const MaskSpec& mask) {
    return count_allowed(pairs_allowed_by(state, mask));
}

std::vector<RuleVerdict> rule_verdicts(const AppState& state, Pair pair) {
    const Document& document = state.document();
    std::vector<RuleVerdict> verdicts;
    for (const MaskRule rule : kMaskRules) {
        if (!has_rule(document.spec.mask, rule)) continue;
        const bool allows = may_attend(rule_alone(document.spec.mask, rule), document.size,
                                       state.batch, state.head, pair.query, pair.key);
        verdicts.push_back(
            {rule, allows, name_of(document, rule), verdict_words(state, rule, pair, allows)});
    }
    return verdicts;
}

WindowSides window_sides(const MaskSpec& mask) {
    const auto reach = [&](const std::optional<Index>& side) {
        if (side && mask.window) return std::optional<Index>(std::min(*side, *mask.window));
        return side ? side : mask.window;
    };
    return {reach(mask.window_left), reach(mask.window_right)};
}

std::string shifted_words(std::string_view letter, Index by) {
    if (by == 0) return std::string(letter);
    return fmt::format("{} {} {}", letter, by > 0 ? "+" : "−", std::abs(by));
}

Index causal_shift(const Dimensions& size, CausalAlign align) {
    return align == CausalAlign::top_left ? size.query_offset : size.tk - size.tq;
}

}  // namespace attn::view
