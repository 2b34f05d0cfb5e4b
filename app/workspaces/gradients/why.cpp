// Why the bars look as they do: a typical row against the sum of rows, and a loss that the weights cannot change.

#include <cmath>

#include <fmt/format.h>

#include "app/common/document/document.h"
#include "app/common/format.h"
#include "app/workspaces/gradients/actions.h"
#include "app/workspaces/gradients/view.h"
#include "core/masks.h"
#include "core/metrics.h"

namespace attn::view {
namespace {

constexpr double kLonger = 1.05;
constexpr double kEqual = 1e-12;  // beside the largest, in double

const GradientRow* row_with(const GradientsView& view, std::string_view key) {
    const auto found = std::ranges::find(view.rows, key, &GradientRow::key);
    return found == view.rows.end() ? nullptr : &*found;
}

/// ‖∂L/∂q_i‖ of every query of every head and sequence.
std::vector<double> query_norms(const LossSide& side) {
    const TensorD& gradient = side.gradients[Stage::q];
    std::vector<double> norms;
    const Shape shape = gradient.shape();
    for (const auto [b, h] : each_cell(shape.b, shape.h))
        for (Index i = 0; i < shape.t; ++i) {
            double squares = 0.0;
            for (const double value : gradient.matrix(b, h).row(i)) squares += value * value;
            norms.push_back(std::sqrt(squares));
        }
    return norms;
}

/// Whether what reaches the weights is the same for all keys that a query may attend to: softmax then passes nothing.
bool is_alike_over_keys(const Document& document, const TensorD& d_weights) {
    const Shape shape = d_weights.shape();
    double largest = 0.0, widest = 0.0;
    for (const auto [b, h] : each_cell(shape.b, shape.h))
        for (Index i = 0; i < shape.t; ++i) {
            double low = HUGE_VAL, high = -HUGE_VAL;
            for (Index j = 0; j < shape.d; ++j) {
                if (!may_attend(document.spec.mask, document.size, b, h, i, j)) continue;
                const double value = d_weights(b, h, i, j);
                low = std::min(low, value);
                high = std::max(high, value);
                largest = std::max(largest, std::abs(value));
            }
            if (high > low) widest = std::max(widest, high - low);
        }
    return largest > 0.0 && widest <= kEqual * largest;
}

/// "W_V and W_O": which of them get something both ways.
std::string still_learning(const GradientsView& view) {
    std::string text;
    for (const char* key : {"w_v", "w_o"})
        if (const GradientRow* row = row_with(view, key);
            row && row->norms[0] > 0.0 && row->norms[1] > 0.0)
            text += (text.empty() ? "" : " and ") + row->symbol;
    return text;
}

std::string blind_loss_text(const LossGradients& result, const GradientsView& view) {
    const Document& document = *result.document;
    if (!document.inputs->params[Param::sinks].empty() || document.size.tk < 2) return {};
    for (const LossSide& side : result.sides)
        if (side.gradients[Stage::weights].empty() ||
            !is_alike_over_keys(document, side.gradients[Stage::weights]))
            return {};
    const LossKind kind = result.loss.kind;
    const bool linear = kind != LossKind::squared && kind != LossKind::cross_entropy;
    const std::string learning = still_learning(view);
    return fmt::format("{} no gradient reaches the scores{}.",
                       linear ? "This loss cannot depend on the weights: for each query, every "
                                "value contributes equally to it. So"
                              : "At these weights,",
                       learning.empty()
                           ? ""
                           : fmt::format("; of the weight matrices only {} can learn", learning));
}

}  // namespace

std::string why_text(const LossGradients& result, const GradientsView& view) {
    if (std::string blind = blind_loss_text(result, view); !blind.empty()) return blind;
    const GradientRow* row = row_with(view, "w_q");
    const bool scaled[] = {result.sides[0].scale == ScaleKind::sqrt_dk,
                           result.sides[1].scale == ScaleKind::sqrt_dk};
    const bool plain[] = {result.sides[0].scale == ScaleKind::none,
                          result.sides[1].scale == ScaleKind::none};
    const std::size_t on = scaled[0] ? 0 : 1, off = 1 - on;
    if (row == nullptr || !scaled[on] || !plain[off]) return {};
    const double longer = row->norms[off] / row->norms[on];
    if (!(longer > kLonger) || std::isinf(longer)) return {};
    std::vector<double> with = query_norms(result.sides[on]);
    std::vector<double> without = query_norms(result.sides[off]);
    const double typical[] = {quantile(with, 0.5), quantile(without, 0.5)};
    const std::string factor =
        typical[0] > 0.0 ? fmt::format("{} times as large", significant(typical[1] / typical[0], 3))
                         : "not comparable";
    return fmt::format(
        "Without scaling, ‖∂L/∂{}‖ is {} times as large; the median row of ∂L/∂Q is {} ({} against "
        "{}). This gradient is a sum over rows, and scaling multiplies each row's term by 1/√{} = "
        "{}.",
        row->symbol, significant(longer, 3), factor, significant(typical[1], 3),
        significant(typical[0], 3), result.document->size.d_k,
        significant(1.0 / std::sqrt(static_cast<double>(result.document->size.d_k)), 3));
}

}  // namespace attn::view
