#include "app/workspaces/step/sentence.h"

#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/common/color_look.h"
#include "app/common/document/document.h"
#include "app/common/document/opened.h"
#include "app/common/format.h"
#include "app/common/row_range.h"
#include "app/common/state.h"
#include "app/common/text.h"
#include "app/workspaces/step/attention_text.h"
#include "app/workspaces/step/grids.h"
#include "app/workspaces/step/sources.h"
#include "app/workspaces/step/view.h"
#include "core/masks.h"
#include "core/metrics.h"
#include "core/scores/score.h"
#include "core/stages.h"
#include "core/trace.h"
#include "core/train/task_table.h"

namespace attn::view {
namespace {

constexpr std::string_view kInvitation =
    "Point at a token or a cell. From softmax on, this line shows where the token looks.";

/// What the cell that is looked at says about the sentence.
struct LookedAt {
    std::optional<Index> query, key;
};

LookedAt pair_of(const std::optional<CellRef>& cell) {
    if (!cell) return {};
    if (is_pair(cell->tensor)) return {cell->row, cell->column};
    if (has_rows_of(cell->tensor, Axis::query)) return {cell->row, std::nullopt};
    if (has_rows_of(cell->tensor, Axis::key)) return {std::nullopt, cell->row};
    return {};
}

/// Of the hovered cell, and what that leaves open, of the selected one.
LookedAt looked_at(const AppState& state) {
    const LookedAt hovered = pair_of(state.hovered);
    if (hovered.query || hovered.key) return hovered;
    return pair_of(state.selected);
}

/// Weights are known in the story from softmax on.
bool is_described(const AppState& state) {
    return state.stage >= Stage::weights && is_stored_stage(state, described_weights(state));
}

/// Whether the keys are other tokens than the queries, as key_tokens() decides.
bool has_own_keys(const Document& document) {
    return !document.tokens_kv.empty() || !document.inputs->x_kv.empty() ||
           document.size.tq != document.size.tk;
}

/// The matrix on the canvas, read once for all words.
struct Shown {
    const AppState& state;
    Stage stage;
    MatrixView<const float> values;  // 0 × 0: not kept

    explicit Shown(const AppState& of)
        : state(of), stage(of.stage), values(sheet_of(of, stage).values) {}
};

/// What one row of words is made of.
struct Source {
    const Shown& shown;
    std::vector<std::string> labels;
    const std::vector<std::string>& tokens;  // may be fewer: files need not name them
    Axis axis;
};

/// In the column of the selected cell if that belongs to the same matrix. nullopt if the matrix does not have the row.
std::optional<CellRef> row_cell(const Shown& shown, Index row) {
    if (row >= shown.values.rows || shown.values.columns == 0) return std::nullopt;
    const auto& selected = shown.state.selected;
    const bool same = selected && selected->tensor == OperandId(shown.stage);
    const Index column = same ? selected->column : 0;
    return CellRef{shown.stage, row, std::clamp(column, Index{0}, shown.values.columns - 1)};
}

std::optional<CellRef> query_cell(const Shown& shown, Index query) {
    if (info(shown.stage).rows != Axis::query || query >= shown.values.rows) return std::nullopt;
    if (!is_pair(shown.stage)) return row_cell(shown, query);
    return CellRef{shown.stage, query, largest_entry(shown.values.row(query))};
}

std::optional<CellRef> key_cell(const Shown& shown, std::optional<Index> query, Index key) {
    if (info(shown.stage).rows == Axis::key) return row_cell(shown, key);
    if (!is_pair(shown.stage) || key >= shown.values.columns) return std::nullopt;
    return CellRef{shown.stage, query.value_or(0), key};
}

std::optional<CellRef> cell_of(const Source& source, const SentenceView& view, Index n) {
    const Shown& shown = source.shown;
    const bool alone = !has_own_keys(shown.state.document());
    if (source.axis == Axis::key || (alone && info(shown.stage).rows == Axis::key))
        return key_cell(shown, view.query, n);
    return query_cell(shown, n);
}

std::string token_description(const Source& source, Index n) {
    const auto at = static_cast<std::size_t>(n);
    if (at >= source.tokens.size()) return fmt::format("token {}", n);
    return fmt::format("token {}: “{}”", n, shown_token(source.tokens[at], kMostTip));
}

WordRow row_of(const Source& source, const SentenceView& view, Index middle) {
    WordRow row;
    const Index count = std::ssize(source.labels);
    row.first =
        std::clamp(middle - kMostChips / 2, Index{0}, std::max<Index>(count - kMostChips, 0));
    const Index end = std::min(row.first + kMostChips, count);
    for (Index n = row.first; n < end; ++n) {
        WordChip chip;
        chip.text = source.labels[n];
        chip.tooltip = token_description(source, n);
        chip.cell = cell_of(source, view, n);
        chip.is_query = source.axis == Axis::query && view.query == n;
        row.chips.push_back(std::move(chip));
    }
    return row;
}

std::string weight_text(const WordChip& chip, bool weighed) {
    if (chip.look == ChipLook::masked && !weighed) return "masked";
    if (chip.look == ChipLook::masked)
        return std::isnan(chip.weight) ? "masked, but the weight is NaN"
                                       : "masked, so the weight is 0";
    if (chip.look == ChipLook::not_a_number) return "NaN";
    return percent(chip.weight);
}

/// The told weights, and how the canvas colours the row of the query.
struct Weights {
    MatrixView<const float> values;  // 0 × 0: not told yet
    ColorRange range;

