// Low-rank attention: M rows, weighted sums of the keys and of the values, stand for all of them.
//   K_low = E K,  V_low = F V,  A_low = softmax(Q K_lowᵀ f),  context = A_low V_low = (A_low F) V
// f = scale / temperature. E and F are learned, one of each a query head; fresh ones are N(0, 1 / M). The implied matrix
// A_low F has rank M at most; its entries may be negative and its rows need not sum to 1. A masked key is a column of E and
// F that is left out.
// Source: Wang et al. 2020, arXiv:2006.04768, equation 7.

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "core/call.h"
#include "core/kernels/reference_parts.h"
#include "core/operations/few_rows.h"
#include "core/stages.h"

namespace attn {
namespace {

enum Params : std::size_t { kE, kF };

std::vector<std::uint8_t> all_rows(const OperationSpec& spec) {
    return std::vector<std::uint8_t>(static_cast<std::size_t>(spec.rank), 1);
}

/// Where no key is open a row is what the policy says, of everything.
void apply_policy(const std::vector<std::uint8_t>& open, EmptyRows policy, ViewD weights) {
    if (std::ranges::count(open, std::uint8_t{1}) > 0) return;
    const double nan = std::numeric_limits<double>::quiet_NaN();
    for (Index i = 0; i < weights.rows; ++i)
        std::ranges::fill(weights.row(i), policy == EmptyRows::nan ? nan : 0.0);
}

/// implied = A_low F at the keys that take part.
void add_implied(ConstViewD weights, ConstViewD f, const std::vector<std::uint8_t>& takes,
                 ViewD implied) {
    for (Index j = 0; j < implied.columns; ++j)
        if (takes[j] != 0)
            for (Index i = 0; i < implied.rows; ++i)
                for (Index m = 0; m < f.rows; ++m) implied(i, j) += weights(i, m) * f(m, j);
}

Result<OperationTraceD> forward(const CallD& call, const OperationSpec& spec,
                                const OperationParamsD& params, const RunControl& control) {
    const Dimensions& size = call.size();
    ForwardPass pass(call, spec, {"k_low", "v_low", "scores_low", "weights_low", "implied"});
    fill_q_k_v(call, pass.shared);
    const double factor = score_factor(call.spec(), size.d_k);
    const TraceD& given = pass.shared;
    const auto run = [&](Index b, Index h, Index g) {
        const auto view = [&](std::string_view key) { return pass.trace[key].matrix(b, h); };
        const std::vector<std::uint8_t> open = open_keys(call, b);
        const std::vector<std::uint8_t> takes = contributing(call, open);
        const ConstViewD f = params.tensors[kF].matrix(0, h);
        add_open_product(params.tensors[kE].matrix(0, h), given[Stage::k].matrix(b, g), takes,
                         view("k_low"));
        add_open_product(f, given[Stage::v].matrix(b, g), takes, view("v_low"));
        add_scores(given[Stage::q].matrix(b, h), view("k_low"), factor, view("scores_low"));
        softmax_rows(view("scores_low"), all_rows(spec), EmptyRows::nan, view("weights_low"));
        apply_policy(open, call.spec().empty_rows, view("weights_low"));
        add_implied(view("weights_low"), f, takes, view("implied"));
        add_product(view("weights_low"), view("v_low"), pass.context.matrix(b, h));
    };
    return pass.run(control, run);
}

/// forward:  C = W X  so  d_X += Wᵀ d_C,  d_W += d_C Xᵀ, at the rows of X that take part
void rows_backward(ConstViewD d_c, ConstViewD w, ConstViewD x,
                   const std::vector<std::uint8_t>& takes, ViewD d_x, ViewD d_w) {
    for (Index j = 0; j < x.rows; ++j)
        if (takes[j] != 0)
            for (Index m = 0; m < w.rows; ++m)
                for (Index c = 0; c < x.columns; ++c) {
                    d_x(j, c) += w(m, j) * d_c(m, c);
                    d_w(m, j) += d_c(m, c) * x(j, c);
                }
}

/// forward:  context = A_low V_low,  A_low = softmax(f · Q K_lowᵀ)
/// so        d_A_low = d_context V_lowᵀ,  d_V_low = A_lowᵀ d_context
Result<OperationTraceD> backward(const CallD& call, const OperationSpec& spec,
                                 const OperationParamsD& params, const UpstreamD& upstream,
                                 const RunControl& control) {
    const Result<OperationTraceD> f = forward(call, spec, params, control);
    if (!f) return f;
    BackwardPass pass(call, spec, *f, upstream, {"k_low", "v_low", "scores_low", "weights_low"});
    const double factor = score_factor(call.spec(), call.size().d_k);
    const auto run = [&](Index b, Index h, Index g) {
        const auto of = [&](std::string_view key) { return (*f)[key].matrix(b, h); };
        const auto d_of = [&](std::string_view key) { return pass.made[key].matrix(b, h); };
        const std::vector<std::uint8_t> takes = contributing(call, open_keys(call, b));
        const ConstViewD d_context = std::as_const(pass.d)[Stage::context].matrix(b, h);
        add_product_transposed(d_context, of("v_low"), d_of("weights_low"));
        add_transposed_product(of("weights_low"), d_context, d_of("v_low"));
        softmax_backward(of("weights_low"), d_of("weights_low"), all_rows(spec),
                         d_of("scores_low"));
        scores_backward(d_of("scores_low"), of("q"), of("k_low"), factor, all_rows(spec),
                        pass.d[Stage::q].matrix(b, h), d_of("k_low"));
        rows_backward(d_of("k_low"), params.tensors[kE].matrix(0, h), (*f)["k"].matrix(b, g), takes,
                      pass.d[Stage::k].matrix(b, g), pass.made.params.tensors[kE].matrix(0, h));
        rows_backward(d_of("v_low"), params.tensors[kF].matrix(0, h), (*f)["v"].matrix(b, g), takes,
                      pass.d[Stage::v].matrix(b, g), pass.made.params.tensors[kF].matrix(0, h));
    };
    return pass.run(control, run);
}

std::string refuses(const CallForm& form, const OperationSpec& spec) {
    if (spec.rank < 1) return fmt::format("rank is {}: it must be at least 1", spec.rank);
    if (form.spec.mask.causal)
        return "operation linformer does not support causal: each of its rows mixes all keys, "
               "including later ones";
    return refuse_pair_options("linformer", form, Factor::used);
}

OperationCost cost(const Dimensions& size, const AttentionSpec&, const OperationSpec& spec) {
    const auto rows = static_cast<double>(size.batch * size.heads * spec.rank);
    const auto tq = static_cast<double>(size.tq), tk = static_cast<double>(size.tk);
    const auto widths = static_cast<double>(size.d_k + size.d_v);
    OperationCost made;
    made.products = 2.0 * rows * (tq + tk) * widths;
    made.elementwise = 5.0 * rows * tq;
    made.stored = {{"keys and values of the rows", rows * widths}, {"weights", rows * tq}};
    return made;
}

// clang-format off
constexpr OperationParam kLinformerParams[] = {
    {"e", "E", "E", Role::key, Axis::latent, Axis::key, "How much of each key is in each row; initially normal with variance 1 / M.", per_rows},
    {"f", "F", "F", Role::value, Axis::latent, Axis::key, "How much of each value is in each row; initially normal with variance 1 / M.", per_rows},
};

}  // namespace

OperationInfo linformer_row() {
    static constexpr std::string_view settings[] = {"rank"};
    constexpr std::string_view kSource = "Wang et al. 2020, arXiv:2006.04768";
    static const std::vector<OperationStage> stages = stages_of(kSource, std::span(kUpToMask).first(5), {
        {"k_low", "E K", "E K", "Keys, projected to M rows",
         R"(K^\mathrm{low} = E\,K)",
         Axis::latent, Axis::d_k, HeadAxis::query, Exists::always, ColorScale::diverging, Role::key,
         {OperationOperand{"e", Lights::same_row}, OperationOperand{"k", Lights::column}},
         "Each of M rows is a weighted sum of all keys; the learned weights depend only on positions.", {}},
        {"v_low", "F V", "F V", "Values, projected to M rows",
         R"(V^\mathrm{low} = F\,V)",
         Axis::latent, Axis::d_v, HeadAxis::query, Exists::always, ColorScale::diverging, Role::value,
         {OperationOperand{"f", Lights::same_row}, OperationOperand{"v", Lights::column}},
         "The same for the values, with their own weights.", {}},
        {"scores_low", "S_low", "Q (E K)ᵀ", "Scores of queries and rows",
         R"(S^\mathrm{low} = Q\,(E\,K)^\top \cdot \frac{\mathrm{scale}}{\mathrm{temperature}})",
         Axis::query, Axis::latent, HeadAxis::query, Exists::always, ColorScale::diverging, Role::score,
         {OperationOperand{"q", Lights::same_row}, OperationOperand{"k_low", Lights::row_of_column}},
         "Each query meets M rows instead of n keys.", {}},
        {"weights_low", "A_low", "low", "Weights of the rows",
         R"(A^\mathrm{low} = \mathrm{softmax}(S^\mathrm{low}))",
         Axis::query, Axis::latent, HeadAxis::query, Exists::always, ColorScale::unit, Role::weight,
         {OperationOperand{"scores_low", Lights::same_row}},
         "The weights of each query over the rows: they sum to 1.", {}},
        {"implied", "Â", "implied", "Implied weights",
         R"(\hat{A} = A^\mathrm{low}\,F)",
         Axis::query, Axis::key, HeadAxis::query, Exists::always, ColorScale::diverging, Role::weight,
         {OperationOperand{"weights_low", Lights::same_row}, OperationOperand{"f", Lights::column}},
         "The final factor of each value. The rank is at most M; entries may be negative, and a row need not sum to 1.", {}},
        context_row(R"(\mathrm{context} = A^\mathrm{low}\,(F\,V))", "Each query takes a weighted average of the projected values."),
    });
    return {Operation::linformer, "linformer", "Low-rank attention (Linformer)",
        R"(\mathrm{context} = \mathrm{softmax}(Q\,(E\,K)^\top)\,(F\,V))",
        "A few weighted sums replace the keys and the values: the cost grows with M · n, not n².",
        kSource, false, stages, kLinformerParams, cost, refuses, forward, backward, "low rank (Linformer)", settings};
}
// clang-format on

}  // namespace attn
