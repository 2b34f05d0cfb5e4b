// Differential attention: two softmax attentions of one head, over the first and the second half of the columns of Q and K, the second
// subtracted, as noise that both have:
//   A_1 = softmax(Q_1 K_1ᵀ / √(d_k/2)),  A_2 = softmax(Q_2 K_2ᵀ / √(d_k/2)),  mixed = (A_1 − λ A_2) V
//   context = norm_weight ∘ mixed / √(mean_c mixed² + 1e−5)
// The published module has λ = exp(λ_q1 · λ_k1) − exp(λ_q2 · λ_k2) + λ_init and multiplies its norm's weight by 1 − λ_init: both are numbers
// here. `implied` is A_1 − λ A_2: its rows sum to 1 − λ, and its entries may be negative.
// Options of the call hold for both: masks, positions (of each half), soft cap, bias.
// Source: Ye et al. 2024, arXiv:2410.05258.

#include <array>
#include <cmath>

#include <fmt/format.h>

#include "core/call.h"
#include "core/kernels/reference.h"
#include "core/kernels/reference_parts.h"
#include "core/operations/parts.h"
#include "core/stages.h"

namespace attn {
namespace {

constexpr double kNormEpsilon =
    1e-5;  // below the root of a row's mean square, as in the published module
enum Params : std::size_t { kLambda, kNormWeight };

/// Columns of half `n` of `from`.
TensorD half_of(const TensorD& from, Index n) {
    const Shape shape = from.shape();
    TensorD half({shape.b, shape.h, shape.t, shape.d / 2});
    for (Index b = 0; b < shape.b; ++b)
        for (Index h = 0; h < shape.h; ++h)
            for (Index t = 0; t < shape.t; ++t)
                for (Index c = 0; c < shape.d / 2; ++c)
                    half(b, h, t, c) = from(b, h, t, n * (shape.d / 2) + c);
    return half;
}
void put_half(const TensorD& half, Index n, TensorD& whole) {
    const Shape shape = half.shape();
    for (Index b = 0; b < shape.b; ++b)
        for (Index h = 0; h < shape.h; ++h)
            for (Index t = 0; t < shape.t; ++t)
                for (Index c = 0; c < shape.d; ++c)
                    whole(b, h, t, n * shape.d + c) = half(b, h, t, c);
}

/// The two calls and their results.
struct Halves {
    std::array<InputsD, 2> inputs;
    std::array<TraceD, 2> traces;

