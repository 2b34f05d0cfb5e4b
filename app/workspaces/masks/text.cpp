#include <cmath>

#include <fmt/format.h>

#include "app/common/document/document.h"
#include "app/common/document/mask_rules.h"
#include "app/common/format.h"
#include "app/common/sheet.h"
#include "app/common/state.h"
#include "app/common/text.h"
#include "app/workspaces/masks/long.h"
#include "app/workspaces/masks/view_parts.h"
#include "core/stages.h"

namespace attn::view {
namespace {

constexpr std::size_t kMostNotes = 4;

/// The smallest and the largest row sum of the weights, of rows that have a key, and whether one is NaN.
struct Sums {
    double low = std::numeric_limits<double>::infinity();
    double high = -std::numeric_limits<double>::infinity();
    Index nan_rows = 0;
    Index rows = 0;
};

Sums sums_of_rows(const AppState& state, const std::vector<bool>& empty) {
    const auto values = masks_values(state, Stage::weights);
    Sums sums;
    for (Index i = 0; i < values.rows; ++i) {
        if (empty[i]) continue;
        double sum = 0.0;
        for (const float weight : values.row(i)) sum += weight;
        ++sums.rows;
        if (std::isnan(sum)) {
            ++sums.nan_rows;
            continue;
        }
        sums.low = std::min(sums.low, sum);
        sums.high = std::max(sums.high, sum);
    }
    return sums;
}

/// ": every row of weights sums to 1."; "" where there are no weights.
std::string sums_text(const AppState& state, const std::vector<bool>& empty) {
    const Sums sums = sums_of_rows(state, empty);
    if (sums.rows == 0) return {};
    const bool all = std::ranges::count(empty, true) == 0;
    const char* which = all ? "every row" : "every other row";
    if (sums.nan_rows > 0)
        return fmt::format("; {} row{} of weights {} NaN", sums.nan_rows,
                           sums.nan_rows == 1 ? "" : "s",
                           sums.nan_rows == 1 ? "contains" : "contain");
    const double rounding = 1e-5 * static_cast<double>(state.document().size.tk);
    if (std::abs(sums.low - 1.0) <= rounding && std::abs(sums.high - 1.0) <= rounding)
        return fmt::format("; {} of weights sums to 1", which);
    const bool sinks = has_sinks(state.document());
    return fmt::format("; rows of weights sum to {} … {}{}", number(sums.low), number(sums.high),
                       sinks ? ", and the sink takes the rest" : "");
}

std::string empty_text(const AppState& state, const std::vector<bool>& empty) {
    const auto count = std::ranges::count(empty, true);
    const auto first = std::ranges::find(empty, true) - empty.begin();
    if (count == 0) return {};
    if (count == 1) return fmt::format(", and no key to {}", masks_row_name(state, first));
    return fmt::format(", and no key to {} rows", count);
}

/// What softmax gives a row without a key, by the policy and the sink.
std::string empty_result(const AppState& state) {
    if (has_sinks(state.document())) return "the sink takes all the weight, and every key gets 0";
    if (state.document().spec.empty_rows == EmptyRows::nan)
        return "its weights and its context are NaN";
    return "its weights and its context are 0";
}

}  // namespace

std::string masks_row_name(const AppState& state, Index row) {
    if (state.document().tokens.empty()) return fmt::format("row {}", row);
    return fmt::format("row {} ({})", row, axis_label(state, Axis::query, row));
}

std::vector<bool> empty_rows(const AppState& state, std::span<const std::uint8_t> allowed) {
    const auto keys = static_cast<std::size_t>(state.document().size.tk);
    std::vector<bool> empty;
    for (std::size_t at = 0; at < allowed.size(); at += keys)
        empty.push_back(count_allowed(allowed.subspan(at, keys)) == 0);
    return empty;
}

std::string compose_point(const AppState& state, std::span<const std::uint8_t> allowed) {
    const Dimensions& size = state.document().size;
    const Index count = size.tq * size.tk;
    const std::string pairs = grouped(count) + (count == 1 ? " pair" : " pairs");
    const std::vector<bool> empty = empty_rows(state, allowed);
    if (!state.document().spec.mask.any())
        return fmt::format("No mask: every query may attend to every key, {} × {} = {}{}.", size.tq,
                           size.tk, pairs, sums_text(state, empty));
    return fmt::format("The mask allows {} of {}{}{}.", grouped(count_allowed(allowed)), pairs,
                       empty_text(state, empty), sums_text(state, empty));
}

std::vector<std::string> empty_row_notes(const AppState& state,
                                         std::span<const std::uint8_t> allowed) {
    const std::vector<bool> empty = empty_rows(state, allowed);
    std::vector<std::string> notes;
    const auto count = static_cast<std::size_t>(std::ranges::count(empty, true));
    for (std::size_t i = 0; i < empty.size() && notes.size() < kMostNotes; ++i)
        if (empty[i])
            notes.push_back(sentence(fmt::format("{} has no allowed key: {}",
                                                 masks_row_name(state, static_cast<Index>(i)),
                                                 empty_result(state))));
    if (count > notes.size() && !notes.empty()) {
        notes.pop_back();
        notes.push_back(fmt::format("{} more rows have no allowed key.", count - notes.size()));
    }
    return notes;
}

}  // namespace attn::view
