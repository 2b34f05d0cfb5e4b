#include "app/workspaces/step/attention_words.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/common/sheet.h"
#include "app/workspaces/step/sources.h"
#include "core/masks.h"

namespace attn::view {
namespace {

constexpr std::size_t kMostListed = 3;  // keys with a percentage of their own
constexpr double kEnough = 0.9;         // of the row: what is left needs no names
constexpr double kWorthListing = 0.01;
constexpr double kHalfPercent = 0.005;

struct Share {
    Index key = 0;
    double weight = 0.0;
};
/// Keys with exactly the same weight.
using Group = std::vector<Share>;

/// A share as a whole percentage, and what it adds to a sum that a reader makes; none where it is a bound.
struct Percentage {
    std::string words;
    std::optional<long> counted;
};

Percentage percentage(double share) {
    if (share > 0.0 && share < kHalfPercent) return {"under 1 %", std::nullopt};
    if (share >= 1.0 - kHalfPercent && share < 1.0) return {"over 99 %", std::nullopt};
    const long whole = std::lround(100.0 * share);
    return {fmt::format("{} %", whole), whole};
}

/// What one row says, before it is words.
struct RowStory {
    const AppState& state;
    Index query = 0;
    std::vector<Share> shares;  // of the keys that it may attend to, largest first
    Index masked = 0;
    Index not_numbers = 0;
    double sum = 0.0;

    std::string name() const { return axis_label(state.document(), Axis::query, query); }
    std::string key(const Share& share) const {
        return axis_label(state.document(), Axis::key, share.key);
    }
    bool dropped() const { return told_weights(state) == Stage::dropped; }
};

RowStory story_of(const AppState& state, Index query) {
    RowStory story{state, query, {}};
    const auto row = sheet_of(state, told_weights(state)).values.row(query);
    const std::vector<std::uint8_t> allowed = allowed_keys(state, query);
    for (Index j = 0; j < std::ssize(row); ++j) {
        const double weight = row[static_cast<std::size_t>(j)];
        const bool may = allowed[static_cast<std::size_t>(j)] != 0;
        story.masked += may ? 0 : 1;
        story.not_numbers += std::isnan(weight) ? 1 : 0;
        if (may) story.shares.push_back({j, weight});
        story.sum += weight;
    }
    if (story.not_numbers == 0)
        std::ranges::stable_sort(story.shares, std::greater<>{}, &Share::weight);
    return story;
}

/// "Head 3, after dropout: golden": who looks.
std::string opening(const RowStory& story) {
    std::string words;
    if (story.state.document().size.heads > 1) words = fmt::format("Head {}", story.state.head);
    if (story.dropped()) words += words.empty() ? "After dropout" : ", after dropout";
    return words + (words.empty() ? "" : ": ") + story.name();
}

/// "the, cat, sat and 2 more".
std::string names(const RowStory& story, const Group& group) {
    std::vector<std::string> listed;
    for (std::size_t n = 0; n < std::min(group.size(), kMostListed); ++n)
        listed.push_back(story.key(group[n]));
    if (group.size() > kMostListed)
        listed.push_back(fmt::format("{} more", group.size() - kMostListed));
    return joined(listed, " and ");
}

std::vector<Group> grouped(const std::vector<Share>& shares) {
    std::vector<Group> groups;
    for (const Share& share : shares) {
        if (groups.empty() || groups.back().front().weight != share.weight) groups.emplace_back();
        groups.back().push_back(share);
    }
    return groups;
}

/// How many of the groups are named: while there is room, until most of the row is told; one key that would
/// be left alone is named too.
std::size_t count_named(const std::vector<Group>& groups, double sum) {
    std::size_t keys = groups.front().size();
    double told = groups.front().front().weight * static_cast<double>(keys);
    std::size_t named = 1;
    for (; named < groups.size(); ++named) {
        const Group& next = groups[named];
        const bool full = keys + next.size() > kMostListed || told >= kEnough * sum;
        const bool last = named + 1 == groups.size() && next.size() == 1;
        if ((full && !last) || next.front().weight < kWorthListing) break;
        keys += next.size();
        told += next.front().weight * static_cast<double>(next.size());
    }
    return named;
}

/// The list of a row, and whether its percentages add up for who adds them.
struct Listing {
    std::vector<std::string> parts;
    long total = 0;
    bool bounded = false;  // one of them is a bound, and cannot be added

