#include "app/workspaces/masks/conventions.h"

#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/common/apart.h"
#include "app/common/document/document.h"
#include "app/common/document/mask_rules.h"
#include "app/common/format.h"
#include "app/common/state.h"
#include "app/workspaces/masks/long.h"
#include "app/workspaces/masks/view_parts.h"

namespace attn::view {
namespace {

using enum MaskFill;

constexpr std::string_view kEmpty = "Empty rows under −∞";
constexpr std::string_view kReading = "Meaning of a 1";
constexpr std::string_view kWritten = "A fill instead of −∞";
constexpr std::string_view kAdded = "A fill added to the score";
constexpr std::string_view kAfter = "Masked after softmax";
constexpr std::string_view kNever = "No mask at inference";

constexpr ConventionInfo kTable[] = {
    {"zero",
     kEmpty,
     "give 0",
     "−∞, empty rows 0",
     "Forbidden scores become −∞; a row with no allowed key gives 0.",
     {.empty = EmptyResult::zero}},
    {"nan",
     kEmpty,
     "give NaN",
     "−∞, empty rows NaN",
     "Forbidden scores become −∞; a row with no allowed key and no sink gives −∞ − (−∞) = NaN.",
     {}},
    {"uniform",
     kEmpty,
     "give 1/Tk each",
     "−∞, empty rows uniform",
     "Forbidden scores become −∞; a row with no allowed key and no sink gives all keys the same "
     "weight.",
     {.empty = EmptyResult::uniform}},
    {"hide",
     kReading,
     "forbidden",
     "1 read as forbidden",
     "The same array with the opposite meaning: 1 forbids. nn.MultiheadAttention reads "
     "attn_mask and key_padding_mask this way.",
     {.reading = MaskReading::hide}},
    {"float",
     kReading,
     "1 is added",
     "0 and 1 added",
     "The mask is a float array: its 1s and 0s are added to the scores, and no pair is forbidden.",
     {.reading = MaskReading::added}},
    {"1e9",
     kWritten,
     "−1e9",
     "fill with −1e9",
     "masked_fill(mask, −1e9), then softmax.",
     {.fill = minus_1e9}},
    {"1e5",
     kWritten,
     "−1e5",
     "fill with −1e5",
     "masked_fill(mask, −1e5), then softmax.",
     {.fill = minus_1e5}},
    {"lowest",
     kWritten,
     "lowest float",
     "fill with the lowest float",
     "masked_fill(mask, −3.4e38), then softmax.",
     {.fill = lowest}},
    {"times_zero",
     kWritten,
     "0 (score · mask)",
     "multiplied by 0",
     "Scores are multiplied by the mask: a forbidden score becomes 0 and still gets weight, "
     "because e⁰ = 1.",
     {.fill = zero}},
    {"add_inf",
     kAdded,
     "+ (−∞)",
     "−∞ added",
     "0 or −∞ is added to the score.",
     {.mode = FillMode::added}},
    {"add_1e9",
     kAdded,
     "+ (−1e9)",
     "−1e9 added",
     "0 or −1e9 is added to the score, rounded to float32.",
     {.fill = minus_1e9, .mode = FillMode::added}},
    {"add_1e5",
     kAdded,
     "+ (−1e5)",
     "−1e5 added",
     "0 or −1e5 is added to the score, rounded to float32.",
     {.fill = minus_1e5, .mode = FillMode::added}},
    {"add_lowest",
     kAdded,
     "+ lowest float",
     "the lowest float added",
     "0 or −3.4e38 is added to the score, rounded to float32.",
     {.fill = lowest, .mode = FillMode::added}},
    {"after",
     kAfter,
     "set to 0",
     "masked after softmax",
     "Softmax over all keys, then forbidden weights become 0.",
     {.moment = MaskMoment::after}},
    {"after_renormalised",
     kAfter,
     "0, then ÷ Σ",
     "masked after softmax, renormalised",
     "Softmax over all keys; then forbidden weights become 0 and the others are divided by their "
     "sum.",
     {.moment = MaskMoment::after_renormalised}},
    {"never",
     kNever,
     "left out",
     "no mask",
     "Softmax over all keys, as if no mask were needed. In a pass over several tokens, "
     "such as a prompt, queries then see forbidden keys. A query that may see every key keeps its "
     "weights; the others can lose weight to forbidden keys.",
     {.moment = MaskMoment::never}},
};

std::string weight_text(double weight) { return std::isnan(weight) ? "NaN" : percent(weight); }

/// "key 2", "keys 0, 1 and 3", "keys 0 … 7" of those that lie together.
std::string keys_text(const std::vector<Index>& keys) {
    if (keys.size() == 1) return fmt::format("key {}", keys.front());
    const bool together = keys.back() - keys.front() + 1 == std::ssize(keys);
    if (together && keys.size() > 2) return fmt::format("keys {} … {}", keys.front(), keys.back());
    if (keys.size() > 6) return fmt::format("{} keys", keys.size());
    const std::vector<Index> first(keys.begin(), keys.end() - 1);
    return fmt::format("keys {} and {}", fmt::join(first, ", "), keys.back());
}

/// Keys that the mask forbids and that have a weight all the same.
std::vector<Index> leaking_keys(const ConventionScores& scores, const ConventionResult& result,
                                Index row) {
    const Index keys = scores.scores.shape().d;
    std::vector<Index> leaking;
    for (Index j = 0; j < keys; ++j) {
        const bool forbidden = scores.mask[row * keys + j] == 0;
        if (forbidden && result.weights(0, 0, row, j) > rounding_of(keys)) leaking.push_back(j);
    }
    return leaking;
}

/// "keys 2 and 3 get 50 % each".
std::string leak_text(const ConventionResult& result, Index row, const std::vector<Index>& keys) {
    const auto weight = [&](Index j) { return result.weights(0, 0, row, j); };
    const bool alike =
        std::ranges::all_of(keys, [&](Index j) { return weight(j) == weight(keys.front()); });
    if (keys.size() == 1 || alike)
        return fmt::format("{} get{} {}{}", keys_text(keys), keys.size() == 1 ? "s" : "",
                           percent_text(weight(keys.front())), keys.size() == 1 ? "" : " each");
    double together = 0.0;
    for (const Index j : keys) together += weight(j);
    return fmt::format("{} get {} together", keys_text(keys), percent_text(together));
}

}  // namespace

std::span<const ConventionInfo> convention_table() { return kTable; }

const ConventionInfo* find_convention(std::string_view key) {
    const auto* const found = std::ranges::find(kTable, key, &ConventionInfo::key);
    return found == std::end(kTable) ? nullptr : found;
}

const ConventionInfo& chosen_convention(const AppState& state, std::size_t side) {
    const ConventionInfo* const found = find_convention(masks_look(state).conventions[side]);
    return found == nullptr ? kTable[0] : *found;
}

ConventionScores convention_scores(const AppState& state, float gain) {
    const Document& document = state.document();
    const auto values = unmasked_scores(state);
    ConventionScores scores;
    scores.mask = pairs_allowed_by(state, document.spec.mask);
    const Tensor& sinks = document.inputs->params[Param::sinks];
    if (!sinks.empty()) scores.sink = sinks(0, 0, 0, state.head);
    if (values.rows == 0 || values.columns == 0) return scores;
    scores.scores = Tensor(Shape{1, 1, values.rows, values.columns});
    for (const auto [i, j] : each_cell(values)) scores.scores(0, 0, i, j) = values(i, j) * gain;
    return scores;
}

ConventionScores convention_scores(const AppState& state) {
    return convention_scores(state, static_cast<float>(std::pow(10.0, masks_look(state).gain)));
}

ConventionResult result_of(const ConventionScores& scores, const MaskConvention& convention) {
    return apply_convention(convention, scores.input());
}

std::string row_note(const AppState& state, const ConventionScores& scores,
                     const RowComparison& row, const ConventionResult& first,
                     const ConventionResult& second) {
    const std::array<const ConventionResult*, 2> results{&first, &second};
    const auto full = [&](std::size_t side) { return chosen_convention(state, side).full; };
    const std::string where =
        masks_row_name(state, row.row) + (row.empty ? ", all masked: " : ": ");
    for (const std::size_t side : {std::size_t{1}, std::size_t{0}}) {
        if (row.has_nan[0] || row.has_nan[1]) break;
        const auto leaking = leaking_keys(scores, *results[side], row.row);
        if (leaking.empty() || row.forbidden[side] <= row.forbidden[1 - side]) continue;
        return fmt::format("{}{} under “{}”, {} under “{}”", where,
                           leak_text(*results[side], row.row, leaking), full(side),
                           percent_text(row.forbidden[1 - side]), full(1 - side));
    }
    if (!row.has_nan[0] && !row.has_nan[1] &&
        std::abs(row.sum[0] - row.sum[1]) > rounding_of(scores.scores.shape().d)) {
        const auto [second_sum, first_sum] = distinguished(row.sum[1], row.sum[0]);
        return fmt::format("{}its weights sum to {} under “{}”, to {} under “{}”", where,
                           second_sum, full(1), first_sum, full(0));
    }
    const bool nan = std::isnan(row.weight[0]) || std::isnan(row.weight[1]);
    const auto weights = nan ? std::pair(weight_text(row.weight[0]), weight_text(row.weight[1]))
                             : percents_apart(row.weight[0], row.weight[1]);
    return fmt::format("{}key {} gets {} under “{}”, {} under “{}”", where, row.key, weights.second,
                       full(1), weights.first, full(0));
}

/// At two digits, never below it.
double rounded_up(double value) {
    if (value <= 0.0 || !std::isfinite(value)) return value;
    const double unit = std::pow(10.0, std::floor(std::log10(value)) - 1.0);
    return std::ceil(value / unit * (1.0 - 1e-12)) * unit;
}

std::string verdict_text(std::span<const RowComparison> rows) {
    const Index differing = std::ranges::count_if(rows, &RowComparison::differs);
    if (differing == 0) return "same";
    double largest = 0.0;
    for (const RowComparison& row : rows) largest = std::max(largest, row.difference);
    return fmt::format("{} row{}, {}", differing, differing == 1 ? "" : "s",
                       std::isinf(largest) ? "NaN" : "≤ " + significant(rounded_up(largest), 2));
}

}  // namespace attn::view
