// Softmax attention whose context is let through by a gate: context = σ(G) ∘ (A V), one number of G for each token and column, or the same
// in all columns of a head. Where G = X W_G it is the output gate of Qwen3-Next and others.
// Column c of the context is implied_c times column c of V, implied_c[i,j] = σ(G_ic) A_ij; `implied` is the mean over the columns.
// Every option of softmax attention has its meaning.
// Source: Qiu et al. 2025, arXiv:2505.06708.

#include <cmath>

#include "core/call.h"
#include "core/kernels/reference.h"
#include "core/operations/parts.h"
#include "core/stages.h"

namespace attn {
namespace {

double sigmoid(double x) { return 1.0 / (1.0 + std::exp(-x)); }

/// f(n) of every entry of the context.
template <class Function>
void for_entries(const TensorD& like, const Function& f) {
    for (std::size_t n = 0; n < like.values().size(); ++n) f(n);
}

/// The mean of the row's open gates times the weights.
void fill_implied(const TensorD& open, const TensorD& weights, TensorD& implied) {
    const Shape n = implied.shape();
    for (Index b = 0; b < n.b; ++b)
        for (Index h = 0; h < n.h; ++h)
            for (Index i = 0; i < n.t; ++i) {
                double mean = 0.0;
                for (const double each : open.matrix(b, h).row(i)) mean += each;
                mean /= static_cast<double>(open.shape().d);
                for (Index j = 0; j < n.d; ++j) implied(b, h, i, j) = mean * weights(b, h, i, j);
            }
}

Result<OperationTraceD> forward(const CallD& call, const OperationSpec& spec,
                                const OperationParamsD& params, const RunControl& control) {
    Result<TraceD> softmax = reference_forward(call, all_stages(), control);
    if (!softmax) return tl::unexpected(softmax.error());
    ForwardPass pass(call, spec, {"attended", "gate_open", "implied"});
    pass.shared = *std::move(softmax);
    TensorD& attended = pass.trace["attended"] = std::move(pass.shared[Stage::context]);
    TensorD& open = pass.trace["gate_open"];
    for_entries(open, [&](std::size_t n) {
        open.values()[n] = sigmoid(params.tensors.front().values()[n]);
        pass.context.values()[n] = open.values()[n] * attended.values()[n];
    });
    fill_implied(open, pass.shared[stage_or_source(Stage::dropped, call.spec())],
                 pass.trace["implied"]);
    return pass.finish();
}

// forward:  context = σ(G) ∘ attended  so  d_attended = σ(G) ∘ d_context,  d_G = σ(G) (1 − σ(G)) ∘ attended ∘ d_context
Result<OperationTraceD> backward(const CallD& call, const OperationSpec& spec,
                                 const OperationParamsD& params, const UpstreamD& upstream,
                                 const RunControl& control) {
    const Result<OperationTraceD> f = forward(call, spec, params, control);
    if (!f) return f;
    BackwardPass pass(call, spec, *f, upstream, {"attended", "gate_open"});
    const TensorD &open = (*f)["gate_open"], &attended = (*f)["attended"];
    const TensorD& d_context = std::as_const(pass.d)[Stage::context];
    TensorD &d_attended = pass.made["attended"], &d_open = pass.made["gate_open"];
    TensorD& d_gate = pass.made.params.tensors.front();
    for_entries(open, [&](std::size_t n) {
        const double gate = open.values()[n], d = d_context.values()[n];
        d_attended.values()[n] = gate * d;
        d_open.values()[n] = attended.values()[n] * d;
        d_gate.values()[n] = gate * (1.0 - gate) * d_open.values()[n];
    });
    auto d = reference_forward(call, all_stages(), control).and_then([&](const TraceD& softmax) {
        return reference_backward(call, softmax, {Stage::context, d_attended}, control);
    });
    if (!d) return tl::unexpected(d.error());
    for (const StageInfo& row : stage_table())
        if (row.stage != Stage::context && row.stage != Stage::output)
            pass.d[row.stage] = std::move((*d)[row.stage]);
    for (const ParamInfo& row : param_table())  // those of the output are there
        if (pass.d.params[row.param].empty())
            pass.d.params[row.param] = std::move(d->params[row.param]);
    return pass.finish();
}

std::string refuses(const CallForm&, const OperationSpec&) { return {}; }

OperationCost cost(const Dimensions& size, const AttentionSpec& spec, const OperationSpec&) {
    OperationCost made = attention_cost(size, spec);
    made.elementwise += 4.0 * static_cast<double>(size.batch * size.heads * size.tq * size.d_v);
    return made;
}

// clang-format off
constexpr OperationParam kGatedParams[] = {
    {"gate", "gate", "G", Role::weight, Axis::query, Axis::d_v, "How far each number of the context gets through, before the sigmoid; initially standard normal.",
     [](double noise, const ParamEntry&) { return noise; }},
};

}  // namespace

OperationInfo gated_row() {
    constexpr std::string_view kSource = "Qiu et al. 2025, arXiv:2505.06708";
    static const std::vector<OperationStage> stages = stages_of(kSource, kUpToDropped, {
        {"attended", "A V", "A V", "Context before the gate",
         R"(A\,V)",
         Axis::query, Axis::d_v, HeadAxis::query, Exists::always, ColorScale::diverging, Role::value,
         {OperationOperand{"weights", Lights::same_row}, OperationOperand{"v", Lights::column}},
         "The context of softmax attention.", {}},
        {"gate_open", "σ(G)", "σ(G)", "Open gate",
         R"(\sigma(G) = \frac{1}{1 + e^{-G}})",
         Axis::query, Axis::d_v, HeadAxis::query, Exists::always, ColorScale::unit, Role::weight,
         {OperationOperand{"gate", Lights::same_cell}},
         "A factor for each number of the context: 1 lets it through, 0 closes the gate.", {}},
        {"implied", "Â", "implied", "Implied weights, mean of the columns",
         R"(\hat{A}_{i,j} = \frac{1}{d_v} \cdot \sum_c \sigma(G_{i,c})\,A_{i,j})",
         Axis::query, Axis::key, HeadAxis::query, Exists::always, ColorScale::unit, Role::weight,
         {OperationOperand{"gate_open", Lights::same_row}, OperationOperand{"weights", Lights::same_cell}},
         "The factor of each value, averaged over the columns of V. A row sums to 1 at most: a closed gate needs no sink.", {}},
        context_row(R"(\mathrm{context} = \sigma(G) \cdot (A\,V))", "The gate multiplies the context, number by number."),
    });
    return {Operation::gated, "gated", "Gated softmax attention",
        R"(\mathrm{context} = \sigma(G) \cdot \mathrm{softmax}(S)\,V)",
        "Softmax attention whose context passes a gate between 0 and 1: a token can take nothing, without a sink.",
        kSource, false, stages, kGatedParams, cost, refuses, forward, backward, "softmax with a gate"};
}
// clang-format on

}  // namespace attn
