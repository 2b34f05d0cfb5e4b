#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "app/common/document/document.h"
#include "app/common/format.h"
#include "app/common/sheet.h"
#include "app/common/state.h"
#include "app/common/text.h"
#include "app/workspaces/step/sentence.h"
#include "app/workspaces/step/view.h"
#include "core/stages.h"

namespace attn::view {

namespace {

using Reasons = std::vector<std::string>;

/// The scores of a row that softmax gets, −∞ where a pair is masked, and their keys by size.
struct ScoreRow {
    std::vector<double> scores;
    std::vector<Index> order;
    bool is_finite = true;  // but for masked pairs
};
ScoreRow score_row(const AppState& state, Index query) {
    ScoreRow row;
    const Sheet sheet = sheet_of(state, Stage::masked);
    if (query >= sheet.values.rows) return row;
    for (const float score : sheet.values.row(query)) {
        row.order.push_back(std::ssize(row.scores));
        row.scores.push_back(double{score});
        row.is_finite = row.is_finite && !std::isnan(score) && score != HUGE_VALF;
    }
    std::ranges::stable_sort(row.order, std::greater<>(), [&](Index n) { return row.scores[n]; });
    return row;
}

Reasons weight_reasons(const AppState& state) {
    const auto query = build_sentence_view(state).query;
    if (!query || !is_stored_stage(state, Stage::masked)) return {};
    const ScoreRow row = score_row(state, *query);
    if (!row.is_finite || row.order.empty() || std::isinf(row.scores[row.order[0]])) return {};
    if (row.order.size() == 1 || std::isinf(row.scores[row.order[1]]))
        return {"The row has a single allowed key, so there is nothing to compare it with."};
    const double first = row.scores[row.order[0]], second = row.scores[row.order[1]];
    Reasons reasons{
        fmt::format("The score of “{}” for “{}” is {}; the second largest of its row is {}.",
                    axis_label(state, Axis::query, *query),
                    axis_label(state, Axis::key, row.order[0]), number(first), number(second))};
    const double lead = first - second, factor = std::exp(lead);
    if (lead == 0.0)
        reasons.emplace_back("Equal scores get equal weights.");
    else if (std::isfinite(factor))
        reasons.push_back(
            fmt::format("Softmax raises e to each score, so a lead of {} makes a weight e^{} = {} "
                        "times as large.",
                        number(lead), number(lead), significant(factor, 3)));
    if (!has_sinks(state.document()))
        reasons.emplace_back("Division of the powers by their sum makes the row sum to 1.");
    return reasons;
}

/// Where one key has nearly all the weight, the context is nearly its value.
Reasons context_reasons(const AppState& state) {
    Reasons reasons;
    const auto query = build_sentence_view(state).query;
    if (!query || !is_stored_stage(state, Stage::weights)) return reasons;
    const Sheet weights = sheet_of(state, Stage::weights);
    if (*query >= weights.values.rows) return reasons;
    const auto row = weights.values.row(*query);
    double sum = 0.0;
    for (const float weight : row) sum += double{weight};
    if (!state.document().spec.drops() && std::abs(sum - 1.0) < 1e-4)
        reasons.emplace_back(
            "The weights of this row sum to 1, so its context is an average of the values.");
    const auto most = std::ranges::max_element(row);
    if (most == row.end() || !(*most > 0.9F && *most <= 1.0F)) return reasons;
    const std::string key = axis_label(state, Axis::key, most - row.begin());
    reasons.push_back(
        fmt::format("“{}” gives “{}” {} of its weight, so its context lies near the value of “{}”.",
                    axis_label(state, Axis::query, *query), key, percent_text(double{*most}), key));
    return reasons;
}

Reasons scaled_reasons(const AppState& state) {
    const Document& document = state.document();
    const Index d_k = document.size.d_k;
    return {
        fmt::format("A score is a sum of {}. If their factors are independent with mean 0 and "
                    "variance 1, the sum has variance {} and standard deviation {}.",
                    counted(d_k, "product"), d_k,
                    significant(std::sqrt(static_cast<double>(d_k)), 3)),
        document.spec.scale == ScaleKind::none
            ? "Scaling is off: large differences reach softmax, which then passes little "
              "gradient."
            : "Division by √d_k brings the variance back to 1. Softmax then saturates less, and "
              "gradients reach Q and K."};
}

}  // namespace

std::vector<std::string> step_reasons(const AppState& state) {
    if (state.show_gradients || is_empty(state.document())) return {};
    switch (state.stage) {
        case Stage::x:
        case Stage::x_kv:
            return {"A model computes with vectors, so each token becomes one.",
                    "Training gives similar vectors to words that are used alike."};
        case Stage::q:
        case Stage::k:
        case Stage::v:
            return {"One matrix serves all tokens, so attention works for a text of any length.",
                    "Three matrices let a token ask for one thing, be found by another, and pass "
                    "on a third."};
        case Stage::scores:
            return {"A dot product is large if query and key point the same way and are long.",
                    "Training changes W_Q and W_K until useful keys get large scores."};
        case Stage::scaled:
            return scaled_reasons(state);
        case Stage::masked:
            return {"e^−∞ is 0, so a forbidden pair gets weight 0.",
                    "A score of 0 would still get weight, because e⁰ = 1."};
        case Stage::weights:
            return weight_reasons(state);
        case Stage::context:
            return context_reasons(state);
        case Stage::output:
            return {"Each head writes its own context. W_O mixes them into one vector per token.",
                    "A model adds that vector to the residual stream; norm and MLP follow."};
        default:
            return {};
    }
}

}  // namespace attn::view
