#include <cmath>

#include <fmt/format.h>

#include "app/common/apart.h"
#include "app/common/format.h"
#include "app/common/sheet.h"
#include "app/common/state.h"
#include "app/common/text.h"
#include "app/workspaces/masks/conventions.h"
#include "app/workspaces/masks/long.h"
#include "app/workspaces/masks/view_parts.h"
#include "core/metrics.h"

namespace attn::view {
namespace {

constexpr std::size_t kMostCompared = 4;

using Rows = std::vector<RowComparison>;

/// "“fill with −1e9” differs from “−∞, empty rows 0” in 1 of 4 rows."
std::string point_text(const AppState& state, const Rows& rows, const Tensor& change) {
    const std::string_view first = chosen_convention(state, 0).full;
    const std::string_view second = chosen_convention(state, 1).full;
    const auto count = std::ranges::count_if(rows, &RowComparison::differs);
    if (count == 0)
        return fmt::format("“{}” gives the same {} weights as “{}”, up to rounding.", second,
                           grouped(change.count()), first);
    std::string text = fmt::format("“{}” differs from “{}” in {} of {} rows", second, first, count,
                                   std::ssize(rows));
    const auto most = std::ranges::max_element(rows, {}, &RowComparison::difference);
    const auto [second_weight, first_weight] = distinguished(most->weight[1], most->weight[0]);
    std::vector<double> differences;
    for (const float by : change.values())
        differences.push_back(std::isnan(by) ? HUGE_VAL : std::abs(double{by}));
    const auto ties = std::ssize(largest_places(std::span<const double>(differences), kTied)) - 1;
    return fmt::format(
        "{}, most at {}, key {}{}: {} against {}.", text, masks_row_name(state, most->row),
        most->key, ties == 0 ? "" : fmt::format(" (as much in {})", counted(ties, "other cell")),
        second_weight, first_weight);
}

/// Of two that make no difference.
std::string alike_text(const ConventionScores& scores) {
    if (std::ranges::count(scores.mask, 0) == 0)
        return "No pair is masked, so the two conventions agree.";
    return "The two conventions give the same weights here.";
}

std::vector<std::string> notes_of(const AppState& state, const ConventionScores& scores,
                                  const Rows& rows, const ConventionResult& first,
                                  const ConventionResult& second) {
    std::vector<std::string> notes;
    const auto count =
        static_cast<std::size_t>(std::ranges::count_if(rows, &RowComparison::differs));
    const std::size_t most = count > kMostCompared ? kMostCompared - 1 : count;
    for (const RowComparison& row : rows)
        if (row.differs && notes.size() < most)
            notes.push_back(sentence(row_note(state, scores, row, first, second)));
    if (count == 0) notes.push_back(alike_text(scores));
    if (count > most) notes.push_back(fmt::format("{} more rows differ.", count - most));
    return notes;
}

GridView weights_grid(const AppState& state, const ConventionResult& result, std::size_t side) {
    const ConventionInfo& row = chosen_convention(state, side);
    const auto values = result.weights.matrix(0, 0);
    GridView grid = pair_grid(
        state,
        {std::string(row.full), std::string(row.text), Role::weight, ColorScale::unit, values, {}});
    grid.sides.push_back(sums_of(values, Role::weight));
    return grid;
}

/// second − first; 0 where both are NaN, NaN where one is.
Tensor difference_of(const ConventionResult& first, const ConventionResult& second) {
    Tensor difference(first.weights.shape());
    const auto a = first.weights.values();
    const auto b = second.weights.values();
    for (std::size_t n = 0; n < a.size(); ++n)
        difference.values()[n] = std::isnan(a[n]) && std::isnan(b[n]) ? 0.0F : b[n] - a[n];
    return difference;
}

GridView difference_grid(const AppState& state, const ConventionResult& first,
                         const ConventionResult& second, const Rows& rows) {
    const Tensor difference = difference_of(first, second);
    GridView grid = pair_grid(state, {"difference",
                                      "second weights minus first; NaN if only one is NaN",
                                      Role::score,
                                      ColorScale::diverging,
                                      difference.matrix(0, 0),
                                      {}});
    SideVector largest{"max |Δ|", "the largest difference of the row", {}, Role::score};
    for (const RowComparison& row : rows)
        largest.cells.push_back(std::isinf(row.difference) ? "NaN"
                                                           : cell_number(row.difference, 2));
    grid.sides.push_back(std::move(largest));
    return grid;
}

/// The same three as maps.
MapCellsPtr weights_cells(const AppState& state, const MasksLong& found, std::size_t side) {
    const auto values = found.results[side]->weights.matrix(0, 0);
    return make_cells({.title = std::string(chosen_convention(state, side).full),
                       .noun = "weight",
                       .values = values,
                       .owner = found.results[side],
                       .range = weights_range(values)});
}

MapCellsSet compared_cells(const AppState& state, const MasksLong& found) {
    const Tensor change = difference_of(*found.results[0], *found.results[1]);
    const auto values = change.values();
    return {weights_cells(state, found, 0), weights_cells(state, found, 1),
            make_cells({.title = "difference",
                        .noun = "difference",
                        .role = Role::score,
                        .range = signed_range(change.matrix(0, 0))},
                       {values.begin(), values.end()}, change.shape().d)};
}

/// Every row of the table against the first of the two.
std::vector<ConventionGroup> groups_of(const AppState& state, const ConventionScores& scores,
                                       const ConventionResult& first) {
    std::vector<ConventionGroup> groups;
    for (const ConventionInfo& row : convention_table()) {
        if (groups.empty() || groups.back().title != row.group)
            groups.push_back({std::string(row.group), {}});
        const auto rows =
            compare_rows(scores.mask, first.weights, result_of(scores, row.convention).weights);
        ConventionView view{std::string(row.key), std::string(row.name), verdict_text(rows),
                            std::string(row.text)};
        view.first = row.key == chosen_convention(state, 0).key;
        view.second = row.key == chosen_convention(state, 1).key;
        view.differs = std::ranges::any_of(rows, &RowComparison::differs);
        groups.back().rows.push_back(std::move(view));
    }
    return groups;
}

void add_gains(const AppState& state, MasksView& view) {
    for (std::size_t n = 0; n < std::size(kConventionGains); ++n) {
        const Index decades = kConventionGains[n];
        view.gain_names.push_back(decades == 0 ? "× 1"
                                               : "× " + power_of_ten(static_cast<int>(decades)));
        view.gains.push_back(decades);
        if (decades == masks_look(state).gain) view.gain = static_cast<int>(n);
    }
}

std::string no_scores_text(const AppState& state) {
    if (const std::string lack = scores_lack(state); !lack.empty())
        return fmt::format("{}: there are no scores on which to compare conventions.", lack);
    return fmt::format(
        "The backend {} does not store the scores: choose another to compare conventions.",
        state.backend_used);
}

}  // namespace

void add_comparison(const AppState& state, MasksView& view, MasksLong* found) {
    add_gains(state, view);
    auto made = std::make_shared<const ConventionScores>(convention_scores(state));
    const ConventionScores& scores = *made;
    if (scores.scores.empty()) {
        view.unavailable = no_scores_text(state);
        view.point = view.unavailable;
        return;
    }
    const auto result = [&](std::size_t side) {
        return std::make_shared<const ConventionResult>(
            result_of(scores, chosen_convention(state, side).convention));
    };
    const std::array results{result(0), result(1)};
    const ConventionResult& first = *results[0];
    const ConventionResult& second = *results[1];
    const Rows rows = compare_rows(scores.mask, first.weights, second.weights);
    if (found != nullptr) {
        found->scores = made;
        found->results = results;
        found->cells = compared_cells(state, *found);
    } else {
        view.grids = {weights_grid(state, first, 0), weights_grid(state, second, 1),
                      difference_grid(state, first, second, rows)};
        share_range({&view.grids[0], &view.grids[1]}, state.theme);
        view.both = "both conventions";
    }
    view.point = point_text(state, rows, difference_of(first, second));
    view.notes = notes_of(state, scores, rows, first, second);
    view.groups = groups_of(state, scores, first);
    view.flagged = empty_rows(state, scores.mask);
}

}  // namespace attn::view