    Weights(const AppState& state, const SentenceView& view) {
        if (!view.weighed) return;
        values = sheet_of(state, described_weights(state)).values;
        std::vector<float> all;
        for (Index i = 0; i < values.rows; ++i)
            all.insert(all.end(), values.row(i).begin(), values.row(i).end());
        range = with_look(range_of(ColorScale::unit, all), color_look(state));
        if (step_look(state).rows_scaled) range = range_of_row(range, values.row(*view.query));
    }
};

void shade(WordChip& chip, const ColorRange& range, ThemeName name) {
    if (chip.look == ChipLook::masked) chip.fill = theme(name).masked;
    if (chip.look == ChipLook::not_a_number) chip.fill = theme(name).nan;
    if (chip.look == ChipLook::weighed) chip.fill = color_of(range, chip.weight, name);
    chip.ink = ink_on(chip.fill, name);
}

/// The weights of the query on its words; before softmax only the words that the mask hides.
void weigh(SentenceView& view, const AppState& state, const std::string& query) {
    WordRow& row = view.keys.chips.empty() ? view.queries : view.keys;
    const std::vector<std::uint8_t> allowed = allowed_keys(state, *view.query);
    const Weights weights(state, view);
    Index key = row.first;
    for (WordChip& chip : row.chips) {
        const bool masked = allowed[key] == 0;
        if (view.weighed) {
            chip.weight = weights.values(*view.query, key);
            chip.look = std::isnan(chip.weight) ? ChipLook::not_a_number : ChipLook::weighed;
        }
        if (masked) chip.look = ChipLook::masked;
        ++key;
        if (chip.look == ChipLook::plain) continue;
        shade(chip, weights.range, state.theme);
        chip.tooltip +=
            fmt::format("\n{} → {}: {}", query, chip.text, weight_text(chip, view.weighed));
    }
}

std::string place_description(const AppState& state, const LookedAt& place) {
    const auto query = [&] { return axis_label(state, Axis::query, *place.query); };
    const auto key = [&] { return axis_label(state, Axis::key, *place.key); };
    if (place.query && place.key) return fmt::format("Query {}, key {}.", query(), key());
    if (place.query) return fmt::format("Query {}.", query());
    if (place.key) return fmt::format("Key {}.", key());
    return std::string(kInvitation);
}

WordChip left_out(Index word_count) {
    WordChip chip;
    chip.text = fmt::format("… {} more", word_count);
    chip.tooltip = "Hidden tokens: select one in the matrix.";
    chip.look = ChipLook::left_out;
    return chip;
}

/// Last of all, so that until here the n-th chip is the n-th word.
void add_left_out(WordRow& row, Index count) {
    const Index after = count - row.first - std::ssize(row.chips);
    if (after > 0) row.chips.push_back(left_out(after));
    if (row.first > 0) row.chips.insert(row.chips.begin(), left_out(row.first));
}

void mark_key(SentenceView& view, const LookedAt& place) {
    WordRow& row = view.keys.chips.empty() ? view.queries : view.keys;
    if (!place.key) return;
    const Index n = *place.key - row.first;
    if (n >= 0 && n < std::ssize(row.chips)) row.chips[n].is_key = true;
}

constexpr std::size_t kMostListed = 3;  // keys with a percentage of their own
constexpr double kEnough = 0.9;         // of the row: the rest needs no names
constexpr double kWorthListing = 0.01;
constexpr double kHalfPercent = 0.005;

struct Share {
    Index key = 0;
    double weight = 0.0;
};
/// Keys with exactly the same weight.
using Equals = std::vector<Share>;

/// A weight as a whole percentage, and its part of a reader's sum; none if it is a bound.
struct Percentage {
    std::string text;
    std::optional<long> counted;
};

Percentage percentage(double share) {
    if (share > 0.0 && share < kHalfPercent) return {"under 1 %", std::nullopt};
    if (share >= 1.0 - kHalfPercent && share < 1.0) return {"over 99 %", std::nullopt};
    const long whole = std::lround(100.0 * share);
    return {fmt::format("{} %", whole), whole};
}

/// What the weights leave of 1, which rounding may make 0 or less.
std::string sink_text(double share) {
    return share < kHalfPercent ? "under 1 %" : percentage(share).text;
}

/// What one row says, before it is words.
struct RowStory {
    const AppState& state;
    Index query = 0;
    std::vector<Share> shares;  // of the keys that it may attend to, largest first
    Index masked = 0;
    Index not_numbers = 0;
    double sum = 0.0;
    bool names_head = true;