    /// With Q, K and V of the whole call.
    Result<void> run(const CallD& call, const TensorD& q, const TensorD& k, const TensorD& v,
                     const RunControl& control) {
        for (const Index n : {0, 1}) {
            inputs[n].q = half_of(q, n);
            inputs[n].k = half_of(k, n);
            inputs[n].v = v;
            auto done = validate(inputs[n], call.spec()).and_then([&](const CallD& half) {
                return reference_forward(half, all_stages(), control);
            });
            if (!done) return tl::unexpected(done.error());
            traces[n] = *std::move(done);
        }
        return {};
    }
};

double root_mean_square(std::span<const double> row) {
    double squares = 0.0;
    for (const double each : row) squares += each * each;
    return std::sqrt(squares / static_cast<double>(row.size()) + kNormEpsilon);
}

/// body(b, h, i) for each row.
template <class Body>
void for_rows(const Dimensions& size, const Body& body) {
    for (Index b = 0; b < size.batch; ++b)
        for (Index h = 0; h < size.heads; ++h)
            for (Index i = 0; i < size.tq; ++i) body(b, h, i);
}

void mix(const Halves& halves, const OperationParamsD& params, ForwardPass& pass) {
    const TensorD &a_1 = halves.traces[0][Stage::weights], &a_2 = halves.traces[1][Stage::weights];
    const TensorD &o_1 = halves.traces[0][Stage::context], &o_2 = halves.traces[1][Stage::context];
    TensorD &implied = pass.trace["implied"], &mixed = pass.trace["mixed"];
    for_rows(pass.call.size(), [&](Index b, Index h, Index i) {
        const double lambda = params.tensors[kLambda](0, h, 0, 0);
        for (Index j = 0; j < implied.shape().d; ++j)
            implied(b, h, i, j) = a_1(b, h, i, j) - lambda * a_2(b, h, i, j);
        for (Index c = 0; c < mixed.shape().d; ++c)
            mixed(b, h, i, c) = o_1(b, h, i, c) - lambda * o_2(b, h, i, c);
        const double size = root_mean_square(mixed.matrix(b, h).row(i));
        for (Index c = 0; c < mixed.shape().d; ++c)
            pass.context(b, h, i, c) =
                params.tensors[kNormWeight](0, h, 0, c) * mixed(b, h, i, c) / size;
    });
}

Result<OperationTraceD> forward(const CallD& call, const OperationSpec& spec,
                                const OperationParamsD& params, const RunControl& control) {
    ForwardPass pass(call, spec, {"implied", "mixed"});
    fill_q_k_v(call, pass.shared);
    const TraceD& given = pass.shared;
    Halves halves;
    if (auto done = halves.run(call, given[Stage::q], given[Stage::k], given[Stage::v], control);
        !done)
        return tl::unexpected(done.error());
    mix(halves, params, pass);
    pass.trace["masked_1"] = std::move(halves.traces[0][Stage::masked]);
    pass.trace["masked_2"] = std::move(halves.traces[1][Stage::masked]);
    pass.trace["weights_1"] = std::move(halves.traces[0][Stage::weights]);
    pass.trace["weights_2"] = std::move(halves.traces[1][Stage::weights]);
    return pass.finish();
}

// forward:  y = w ∘ m / s, s = √(mean m² + ε)  so  d_w += d_y ∘ m / s,  d_m = (w ∘ d_y − m (w ∘ d_y · m) / (d_v s²)) / s
void norm_backward(std::span<const double> mixed, std::span<const double> weight,
                   std::span<const double> d_y, std::span<double> d_weight,
                   std::span<double> d_mixed) {
    const double size = root_mean_square(mixed);
    double along = 0.0;
    for (std::size_t c = 0; c < mixed.size(); ++c) along += weight[c] * d_y[c] * mixed[c];
    along /= static_cast<double>(mixed.size()) * size * size;
    for (std::size_t c = 0; c < mixed.size(); ++c) {
        d_weight[c] += d_y[c] * mixed[c] / size;
        d_mixed[c] = (weight[c] * d_y[c] - mixed[c] * along) / size;
    }
}

// forward:  mixed = O_1 − λ O_2  so  d_O_1 = d_mixed,  d_O_2 = −λ d_mixed,  d_λ = −Σ d_mixed ∘ O_2
Result<OperationTraceD> backward(const CallD& call, const OperationSpec& spec,
                                 const OperationParamsD& params, const UpstreamD& upstream,
                                 const RunControl& control) {
    const Result<OperationTraceD> computed = forward(call, spec, params, control);
    if (!computed) return computed;
    const OperationTraceD& f = *computed;
    Halves halves;
    if (auto done = halves.run(call, f["q"], f["k"], f["v"], control); !done)
        return tl::unexpected(done.error());
    BackwardPass pass(call, spec, f, upstream, {"mixed"});
    TensorD& d_mixed = pass.made["mixed"];
    TensorD d_second(d_mixed.shape());
    auto& d_params = pass.made.params.tensors;
    for_rows(call.size(), [&](Index b, Index h, Index i) {
        norm_backward(f["mixed"].matrix(b, h).row(i),
                      params.tensors[kNormWeight].matrix(0, h).row(0),
                      std::as_const(pass.d)[Stage::context].matrix(b, h).row(i),
                      d_params[kNormWeight].matrix(0, h).row(0), d_mixed.matrix(b, h).row(i));
        for (Index c = 0; c < call.size().d_v; ++c) {
            const double d = d_mixed(b, h, i, c);
            d_second(b, h, i, c) = -params.tensors[kLambda](0, h, 0, 0) * d;
            d_params[kLambda](0, h, 0, 0) -= d * halves.traces[1][Stage::context](b, h, i, c);
        }
    });
    for (const Index n : {0, 1}) {
        auto done = validate(halves.inputs[n], call.spec()).and_then([&](const CallD& half) {
            return reference_backward(half, halves.traces[n],
                                      {Stage::context, n == 0 ? d_mixed : d_second}, control);
        });
        if (!done) return tl::unexpected(done.error());
        put_half((*done)[Stage::q], n, pass.d[Stage::q]);
        put_half((*done)[Stage::k], n, pass.d[Stage::k]);
        const TensorD& d_v = (*done)[Stage::v];
        for (std::size_t at = 0; at < d_v.values().size(); ++at)
            pass.d[Stage::v].values()[at] += d_v.values()[at];
        pass.made[n == 0 ? "masked_1" : "masked_2"] = std::move((*done)[Stage::masked]);
        pass.made[n == 0 ? "weights_1" : "weights_2"] = std::move((*done)[Stage::weights]);
    }
    pass.d_product = d_mixed;
    return pass.finish();
}

std::string refuses(const CallForm& form, const OperationSpec&) {
    const AttentionSpec& spec = form.spec;
    if (form.size.d_k % 2 != 0)
        return fmt::format(
            "operation differential needs an even d_k, not {}: each half makes a softmax of its "
            "own",
            form.size.d_k);
    if (spec.score != Score::dot)
        return fmt::format("operation differential supports only the score dot");
    if (spec.qk_norm)
        return "operation differential does not support qk_norm: its queries and keys have two "
               "halves";
    if (form.sinks)
        return "operation differential does not support sinks: its two softmaxes would need one "
               "each";
    if (spec.drops())
        return "operation differential does not support dropout: it drops weights of pairs; "
               "expected 0 or training off";
    return {};
}

OperationCost cost(const Dimensions& size, const AttentionSpec& spec, const OperationSpec&) {
    OperationCost made = attention_cost(size, spec);
    const double pairs = static_cast<double>(size.heads) * open_pairs(size, spec);
    const auto rows = static_cast<double>(size.batch * size.heads * size.tq);
    made.elementwise += 7.0 * pairs;  // the second softmax, λ and the difference
    made.elementwise += rows * (4.0 * static_cast<double>(size.d_v) + 2.0);
    made.stored.push_back(made.stored.front());
    made.stored.back().what = "the second weight per pair";
    return made;
}

// clang-format off
constexpr OperationParam kDifferentialParams[] = {
    {"lambda", "lambda", "λ", Role::weight, Axis::one, Axis::one, "How much of the second softmax is subtracted; initially 0.2, that of a first layer.",
     [](double, const ParamEntry&) { return 0.2; }},
    {"norm_weight", "norm_weight", "w", Role::value, Axis::one, Axis::d_v, "The weight of the norm; initially 0.8, which is 1 − λ.",
     [](double, const ParamEntry&) { return 0.8; }},
};

}  // namespace

OperationInfo differential_row() {
    constexpr std::string_view kSource = "Ye et al. 2024, arXiv:2410.05258";
    const auto logits = [](std::string_view key, std::string_view symbol, std::string_view title, std::string_view tex, std::string_view text) {
        return OperationStage{key, symbol, symbol, title, tex,
            Axis::query, Axis::key, HeadAxis::query, Exists::always, ColorScale::diverging, Role::score,
            {OperationOperand{"q", Lights::same_row}, OperationOperand{"k", Lights::row_of_column}}, text, {}};
    };
    const auto weights = [](std::string_view key, std::string_view symbol, std::string_view title, std::string_view tex, std::string_view from, std::string_view text) {
        return OperationStage{key, symbol, symbol, title, tex,
            Axis::query, Axis::key, HeadAxis::query, Exists::always, ColorScale::unit, Role::weight,
            {OperationOperand{from, Lights::same_row}}, text, {}};
    };
    static const std::vector<OperationStage> stages = stages_of(kSource, std::span(kUpToMask).first(5), {
        logits("masked_1", "M_1", "Scores of the first half", R"(M_1 = Q_1\,K_1^\top \cdot \frac{\mathrm{scale}}{\mathrm{temperature}})",
               "The first d_k/2 columns of the queries meet those of the keys. The mask is included."),
        weights("weights_1", "A_1", "Weights of the first half", R"(A_1 = \mathrm{softmax}(M_1))", "masked_1",
                "Each row of the first scores becomes weights that sum to 1."),
        logits("masked_2", "M_2", "Scores of the second half", R"(M_2 = Q_2\,K_2^\top \cdot \frac{\mathrm{scale}}{\mathrm{temperature}})",
               "The same with the last d_k/2 columns."),
        weights("weights_2", "A_2", "Weights of the second half", R"(A_2 = \mathrm{softmax}(M_2))", "masked_2",
                "Each row of the second scores becomes weights that sum to 1."),
        {"implied", "Â", "implied", "Implied weights",
         R"(\hat{A} = A_1 - \lambda\,A_2)",
         Axis::query, Axis::key, HeadAxis::query, Exists::always, ColorScale::diverging, Role::weight,
         {OperationOperand{"weights_1", Lights::same_cell}, OperationOperand{"weights_2", Lights::same_cell}, OperationOperand{"lambda", Lights::own_head}},
         "Weight that both softmaxes give to a key cancels. Rows sum to 1 − λ; entries may be negative.", {}},
        {"mixed", "Â V", "Â V", "Context before the norm",
         R"(\mathrm{mixed} = \hat{A}\,V)",
         Axis::query, Axis::d_v, HeadAxis::query, Exists::always, ColorScale::diverging, Role::value,
         {OperationOperand{"implied", Lights::same_row}, OperationOperand{"v", Lights::column}},
         "The values, each times its weight.", {}},
        {"context", info(Stage::context).symbol, info(Stage::context).step, info(Stage::context).title,
         R"(\mathrm{context}_{i,c} = w_c \cdot \frac{\mathrm{mixed}_{i,c}}{\sqrt{\frac{1}{d_v} \cdot \sum_c \mathrm{mixed}_{i,c}^2 + 10^{-5}}})",
         Axis::query, Axis::d_v, HeadAxis::query, Exists::always, ColorScale::diverging, Role::output,
         {OperationOperand{"mixed", Lights::same_row}, OperationOperand{"norm_weight", Lights::column}},
         "RMSNorm of each head: rows whose weights nearly cancel get the size of the others.", {}},
    });
    return {Operation::differential, "differential", "Differential attention",
        R"(\mathrm{context} = \mathrm{RMSNorm}((\mathrm{softmax}(Q_1\,K_1^\top) - \lambda\,\mathrm{softmax}(Q_2\,K_2^\top))\,V))",
        "Two softmaxes, over the two halves of each query and key; the second, times λ, is subtracted from the first.",
        kSource, false, stages, kDifferentialParams, cost, refuses, forward, backward, "differential"};
}
// clang-format on

}  // namespace attn