    void add(const Percentage& share, std::size_t times) {
        bounded = bounded || !share.counted;
        total += share.counted.value_or(0) * static_cast<long>(times);
    }
    /// Only where the row itself adds up to 1.
    std::string note(double sum) const {
        if (std::abs(sum - 1.0) > kHalfPercent)
            return fmt::format("; the sum is {} %", std::lround(100.0 * sum));
        return bounded || total == 100 ? "" : " (rounded)";
    }
};

std::string rest_words(std::span<const Group> rest, Listing& listing) {
    std::size_t keys = 0;
    double share = 0.0;
    for (const Group& group : rest) {
        keys += group.size();
        share += group.front().weight * static_cast<double>(group.size());
    }
    const std::string others = keys == 1 ? "1 other" : fmt::format("{} others", keys);
    if (share == 0.0) return "nothing on " + others;
    const Percentage left = percentage(share);
    listing.add(left, 1);
    return left.words + " on " + others;
}

std::string listed(const RowStory& story) {
    const std::vector<Group> groups = grouped(story.shares);
    const std::size_t named = count_named(groups, story.sum);
    Listing listing;
    for (std::size_t n = 0; n < named; ++n) {
        const Group& group = groups[n];
        const Percentage share = percentage(group.front().weight);
        listing.add(share, group.size());
        listing.parts.push_back(names(story, group) + " " + share.words +
                                (group.size() > 1 ? " each" : ""));
    }
    std::string words = fmt::format("{}", fmt::join(listing.parts, ", "));
    if (named < groups.size())
        words += ", and " + rest_words(std::span(groups).subspan(named), listing);
    return words + listing.note(story.sum);
}

/// Every key that may be looked at has the same weight.
std::string even_words(const RowStory& story) {
    const Percentage each = percentage(story.shares.front().weight);
    Listing listing;
    listing.add(each, story.shares.size());
    const char* which = story.masked > 0 ? "words that it may see" : "words";
    return fmt::format("{} looks at all {} {} alike, {} each{}", opening(story),
                       story.shares.size(), which, each.words, listing.note(story.sum));
}

std::string nan_words(const RowStory& story) {
    const Index count = std::ssize(story.shares) + story.masked;
    if (story.shares.empty())
        return fmt::format("{} may look at no word, and its weights are NaN", opening(story));
    if (story.not_numbers == count)
        return fmt::format("{}: all its weights are NaN", opening(story));
    return fmt::format("{}: {} of its {} weights are NaN", opening(story), story.not_numbers,
                       count);
}

std::string spread_words(const RowStory& story) {
    if (story.not_numbers > 0) return nan_words(story);
    if (story.shares.empty())
        return fmt::format("{} may look at no word: its weights are 0", opening(story));
    if (story.shares.front().weight == 0.0)
        return fmt::format("{} looks at no word: its weights are 0", opening(story));
    if (story.shares.size() == 1)
        return fmt::format("{} may look at {} only: {}", opening(story),
                           story.key(story.shares.front()),
                           percentage(story.shares.front().weight).words);
    if (story.shares.front().weight == story.shares.back().weight) return even_words(story);
    return fmt::format("{} looks at {}", opening(story), listed(story));
}

}  // namespace

Stage told_weights(const AppState& state) {
    return state.stage == Stage::weights ? Stage::weights : weight_stage(state.document());
}

std::vector<std::uint8_t> allowed_keys(const AppState& state, Index query) {
    const Document& document = state.document();
    std::vector<std::uint8_t> allowed(static_cast<std::size_t>(document.size.tk));
    fill_allowed(document.spec.mask, document.size, state.batch, state.head, query, allowed);
    return allowed;
}

std::string attention_words(const AppState& state, Index query) {
    const RowStory story = story_of(state, query);
    std::string words = spread_words(story);
    if (story.masked > 0 && !story.shares.empty())
        words += fmt::format("; {} masked", story.masked);
    return words + ".";
}

}  // namespace attn::view
