// Sigmoid attention: each pair is weighed alone, without a sum over keys. With the masked logits M:
//   implied_ij = σ(M_ij − ln Tk),  context = implied V
// Every option of softmax attention but sinks and dropout has its meaning.
// Source: Ramapuram et al. 2024, arXiv:2409.04431, with its bias b = −ln n.

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "core/call.h"
#include "core/kernels/reference_parts.h"
#include "core/masks.h"
#include "core/operations/parts.h"
#include "core/stages.h"

namespace attn {
namespace {

constexpr double kNotANumber = std::numeric_limits<double>::quiet_NaN();

/// body(i, open, is_nan) of each row of a head: which keys it sees, and whether it sees none and is NaN for that.
template <class Body>
void for_rows(const CallD& call, const RunControl& control, Index b, Index h, const Body& body) {
    std::vector<std::uint8_t> open(static_cast<std::size_t>(call.size().tk));
    for (Index i = 0; i < call.size().tq && !control.stop.stop_requested(); ++i) {
        const bool empty = fill_allowed(call.spec().mask, call.size(), b, h, i, open) == 0;
        body(i, open, empty && call.spec().empty_rows == EmptyRows::nan);
    }
}

Result<OperationTraceD> forward(const CallD& call, const OperationSpec& spec,
                                const OperationParamsD&, const RunControl& control) {
    const Dimensions& size = call.size();
    ForwardPass pass(call, spec, {"implied"});
    fill_logits(call, pass.shared);
    const TraceD& made = pass.shared;
    const auto keys = static_cast<double>(size.tk);
    const auto head = [&](Index b, Index h, Index g) {
        for_rows(call, control, b, h, [&](Index i, const auto& open, bool is_nan) {
            const auto masked = made[Stage::masked].matrix(b, h).row(i);
            const auto implied = pass.trace["implied"].matrix(b, h).row(i);
            const auto context = pass.context.matrix(b, h).row(i);
            const ConstViewD v = made[Stage::v].matrix(b, g);
            for (Index j = 0; j < size.tk; ++j) {
                if (open[j] == 0) continue;
                implied[j] = 1.0 / (1.0 + keys * std::exp(-masked[j]));
                for (Index c = 0; c < size.d_v; ++c) context[c] += implied[j] * v(j, c);
            }
            if (!is_nan) return;
            std::ranges::fill(implied, kNotANumber);
            std::ranges::fill(context, kNotANumber);
        });
    };
    return pass.run(control, head);
}

// forward:  context_i = Σ_j A_ij v_j,  A = σ(M − ln Tk)  so  d_M = A ∘ (1 − A) ∘ d_A
Result<OperationTraceD> backward(const CallD& call, const OperationSpec& spec,
                                 const OperationParamsD& params, const UpstreamD& upstream,
                                 const RunControl& control) {
    const Dimensions& size = call.size();
    const Result<OperationTraceD> computed = forward(call, spec, params, control);
    if (!computed) return computed;
    const OperationTraceD& f = *computed;
    TraceD shared;
    fill_logits(call, shared);
    BackwardPass pass(call, spec, f, upstream, {});
    TraceD& d = pass.d;
    d[Stage::masked] = TensorD(stage_shape(Stage::masked, size, call.spec()));
    const auto head = [&](Index b, Index h, Index g) {
        for_rows(call, control, b, h, [&](Index i, const auto& open, bool is_nan) {
            const std::span<double> d_m = d[Stage::masked].matrix(b, h).row(i);
            const ViewD d_v = d[Stage::v].matrix(b, g);
            if (is_nan) {
                std::ranges::fill(d_m, kNotANumber);
                for (Index j = 0; j < size.tk; ++j) std::ranges::fill(d_v.row(j), kNotANumber);
                return;
            }
            const auto a = f["implied"].matrix(b, h).row(i);
            const auto d_c = std::as_const(d)[Stage::context].matrix(b, h).row(i);
            const ConstViewD v = f["v"].matrix(b, g);
            for (Index j = 0; j < size.tk; ++j) {
                if (open[j] == 0) continue;
                double d_a = 0.0;
                for (Index c = 0; c < size.d_v; ++c) {
                    d_a += d_c[c] * v(j, c);
                    d_v(j, c) += a[j] * d_c[c];
                }
                d_m[j] = a[j] * (1.0 - a[j]) * d_a;
            }
        });
    };
    return pass.run(control, head, [&] { logits_backward(call, shared, d); });
}

std::string refuses(const CallForm& form, const OperationSpec&) {
    if (form.sinks)
        return "operation sigmoid does not support sinks: they are logits of a softmax over keys";
    if (form.spec.drops())
        return "operation sigmoid does not support dropout: it drops weights of pairs; expected 0 "
               "or training off";
    return {};
}

/// As softmax, 5 of a pair: a sign, exp, a product, a sum and a quotient.
OperationCost cost(const Dimensions& size, const AttentionSpec& spec, const OperationSpec&) {
    return attention_cost(size, spec);
}

// clang-format off
}  // namespace

OperationInfo sigmoid_row() {
    constexpr std::string_view kSource = "Ramapuram et al. 2024, arXiv:2409.04431";
    static const std::vector<OperationStage> stages = stages_of(kSource, kUpToMask, {
        {"implied", "A", "sigmoid", "Attention weights",
         R"(A_{i,j} = \sigma(M_{i,j} - \ln T_k) = \frac{1}{1 + T_k\,e^{-M_{i,j}}})",
         Axis::query, Axis::key, HeadAxis::query, Exists::always, ColorScale::unit, Role::weight,
         {OperationOperand{"masked", Lights::same_cell}},
         "Each weight depends on its own score: keys do not compete, and a row need not sum to 1.", {}},
        context_row(R"(\mathrm{context} = A\,V)", "The values, each times its weight."),
    });
    return {Operation::sigmoid, "sigmoid", "Sigmoid attention",
        R"(\mathrm{context}_i = \sum_j \sigma(M_{i,j} - \ln T_k)\,v_j)",
        "A sigmoid of each score in place of softmax: keys do not compete for weight.",
        kSource, false, stages, {}, cost, refuses, forward, backward, "sigmoid"};
}
// clang-format on

}  // namespace attn
