#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "app/common/document/document.h"
#include "app/common/document/loss.h"
#include "app/common/document/targets.h"
#include "app/common/format.h"
#include "app/workspaces/gradients/actions.h"
#include "core/cast.h"
#include "core/engine.h"
#include "core/stages.h"

namespace attn::view {
namespace {

constexpr int kEntries = 4;  // of each tensor: the largest gradient, and others spread over it

/// ∂L/∂output; empty: ones.
TensorD upstream_gradient(const Document& document, const Loss& loss, const TensorD& output) {
    if (loss.kind == LossKind::sum || output.empty()) return {};
    if (loss.kind == LossKind::squared) {
        TensorD errors = output;
        for (const Target& target : document.targets) {
            const OutputCell& cell = target.cell;
            const Shape shape = output.shape();
            if (cell.batch < shape.b && cell.row < shape.t && cell.column < shape.d)
                errors(cell.batch, 0, cell.row, cell.column) -= static_cast<double>(target.value);
        }
        return errors;
    }
    if (loss.kind == LossKind::file) return cast<double>(*given_gradient(document));
    const OutputCell& cell = loss.cell;
    TensorD one(output.shape());
    if (loss.kind == LossKind::cross_entropy)
        std::ranges::copy(
            cross_entropy_of(output.matrix(cell.batch, 0).row(cell.row), cell.column).gradient,
            one.matrix(cell.batch, 0).row(cell.row).begin());
    else
        one(cell.batch, 0, cell.row, cell.column) = 1.0;
    return one;
}

double loss_at(const Document& document, const Loss& loss, const TensorD& output) {
    if (loss.kind == LossKind::cross_entropy && !output.empty())
        return cross_entropy_of(output.matrix(loss.cell.batch, 0).row(loss.cell.row),
                                loss.cell.column)
            .loss;
    const TensorD gradient = upstream_gradient(document, loss, output);
    const auto values = output.values(), slopes = gradient.values();
    if (loss.kind == LossKind::sum) return std::accumulate(values.begin(), values.end(), 0.0);
    if (loss.kind == LossKind::squared)
        return std::inner_product(slopes.begin(), slopes.end(), slopes.begin(), 0.0) / 2.0;
    return std::inner_product(values.begin(), values.end(), slopes.begin(), 0.0);
}

/// "with scaling", "without scaling", "× 0.3", and the temperature: "with scaling, τ = 2".
std::string scale_description(const AttentionSpec& spec) {
    const bool warm = spec.temperature != 1.0;
    const std::string over = warm ? "τ = " + significant(spec.temperature, 4) : "";
    const std::string scaled = spec.scale == ScaleKind::none      ? "without scaling"
                               : spec.scale == ScaleKind::q_and_k ? "q, k × d_k^(−¼)"
                               : spec.scale == ScaleKind::sqrt_dk
                                   ? "with scaling"
                                   : fmt::format("× {}", significant(spec.scale_value, 4));
    return warm ? scaled + ", " + over : scaled;
}

Result<LossSide> side_of(const Document& document, const InputsD& inputs, const Loss& loss,
                         const AttentionSpec& spec) {
    LossSide side;
    side.scale = spec.scale;
    side.text = scale_description(spec);
    auto trace = attend_exact(inputs, spec);
    if (!trace) return tl::unexpected(trace.error());
    side.trace = *std::move(trace);
    const TensorD& output = side.trace[Stage::output];
    UpstreamD upstream{Stage::output, upstream_gradient(document, loss, output)};
    auto gradients = attend_exact_backward(inputs, spec, side.trace, upstream);
    if (!gradients) return tl::unexpected(gradients.error());
    side.gradients = *std::move(gradients);
    side.loss = loss_at(document, loss, output);
    return side;
}

/// The worst of a few entries of each tensor.
struct Differences {
    const Document& document;
    const Loss& loss;
    InputsD inputs;
    const RunControl& control;
    DifferenceCheck check = {};

    void of(TensorD& tensor, const TensorD& gradient, std::string_view name) {
        if (tensor.empty() || gradient.empty()) return;
        const auto values = gradient.values();
        std::size_t largest = 0;
        for (std::size_t n = 0; n < values.size(); ++n)
            if (std::abs(values[n]) > std::abs(values[largest])) largest = n;
        const double scale = std::abs(values[largest]);
        for (int n = 0; n < kEntries && !control.stop.stop_requested(); ++n) {
            const std::size_t at =
                n == 0 ? largest
                       : values.size() * static_cast<std::size_t>(2 * n - 1) / (2 * kEntries - 2);
            const double difference = central(tensor, at);
            ++check.entries;
            // Below rounding of L itself nothing can be told apart.
            const double apart = std::abs(difference - values[at]) / std::max(scale, 1e-6);
            if (!std::isnan(check.worst) && !(apart <= check.worst)) {
                check.worst = apart;
                const auto columns = static_cast<std::size_t>(tensor.shape().d);
                check.where = fmt::format("{}[{}, {}]", name, at / columns, at % columns);
            }
        }
    }

    double central(TensorD& tensor, std::size_t at) {
        double& entry = tensor.values()[at];
        const double before = entry;
        const double h = check.h * std::max(1.0, std::abs(before));
        entry = before + h;
        const double above = loss_now();
        entry = before - h;
        const double below = loss_now();
        entry = before;
        return (above - below) / (2.0 * h);
    }
    double loss_now() {
        const auto trace = attend_exact(inputs, document.spec);
        return trace ? loss_at(document, loss, (*trace)[Stage::output]) : std::nan("");
    }
};

DifferenceCheck check_differences(const Document& document, const Loss& loss, InputsD from,
                                  const TraceD& gradients, const RunControl& control) {
    Differences differences{document, loss, std::move(from), control};
    InputsD& inputs = differences.inputs;
    if (inputs.projects()) {
        differences.of(inputs.x, gradients[Stage::x], "X");
        differences.of(inputs.x_kv, gradients[Stage::x_kv], "X_kv");
    } else {
        differences.of(inputs.q, gradients[Stage::q], "Q");
        differences.of(inputs.k, gradients[Stage::k], "K");
        differences.of(inputs.v, gradients[Stage::v], "V");
    }
    for (const ParamInfo& param : param_table())
        differences.of(inputs.params[param.param], gradients.params[param.param], param.symbol);
    return differences.check;
}

}  // namespace

Action run(const LossGradientsRequest& request, const RunControl& control) {
    auto made = std::make_shared<LossGradients>();
    made->document = request.document;
    made->loss = request.loss;
    const Document& document = *request.document;
    const InputsD inputs = cast<double>(*document.inputs);
    AttentionSpec other = document.spec;
    const bool by_width = other.scale == ScaleKind::sqrt_dk || other.scale == ScaleKind::q_and_k;
    other.scale = by_width ? ScaleKind::none : ScaleKind::sqrt_dk;
    const AttentionSpec* const specs[] = {&document.spec, &other};
    for (std::size_t n = 0; n < 2; ++n) {
        auto side = side_of(document, inputs, request.loss, *specs[n]);
        if (!side) {
            made->fault = side.error().text();
            return LossGradientsReady{made};
        }
        made->sides[n] = *std::move(side);
    }
    made->check =
        check_differences(document, request.loss, inputs, made->sides[0].gradients, control);
    return LossGradientsReady{made};
}

}  // namespace attn::view
