// Selective attention: a token can declare earlier tokens unneeded, for every later query and in every head. With the masked logits M of
// head 0, S_ij = max(0, M_0ij), 0 for the first key and for a token's own, and F_ij = Σ_{l < i} S_lj:
//   selective = M − F,  implied = softmax(selective),  context = implied V
// Every option of softmax attention but sinks and dropout has its meaning.
// Source: Leviathan, Kalman & Matias 2024, arXiv:2410.02703, figure 3.

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "core/call.h"
#include "core/kernels/reference_parts.h"
#include "core/masks.h"
#include "core/operations/parts.h"
#include "core/softmax.h"
#include "core/stages.h"

namespace attn {
namespace {

constexpr double kNotANumber = std::numeric_limits<double>::quiet_NaN();

/// Whether token l may declare key j unneeded: no token the first one, nor itself.
bool may_select(Index l, Index j) { return j != 0 && j != l; }

/// S and F of one batch entry, of the logits of head 0.
void fill_forgotten(ConstViewD masked, ViewD selection, ViewD forgotten) {
    for (Index i = 0; i < masked.rows; ++i)
        for (Index j = 0; j < masked.columns; ++j) {
            const double logit = masked(i, j);
            const bool counts = may_select(i, j) && !(logit <= 0.0);  // NaN counts
            selection(i, j) = counts ? logit : 0.0;
            forgotten(i, j) = i == 0 ? 0.0 : forgotten(i - 1, j) + selection(i - 1, j);
        }
}

Result<OperationTraceD> forward(const CallD& call, const OperationSpec& spec,
                                const OperationParamsD&, const RunControl& control) {
    const Dimensions& size = call.size();
    ForwardPass pass(call, spec, {"selection", "forgotten", "selective", "implied"});
    fill_logits(call, pass.shared);
    const TraceD& made = pass.shared;
    OperationTraceD& trace = pass.trace;
    for (Index b = 0; b < size.batch; ++b)
        fill_forgotten(made[Stage::masked].matrix(b, 0), trace["selection"].matrix(b, 0),
                       trace["forgotten"].matrix(b, 0));
    std::vector<std::uint8_t> open(static_cast<std::size_t>(size.tk));
    return pass.run(control, [&](Index b, Index h, Index g) {
        const ConstViewD masked = made[Stage::masked].matrix(b, h);
        const ConstViewD v = made[Stage::v].matrix(b, g);
        const ViewD forgotten = trace["forgotten"].matrix(b, 0);
        const ViewD selective = trace["selective"].matrix(b, h);
        const ViewD implied = trace["implied"].matrix(b, h);
        const ViewD context = pass.context.matrix(b, h);
        for (Index i = 0; i < size.tq && !control.stop.stop_requested(); ++i) {
            const bool empty = fill_allowed(call.spec().mask, size, b, h, i, open) == 0;
            for (Index j = 0; j < size.tk; ++j)
                selective(i, j) = open[j] != 0 ? masked(i, j) - forgotten(i, j) : masked(i, j);
            softmax_row(selective.row(i), implied.row(i),
                        empty ? call.spec().empty_rows : EmptyRows::nan);
            for (Index j = 0; j < size.tk; ++j) {
                if (!empty && open[j] == 0) implied(i, j) = 0.0;
                if (open[j] != 0)
                    for (Index c = 0; c < size.d_v; ++c) context(i, c) += implied(i, j) * v(j, c);
            }
            if (empty && call.spec().empty_rows == EmptyRows::nan)
                std::ranges::fill(context.row(i), kNotANumber);
        }
    });
}

// forward:  F_ij = Σ_{l < i} S_lj,  S_lj = max(0, M_0lj)  so  d_S_lj = Σ_{i > l} d_F_ij,  d_M_0lj += d_S_lj where M_0lj > 0
void forgotten_backward(ConstViewD masked, ViewD d_forgotten, ViewD d_selection, ViewD d_masked) {
    for (Index l = masked.rows - 2; l >= 0; --l)
        for (Index j = 0; j < masked.columns; ++j) {
            d_selection(l, j) = d_selection(l + 1, j) + d_forgotten(l + 1, j);
            if (may_select(l, j) && masked(l, j) > 0.0) d_masked(l, j) += d_selection(l, j);
        }
}

Result<OperationTraceD> backward(const CallD& call, const OperationSpec& spec,
                                 const OperationParamsD& params, const UpstreamD& upstream,
                                 const RunControl& control) {
    const Dimensions& size = call.size();
    const Result<OperationTraceD> computed = forward(call, spec, params, control);
    if (!computed) return computed;
    const OperationTraceD& f = *computed;
    TraceD shared;
    fill_logits(call, shared);
    BackwardPass pass(call, spec, f, upstream, {"selection", "forgotten", "selective"});
    TraceD& d = pass.d;
    d[Stage::masked] = TensorD(stage_shape(Stage::masked, size, call.spec()));
    std::vector<std::uint8_t> open(static_cast<std::size_t>(size.tk));
    // forward:  context = A V,  A = softmax(M − F)  so  d_M = A ∘ (d_A − Σ_j d_A ∘ A),  d_F = −Σ_h d_M
    const auto row = [&](Index b, Index h, Index g, Index i) {
        const bool empty = fill_allowed(call.spec().mask, size, b, h, i, open) == 0;
        const std::span<double> d_m = pass.made["selective"].matrix(b, h).row(i);
        const ViewD d_v = d[Stage::v].matrix(b, g);
        if (empty) {
            if (call.spec().empty_rows == EmptyRows::zero) return;
            std::ranges::fill(d_m, kNotANumber);
            std::ranges::fill(d[Stage::masked].matrix(b, h).row(i), kNotANumber);
            for (Index j = 0; j < size.tk; ++j) std::ranges::fill(d_v.row(j), kNotANumber);
            return;
        }
        const auto a = f["implied"].matrix(b, h).row(i);
        const auto d_c = std::as_const(d)[Stage::context].matrix(b, h).row(i);
        const ConstViewD v = f["v"].matrix(b, g);
        std::vector<double> d_a(a.size());
        double sum = 0.0;
        for (Index j = 0; j < size.tk; ++j) {
            if (open[j] == 0) continue;
            for (Index c = 0; c < size.d_v; ++c) {
                d_a[j] += d_c[c] * v(j, c);
                d_v(j, c) += a[j] * d_c[c];
            }
            sum += a[j] * d_a[j];
        }
        for (Index j = 0; j < size.tk; ++j) {
            if (open[j] == 0) continue;
            d_m[j] = a[j] * (d_a[j] - sum);
            d[Stage::masked](b, h, i, j) += d_m[j];
            pass.made["forgotten"](b, 0, i, j) -= d_m[j];
        }
    };
    const auto run = [&](Index b, Index h, Index g) {
        for (Index i = 0; i < size.tq && !control.stop.stop_requested(); ++i) row(b, h, g, i);
    };
    return pass.run(control, run, [&] {
        for (Index b = 0; b < size.batch; ++b)
            forgotten_backward(std::as_const(shared)[Stage::masked].matrix(b, 0),
                               pass.made["forgotten"].matrix(b, 0),
                               pass.made["selection"].matrix(b, 0), d[Stage::masked].matrix(b, 0));
        logits_backward(call, shared, d);
    });
}

std::string refuses(const CallForm& form, const OperationSpec&) {
    if (form.sinks)
        return "operation selective does not support sinks: they are logits that no token can "
               "declare unneeded";
    if (form.spec.drops())
        return "operation selective does not support dropout: it drops weights of pairs; expected "
               "0 or training off";
    return refuse_two_sequences("selective", form);
}

OperationCost cost(const Dimensions& size, const AttentionSpec& spec, const OperationSpec&) {
    OperationCost made = attention_cost(size, spec);
    const double pairs = open_pairs(size, spec);  // of one head
    made.elementwise += (2.0 + static_cast<double>(size.heads)) * pairs;
    made.stored.push_back({"F of each query, for all heads",
                           static_cast<double>(size.batch) * static_cast<double>(size.tk)});
    return made;
}

// clang-format off
}  // namespace

OperationInfo selective_row() {
    constexpr std::string_view kSource = "Leviathan, Kalman & Matias 2024, arXiv:2410.02703";
    static const std::vector<OperationStage> stages = stages_of(kSource, kUpToMask, {
        {"selection", "R", "R", "What each token declares unneeded",
         R"(R_{i,j} = \max(0, M_{0,i,j}) \text{, and } 0 \text{ for the first key and for } j = i)",
         Axis::query, Axis::key, HeadAxis::none, Exists::always, ColorScale::diverging, Role::weight,
         {OperationOperand{"masked", Lights::same_cell}},
         "Positive logits of head 0: how strongly token i declares token j unneeded for later queries.", {}},
        {"forgotten", "F", "F", "What was declared before",
         R"(F_{i,j} = \sum_{l < i} R_{l,j})",
         Axis::query, Axis::key, HeadAxis::none, Exists::always, ColorScale::diverging, Role::weight,
         {OperationOperand{"selection", Lights::column}},
         "The declarations of all earlier tokens add up, for every head.", {}},
        {"selective", "M − F", "M − F", "Scores after forgetting",
         R"(M_{i,j} - F_{i,j})",
         Axis::query, Axis::key, HeadAxis::query, Exists::always, ColorScale::diverging, Role::score,
         {OperationOperand{"masked", Lights::same_cell}, OperationOperand{"forgotten", Lights::same_cell}},
         "Each key's score is lowered by the amount that earlier tokens declared.", {}},
        {"implied", "A", "softmax", "Attention weights",
         R"(A = \mathrm{softmax}(M - F))",
         Axis::query, Axis::key, HeadAxis::query, Exists::always, ColorScale::unit, Role::weight,
         {OperationOperand{"selective", Lights::same_row}},
         "Softmax turns each row into weights that sum to 1.", {}},
        context_row(R"(\mathrm{context} = A\,V)", "The values, each times its weight."),
    });
    return {Operation::selective, "selective", "Selective attention",
        R"(\mathrm{context}_i = \sum_j \mathrm{softmax}_j(M_{i,j} - \sum_{l < i} R_{l,j})\,v_j)",
        "Softmax attention in which a token can declare earlier tokens unneeded, for every later query and every head.",
        kSource, false, stages, {}, cost, refuses, forward, backward, "selective"};
}
// clang-format on

}  // namespace attn
