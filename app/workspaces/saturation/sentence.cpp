#include "app/workspaces/saturation/sentence.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "app/common/document/document.h"
#include "app/common/format.h"
#include "app/common/sheet.h"
#include "app/common/state.h"
#include "app/workspaces/saturation/state.h"
#include "core/spec.h"

namespace attn::view {
namespace {

constexpr Index kMostTokens = 24;

/// Softmax of the scores times a factor; all NaN where no score is finite, or one is not a number.
std::vector<double> row_weights(const std::vector<double>& scores, double factor) {
    const double most = *std::ranges::max_element(scores);
    std::vector<double> weights;
    double sum = 0.0;
    for (const double score : scores) {
        weights.push_back(std::exp((score - most) * factor));
        sum += weights.back();
    }
    for (double& weight : weights) weight /= sum;
    return weights;
}

/// The scores before softmax: masked where there is a mask.
Sheet scores_of(const AppState& state) {
    for (const Stage stage : {Stage::masked, Stage::biased, Stage::scaled})
        if (is_stored_stage(state, stage))
            if (Sheet sheet = sheet_of(state, stage); sheet.values.rows > 0) return sheet;
    return {};
}

std::size_t selected_query(const AppState& state, std::size_t rows) {
    if (!state.selected || sheet_of(state, state.selected->tensor).row_role != Role::query)
        return rows - 1;
    return std::min(static_cast<std::size_t>(state.selected->row), rows - 1);
}

}  // namespace

std::optional<SentenceAtWidth> sentence_at_width(const AppState& state) {
    const Sheet scores = scores_of(state);
    const Index rows = scores.values.rows, columns = scores.values.columns;
    if (rows < 2 || columns < 2 || rows > kMostTokens || columns > kMostTokens) return std::nullopt;
    const auto own = static_cast<double>(state.document().size.d_k);
    const double divided = state.document().spec.scale == ScaleKind::none ? std::sqrt(own) : 1.0;
    const Index d_k = shown_saturation(state).d_k;
    SentenceAtWidth view;
    view.queries = scores.row_labels;
    view.keys = scores.column_labels;
    view.one_text = view.queries == view.keys;
    view.query = selected_query(state, static_cast<std::size_t>(rows));
    for (std::size_t side = 0; side < 2; ++side) {
        view.sides[side].scaled = side == 0;
        const double factor = (side == 0 ? 1.0 : std::sqrt(static_cast<double>(d_k))) / divided;
        for (Index i = 0; i < rows; ++i) {
            std::vector<double> row;
            for (Index j = 0; j < columns; ++j) row.push_back(double{scores.values(i, j)});
            for (const double weight : row_weights(row, factor))
                view.sides[side].weights.push_back(weight);
        }
    }
    const auto first = static_cast<std::ptrdiff_t>(view.query) * columns;
    const auto& with = view.sides[0].weights;
    view.key = static_cast<std::size_t>(
        std::max_element(with.begin() + first, with.begin() + first + columns) -
        (with.begin() + first));
    for (SentenceSide& side : view.sides) {
        const double weight =
            side.weights[view.query * static_cast<std::size_t>(columns) + view.key];
        side.title = fmt::format("{} scaling: {} looks at {} {}", side.scaled ? "with" : "without",
                                 view.queries[view.query], view.keys[view.key],
                                 std::isnan(weight) ? "NaN" : percent(weight));
    }
    view.tip = fmt::format(
        "The open sentence. With scaling, softmax gets its scores z. Without scaling, it gets "
        "z √d_k: at d_k = {} each score is {} times as large.",
        d_k, significant(std::sqrt(static_cast<double>(d_k)), 3));
    return view;
}

}  // namespace attn::view