    std::string name() const { return axis_label(state, Axis::query, query); }
    std::string key(const Share& share) const { return axis_label(state, Axis::key, share.key); }
    bool dropped() const { return described_weights(state) == Stage::dropped; }
};

RowStory story_of(const AppState& state, Index query) {
    RowStory story{state, query, {}};
    const auto row = sheet_of(state, described_weights(state)).values.row(query);
    const std::vector<std::uint8_t> allowed = allowed_keys(state, query);
    for (Index j = 0; j < std::ssize(row); ++j) {
        const double weight = row[j];
        const bool may = allowed[j] != 0;
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
    std::string text;
    if (story.names_head && story.state.document().size.heads > 1)
        text = fmt::format("Head {}", story.state.head);
    if (story.dropped()) text += text.empty() ? "After dropout" : ", after dropout";
    return text + (text.empty() ? "" : ": ") + story.name();
}

/// "the, cat, sat and 2 more".
std::string names(const RowStory& story, const Equals& group) {
    std::vector<std::string> listed;
    for (std::size_t n = 0; n < std::min(group.size(), kMostListed); ++n)
        listed.push_back(story.key(group[n]));
    if (group.size() > kMostListed)
        listed.push_back(fmt::format("{} more", group.size() - kMostListed));
    return joined(listed, " and ");
}

std::vector<Equals> grouped(const std::vector<Share>& shares) {
    std::vector<Equals> groups;
    for (const Share& share : shares) {
        if (groups.empty() || groups.back().front().weight != share.weight) groups.emplace_back();
        groups.back().push_back(share);
    }
    return groups;
}

/// How many of the groups are named: while there is room, until most of the row is told; one key that would
/// be left alone is named too.
std::size_t count_named(const std::vector<Equals>& groups, double sum) {
    std::size_t keys = groups.front().size();
    double described = groups.front().front().weight * static_cast<double>(keys);
    std::size_t named = 1;
    for (; named < groups.size(); ++named) {
        const Equals& next = groups[named];
        const bool full = keys + next.size() > kMostListed || described >= kEnough * sum;
        const bool last = named + 1 == groups.size() && next.size() == 1;
        if ((full && !last) || next.front().weight < kWorthListing) break;
        keys += next.size();
        described += next.front().weight * static_cast<double>(next.size());
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

std::string rest_text(std::span<const Equals> rest, Listing& listing) {
    std::size_t keys = 0;
    double share = 0.0;
    for (const Equals& group : rest) {
        keys += group.size();
        share += group.front().weight * static_cast<double>(group.size());
    }
    const std::string others = keys == 1 ? "1 other" : fmt::format("{} others", keys);
    if (share == 0.0) return others + " 0 %";
    const Percentage left = percentage(share);
    listing.add(left, 1);
    return others + " " + left.text;
}

std::string listed(const RowStory& story) {
    const std::vector<Equals> groups = grouped(story.shares);
    const std::size_t named = count_named(groups, story.sum);
    Listing listing;
    for (std::size_t n = 0; n < named; ++n) {
        const Equals& group = groups[n];
        const Percentage share = percentage(group.front().weight);
        listing.add(share, group.size());
        listing.parts.push_back(names(story, group) + " " + share.text +
                                (group.size() > 1 ? " each" : ""));
    }
    std::string text = fmt::format("{}", fmt::join(listing.parts, ", "));
    if (named < groups.size())
        text += ", and " + rest_text(std::span(groups).subspan(named), listing);
    return text + listing.note(story.sum);
}

constexpr double kFlatLargest = 2.0;  // of an even weight: more is visible
constexpr double kFlat = 0.95;        // evenness: no key stands out
constexpr std::size_t kFewKeys = 5;   // fewer are named also then

/// All keys have about the same weight, so that none is worth a name.
bool is_flat(const RowStory& story) {
    if (story.shares.size() < kFewKeys || std::abs(story.sum - 1.0) > kHalfPercent) return false;
    std::vector<double> row;
    for (const Share& share : story.shares) row.push_back(share.weight);
    return row.front() * static_cast<double>(row.size()) <= kFlatLargest &&
           row_metrics(row, std::ssize(row)).evenness > kFlat;
}

/// "the spreads its weight over 21 words: 3 % to 6 % each".
std::string flat_text(const RowStory& story) {
    const std::string low = percentage(story.shares.back().weight).text;
    const std::string high = percentage(story.shares.front().weight).text;
    return fmt::format("{} spreads its weight over {} {}: {} each", opening(story),
                       story.shares.size(), story.masked > 0 ? "tokens that it can see" : "tokens",
                       low == high ? "about " + high : low + " to " + high);
}

/// Every key that may be looked at has the same weight.
std::string even_text(const RowStory& story) {
    const Percentage each = percentage(story.shares.front().weight);
    Listing listing;
    listing.add(each, story.shares.size());
    const char* which = story.masked > 0 ? "tokens that it can see" : "tokens";
    const std::string all =
        story.shares.size() == 2 ? "both" : fmt::format("all {}", story.shares.size());
    return fmt::format("{} attends equally to {} {}, {} each{}", opening(story), all, which,
                       each.text, listing.note(story.sum));
}

std::string nan_text(const RowStory& story) {
    const Index count = std::ssize(story.shares) + story.masked;
    if (story.shares.empty())
        return fmt::format("{} can see no token, and its weights are NaN", opening(story));
    if (story.not_numbers == count) return fmt::format("{} has only NaN weights", opening(story));
    return fmt::format("{} has NaN in {} of {} weights", opening(story), story.not_numbers, count);
}

/// Some keys get more than others: what listed() says.
bool is_spread(const RowStory& story) {
    return story.not_numbers == 0 && story.shares.size() > 1 &&
           story.shares.front().weight != 0.0 &&
           story.shares.front().weight != story.shares.back().weight;
}

std::string spread_description(const RowStory& story) {
    if (is_spread(story) && is_flat(story)) return flat_text(story);
    if (is_spread(story)) return fmt::format("{} looks at {}", opening(story), listed(story));
    if (story.not_numbers > 0) return nan_text(story);
    if (story.shares.empty())
        return fmt::format("{} can see no token: its weights are 0", opening(story));
    if (story.shares.front().weight == 0.0)
        return fmt::format("{} looks at no token: its weights are 0", opening(story));
    if (story.shares.size() == 1)
        return fmt::format("{} can see only {}: {}", opening(story),
                           story.key(story.shares.front()),
                           percentage(story.shares.front().weight).text);
    return even_text(story);
}

}  // namespace

SentenceView build_sentence_view(const AppState& state) {
    SentenceView view;
    if (!step_missing_data(state).empty()) return view;
    const Document& document = state.document();
    const Dimensions& size = document.size;
    const Shown shown(state);
    const LookedAt place = looked_at(state);
    view.weighed = is_described(state);
    view.query = place.query;
    if (view.weighed && !view.query) view.query = 0;
    const Index middle = view.query.value_or(place.key.value_or(0));
    view.queries = row_of({shown, axis_labels(state, Axis::query, size.tq),
                           tokens_of(document, state.batch), Axis::query},
                          view, middle);
    if (has_own_keys(document)) {
        const Index key = place.key.value_or(0);
        view.keys =
            row_of({shown, axis_labels(state, Axis::key, size.tk), document.tokens_kv, Axis::key},
                   view, key);
    }
    mark_key(view, place);
    view.text = view.weighed ? attention_text(state, *view.query) : place_description(state, place);
    if (view.query && (view.weighed || state.stage == Stage::masked))
        weigh(view, state, axis_label(state, Axis::query, *view.query));
    add_left_out(view.queries, size.tq);
    if (has_own_keys(document)) add_left_out(view.keys, size.tk);
    return view;
}

Stage described_weights(const AppState& state) {
    return state.stage == Stage::weights ? Stage::weights : weight_stage(state.document());
}

std::vector<std::uint8_t> allowed_keys(const AppState& state, Index query) {
    const Document& document = state.document();
    std::vector<std::uint8_t> allowed(document.size.tk);
    fill_allowed(document.spec.mask, document.size, state.batch, state.head, query, allowed);
    return allowed;
}

std::string attention_text(const AppState& state, Index query) {
    const RowStory story = story_of(state, query);
    std::string text = spread_description(story);
    if (story.masked > 0 && !story.shares.empty()) text += fmt::format("; {} masked", story.masked);
    const bool sinks = has_sinks(state.document());
    if (sinks && !story.dropped() && story.not_numbers == 0)
        text += "; the sink takes " + sink_text(1.0 - story.sum);
    return text + ".";
}

std::vector<HeadlinePart> attention_headline(const AppState& state, Index query) {
    RowStory story = story_of(state, query);
    story.names_head = false;
    if (!is_spread(story) || is_flat(story)) return {{spread_description(story)}};
    std::vector<HeadlinePart> parts{{opening(story), Role::query}, {" looks at "}};
    const std::vector<Equals> groups = grouped(story.shares);
    for (std::size_t n = 0; n < count_named(groups, story.sum); ++n) {
        const Equals& group = groups[n];
        if (n > 0) parts.push_back({", "});
        parts.push_back({names(story, group), Role::key});
        parts.push_back({" " + percentage(group.front().weight).text, Role::weight});
        if (group.size() > 1) parts.push_back({" each"});
    }
    return parts;
}

}  // namespace attn::view
