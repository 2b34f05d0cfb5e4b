#include <cmath>

#include <fmt/format.h>

#include "app/common/arithmetic.h"
#include "app/common/document/document.h"
#include "app/common/format.h"
#include "app/common/number_style.h"
#include "app/common/sheet.h"
#include "app/common/state.h"
#include "app/workspaces/gradients/actions.h"
#include "app/workspaces/gradients/view.h"
#include "core/stages.h"

namespace attn::view {
namespace {

constexpr double kSeen = 0.01;  // of a_j (1 − a_j): beneath it nothing is drawn, and why is said
constexpr double kOneTakesAll = 0.99;
constexpr double kRounding = 1e-15;
constexpr int kDigits = 3;

std::string signed_slope(double slope) {
    return (slope > 0.0 ? "+" : "") + full_significant(slope, 3);
}

/// With 1 − a_j as its own factor, since the difference of printed numbers would lose its digits.
std::string slope_arithmetic(const CompetitionToken& token, const CompetitionToken& raised) {
    if (token.slope == 0.0) return "∂a/∂z = 0";
    const bool gains = &token == &raised;
    const ProductText text =
        product_text(token.p, gains ? token.slope / token.p : raised.p, kDigits);
    if (gains)
        return fmt::format("∂a/∂z = a_j (1 − a_j) = {} · {} = {}", text.a, text.b, text.product);
    return fmt::format("∂a/∂z = −a_k a_j = −{} · {} = −{}", text.a, text.b, text.product);
}

/// Slopes below the rounding of weights that sum to 1 become 0.
double beyond_rounding(double slope) { return std::abs(slope) < kRounding ? 0.0 : slope; }

void fill_token(const CompetitionToken& raised, CompetitionToken& token) {
    if (token.look == CellLook::masked) {
        token.p_text = number(token.p), token.slope_text = "masked";
        token.tip = fmt::format("masked: its score is −∞ and its weight is {}", token.p_text);
        return;
    }
    token.p_text = cell_number(token.p, 3);
    if (token.look == CellLook::not_a_number || raised.look == CellLook::not_a_number) {
        token.slope_text = "NaN";
        token.tip = "NaN: the weight is NaN, so its slope is unknown";
        return;
    }
    const bool takes_part = raised.look == CellLook::number;
    if (&token != &raised) token.slope = takes_part ? beyond_rounding(-token.p * raised.p) : 0.0;
    token.width = std::min(std::abs(token.slope) / kMostSlope, 1.0);
    token.slope_text = signed_slope(token.slope);
    token.tip = takes_part ? slope_arithmetic(token, raised)
                           : "0: the raised score is masked and changes nothing";
}

/// The gain of the raised key: a_j times the sum of the other weights and the sink's, which is 1 − a_j without its rounding.
double gain_of(const CompetitionView& view, const std::optional<double>& sink) {
    const CompetitionToken& raised = view.at(view.raised);
    if (raised.look != CellLook::number) return 0.0;
    double others = 0.0;
    for (const CompetitionToken& token : view.tokens)
        if (&token != &raised && token.look == CellLook::number) others += token.p;
    return beyond_rounding(raised.p * others + sink.value_or(0.0));
}

/// On an axis from 0 to 1 in every row.
void set_bars(std::vector<CompetitionToken>& tokens) {
    for (CompetitionToken& token : tokens)
        token.bar = std::isfinite(token.p) ? std::clamp(token.p, 0.0, 1.0) : 0.0;
}

/// The slope at the present score, as one sentence; "" if it is unknown.
std::string moved_text(const CompetitionView& view, const std::string& row) {
    const CompetitionToken& raised = view.at(view.raised);
    if (raised.look != CellLook::number) return {};
    const std::string weight = fmt::format("In row “{}”, the weight of “{}” ", row, raised.label);
    if (raised.slope == 0.0) return weight + "does not rise with its softmax input.";
    const std::string slope =
        fmt::format("{} per unit of its softmax input", significant(raised.slope, kDigits));
    if (raised.p > kOneTakesAll)
        return fmt::format("{}at first rises by only {}: softmax is saturated.", weight, slope);
    return fmt::format("{}at first rises by {}; at most {:g} is possible.", weight, slope,
                       kMostSlope);
}

/// p_j times the sink's share, which is p_j exp(sink − s_j); nullopt where no sink takes part.
std::optional<double> lost_by_sink(const AppState& state, const CompetitionView& view) {
    const Document& document = state.document();
    if (!has_sinks(document)) return std::nullopt;
    const double sink = document.inputs->params[Param::sinks](0, 0, 0, state.head);
    if (!std::isfinite(sink)) return std::nullopt;
    const TensorD& scores = gradients_look(state).result->sides[0].trace[Stage::masked];
    const double score = scores(state.batch, state.head, view.row, view.raised);
    return std::exp(sink - score + 2.0 * std::log(view.at(view.raised).p));
}

std::string slope_sum_text(const CompetitionView& view, const std::optional<double>& sink) {
    const CompetitionToken& raised = view.at(view.raised);
    if (!sink)
        return fmt::format("Σ_k ∂a_k/∂z_j = 0: “{0}” gains {1}, the others together lose {1}.",
                           raised.label, significant(raised.slope, kDigits));
    const double rest = beyond_rounding(*sink);
    double others = 0.0;
    for (const CompetitionToken& token : view.tokens)
        if (&token != &raised) others += std::abs(token.slope);
    return fmt::format(
        "Σ_k ∂a_k/∂z_j = a_j (1 − Σ_k a_k) = {}: “{}” gains {}, the other keys together lose {}, "
        "the sink {}.",
        significant(rest, kDigits), raised.label, significant(raised.slope, kDigits),
        significant(others, kDigits), significant(rest, kDigits));
}

std::string no_arrow_text(const CompetitionView& view, Index open, bool sink) {
    const CompetitionToken& raised = view.at(view.raised);
    if (open == 0) return "Every key of this row is masked, so no weights compete.";
    if (raised.look == CellLook::masked)
        return fmt::format("“{}” is masked: its score is −∞, so raising it changes no weight.",
                           raised.label);
    if (raised.slope >= kSeen) return {};
    if (open == 1 && raised.p == 1.0 && !sink)
        return "This row may attend to only one key: its weight is always 1, and a (1 − a) = 0.";
    return fmt::format(
        "{}“{}” has a_j = {}: the largest slope is a_j (1 − a_j) = {}; arrows need a slope of at "
        "least {}.",
        raised.p > kOneTakesAll ? "Saturated: " : "", raised.label,
        significant(raised.p, raised.p > kOneTakesAll ? 6 : 3),
        significant(raised.p * (1.0 - raised.p), 3), kSeen);
}

struct OpenKeys {
    Index count = 0;
    bool unknown = false;  // one has the weight NaN
};
OpenKeys add_tokens(const AppState& state, const std::vector<double>& p, CompetitionView& view) {
    const auto labels = axis_labels(state, Axis::key, std::ssize(p));
    OpenKeys open;
    for (std::size_t k = 0; k < p.size(); ++k) {
        const bool may = may_attend_in_row(state, static_cast<Index>(k));
        const bool finite = std::isfinite(p[k]);
        const CellLook look = !may     ? CellLook::masked
                              : finite ? CellLook::number
                                       : CellLook::not_a_number;
        open.count += may;
        open.unknown |= may && !finite;
        view.tokens.push_back({labels[k], look, p[k]});
    }
    return open;
}

}  // namespace

Index raised_key(const AppState& state) {
    const std::vector<double> p = jacobian_weights(state);
    if (p.empty()) return gradients_look(state).raised.value_or(0);
    const auto largest = std::ranges::max_element(
        p, [](double a, double b) { return !std::isnan(b) && (std::isnan(a) || a < b); });
    const Index last = std::ssize(p) - 1;
    return std::min(gradients_look(state).raised.value_or(largest - p.begin()), last);
}

CompetitionView build_competition(const AppState& state) {
    CompetitionView view;
    const std::vector<double> p = jacobian_weights(state);
    if (p.empty()) {
        view.missing_data = "This row has no weights.";
        return view;
    }
    const auto count = static_cast<Index>(p.size());
    if (count > kMostJacobian) {
        view.missing_data = fmt::format("{} keys: how they compete is drawn for up to {}.",
                                        grouped(count), kMostJacobian);
        return view;
    }
    const Document& document = state.document();
    view.row = gradients_look(state).row;
    view.raised = raised_key(state);
    const auto [open, unknown] = add_tokens(state, p, view);
    const CompetitionToken& raised = view.at(view.raised);
    const std::optional<double> sink =
        raised.look == CellLook::number ? lost_by_sink(state, view) : std::nullopt;
    view.tokens[static_cast<std::size_t>(view.raised)].slope = gain_of(view, sink);
    for (CompetitionToken& token : view.tokens) fill_token(raised, token);
    set_bars(view.tokens);
    view.title = fmt::format("Row “{}”: raising the score of “{}”",
                             axis_label(state, Axis::query, view.row), raised.label);
    view.formula = fmt::format(
        "∂a_k/∂z_j = a_k (δ_kj − a_j), j = {}; z: the input of softmax, the scaled{} "
        "and masked score",
        raised.label, document.spec.biases() ? ", biased" : "");
    if (unknown) {
        view.why = "The row has NaN weights: their slopes are unknown.";
        return view;
    }
    view.moved = moved_text(view, axis_label(state, Axis::query, view.row));
    view.why = no_arrow_text(view, open, sink.has_value());
    if (raised.look == CellLook::number && open > 1) view.sum = slope_sum_text(view, sink);
    return view;
}

}  // namespace attn::view
