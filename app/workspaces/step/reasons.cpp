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
        return {has_sinks(state.document())
                    ? "The row has a single finite score, which is compared with the sink alone."
                    : "The row has one finite score, so there is nothing to compare it with."};
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
            fmt::format("Softmax takes e^score, so a lead of {} makes a weight e^{} = {} times as "
                        "large.",
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
    if (state.document().spec.drops()) return reasons;  // the context is of Ã
    double sum = 0.0;
    for (const float weight : row) sum += double{weight};
    const bool signs = std::ranges::any_of(row, [](float weight) { return weight < 0.0F; });
    if (!signs && std::abs(sum - 1.0) < 1e-4)
        reasons.emplace_back(
            "The weights of this row sum to 1, so its context is a weighted average of the "
            "values.");
    const auto most = std::ranges::max_element(row);
    if (signs || most == row.end() || !(*most > 0.9F && *most <= 1.0F)) return reasons;
    const std::string key = axis_label(state, Axis::key, most - row.begin());
    reasons.push_back(
        fmt::format("“{}” gives “{}” {} of its weight, so its context lies near the value of “{}” "
                    "if the values are of similar length.",
                    axis_label(state, Axis::query, *query), key, percent_text(double{*most}), key));
    return reasons;
}

Reasons scaled_reasons(const AppState& state) {
    const AttentionSpec& spec = state.document().spec;
    const Index d_k = state.document().size.d_k;
    if (spec.score != Score::dot || spec.scale == ScaleKind::q_and_k) return {};
    Reasons reasons{fmt::format(
        "A dot product is a sum of {}. If their factors are independent with mean 0 "
        "and variance 1, the sum has variance {} and standard deviation {}.",
        counted(d_k, "product"), d_k, significant(std::sqrt(static_cast<double>(d_k)), 3))};
    if (d_k == 1) return reasons;
    if (spec.scale == ScaleKind::none)
        reasons.emplace_back(
            "Scaling is off: differences between scores are √d_k times as large as with scaling. "
            "At large d_k, many rows then saturate.");
    else if (spec.scale == ScaleKind::value)
        reasons.emplace_back("A given factor f replaces 1/√d_k: it multiplies the variance by f².");
    else
        reasons.emplace_back(
            "Division by √d_k brings the variance back to 1. Softmax then saturates less, and more "
            "rows pass gradient to Q and K.");
    return reasons;
}

/// Without W_O there is nothing that mixes the contexts.
Reasons output_reasons(const Document& document) {
    if (!has_param(document, Param::w_o))
        return {document.size.heads == 1
                    ? "There is no W_O: the output is the context."
                    : "Each head computes its own context. There is no W_O to mix them."};
    return {document.size.heads == 1
                ? "W_O maps the context of the head to one vector per token."
                : "Each head computes its own context. W_O mixes them into one vector per token.",
            "A model adds that vector to the residual stream. The MLP adds its own output."};
}

}  // namespace

std::vector<std::string> step_reasons(const AppState& state) {
    if (state.show_gradients || is_empty(state.document())) return {};
    switch (state.stage) {
        case Stage::x:
        case Stage::x_kv:
            return {"A model computes with vectors, so each token becomes one.",
                    "Training tends to give similar vectors to words that are used alike."};
        case Stage::q:
        case Stage::k:
        case Stage::v:
            return {
                "One matrix serves all tokens, so its size does not depend on the length of the "
                "text.",
                "Three matrices let a token ask for one thing, be found by another, and pass "
                "on a third."};
        case Stage::scores:
            return {"A dot product is large if query and key point the same way and are long.",
                    "Training changes W_Q and W_K so that keys whose values lower the loss get "
                    "larger scores."};
        case Stage::scaled:
            return scaled_reasons(state);
        case Stage::masked:
            return {"e^−∞ is 0, so a forbidden pair gets weight 0 if its row has an allowed key.",
                    "A score of 0 would still get weight, because e⁰ = 1."};
        case Stage::weights:
            return weight_reasons(state);
        case Stage::context:
            return context_reasons(state);
        case Stage::output:
            return output_reasons(state.document());
        default:
            return {};
    }
}

}  // namespace attn::view
