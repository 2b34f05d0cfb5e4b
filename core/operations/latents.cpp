// Learned-query cross-attention: M latents attend to the tokens (in), the tokens attend to the latents (out).
//   A_in = softmax(L Kᵀ f),  Z = A_in V,  K_Z = Z W,  A_out = softmax(Q K_Zᵀ f),  context = A_out Z = (A_out A_in) V
// f = scale / temperature. L and W are learned, one of each a query head. Every pair goes through M numbers: the implied
// matrix has rank M at most.
// Source: Jaegle et al. 2021, arXiv:2103.03206 (in), 2021, arXiv:2107.14795 (out); Lee et al. 2019, arXiv:1810.00825.

#include <fmt/format.h>

#include "core/call.h"
#include "core/kernels/reference_parts.h"
#include "core/operations/few_rows.h"
#include "core/stages.h"

namespace attn {
namespace {

enum Params : std::size_t { kLatents, kWLatent };

Result<OperationTraceD> forward(const CallD& call, const OperationSpec& spec,
                                const OperationParamsD& params, const RunControl& control) {
    const Dimensions& size = call.size();
    ForwardPass pass(call, spec,
                     {"scores_in", "weights_in", "latent_values", "latent_keys", "scores_out",
                      "weights_out", "implied"});
    fill_q_k_v(call, pass.shared);
    const double factor = score_factor(call.spec(), size.d_k);
    const std::vector<std::uint8_t> every_latent(static_cast<std::size_t>(spec.latents), 1);
    const TraceD& given = pass.shared;
    const auto run = [&](Index b, Index h, Index g) {
        const auto view = [&](std::string_view key) { return pass.trace[key].matrix(b, h); };
        const std::vector<std::uint8_t> open = open_keys(call, b);
        const std::vector<std::uint8_t> takes = contributing(call, open);
        const ConstViewD latents = params.tensors[kLatents].matrix(0, h);
        add_scores(latents, given[Stage::k].matrix(b, g), factor, view("scores_in"));
        softmax_rows(view("scores_in"), open, call.spec().empty_rows, view("weights_in"));
        add_open_product(view("weights_in"), given[Stage::v].matrix(b, g), takes,
                         view("latent_values"));
        add_product(view("latent_values"), params.tensors[kWLatent].matrix(0, h),
                    view("latent_keys"));
        add_scores(given[Stage::q].matrix(b, h), view("latent_keys"), factor, view("scores_out"));
        softmax_rows(view("scores_out"), every_latent, EmptyRows::nan, view("weights_out"));
        add_product(view("weights_out"), view("weights_in"), view("implied"));
        add_product(view("weights_out"), view("latent_values"), pass.context.matrix(b, h));
    };
    return pass.run(control, run);
}

/// One head, from d_context back to q, k, v, the latents and W.
class HeadGradient {
  public:
    HeadGradient(const CallD& call, const OperationSpec& spec, const OperationParamsD& params,
                 const OperationTraceD& f, TraceD& d, OperationTraceD& made)
        : call_(call),
          params_(params),
          f_(f),
          d_(d),
          made_(made),
          factor_(score_factor(call.spec(), call.size().d_k)),
          every_latent_(static_cast<std::size_t>(spec.latents), 1) {}

    void run(Index b, Index h, Index g) {
        out(b, h);
        in(b, h, g, contributing(call_, open_keys(call_, b)));
    }

  private:
    // forward:  K_Z = Z W,  A_out = softmax(factor · Q K_Zᵀ),  context = A_out Z
    // so        d_A_out = d_context Zᵀ,  d_Z = A_outᵀ d_context + d_K_Z Wᵀ,  d_W = Zᵀ d_K_Z
    void out(Index b, Index h) {
        const ConstViewD d_context = std::as_const(d_)[Stage::context].matrix(b, h);
        const ConstViewD z = f_["latent_values"].matrix(b, h);
        const ViewD d_keys = made_["latent_keys"].matrix(b, h);
        const ViewD d_z = made_["latent_values"].matrix(b, h);
        add_product_transposed(d_context, z, made_["weights_out"].matrix(b, h));
        add_transposed_product(f_["weights_out"].matrix(b, h), d_context, d_z);
        softmax_backward(f_["weights_out"].matrix(b, h), made_["weights_out"].matrix(b, h),
                         every_latent_, made_["scores_out"].matrix(b, h));
        scores_backward(made_["scores_out"].matrix(b, h), f_["q"].matrix(b, h),
                        f_["latent_keys"].matrix(b, h), factor_, every_latent_,
                        d_[Stage::q].matrix(b, h), d_keys);
        add_product_transposed(d_keys, params_.tensors[kWLatent].matrix(0, h), d_z);
        add_transposed_product(z, d_keys, made_.params.tensors[kWLatent].matrix(0, h));
    }

    // forward:  A_in = softmax(factor · L Kᵀ),  Z = A_in V  so  d_A_in = d_Z Vᵀ,  d_V = A_inᵀ d_Z
    void in(Index b, Index h, Index g, const std::vector<std::uint8_t>& takes) {
        const ConstViewD d_z = made_["latent_values"].matrix(b, h);
        const ConstViewD a = f_["weights_in"].matrix(b, h);
        const ViewD d_v = d_[Stage::v].matrix(b, g);
        add_product_transposed(d_z, f_["v"].matrix(b, g), made_["weights_in"].matrix(b, h));
        for (Index m = 0; m < a.rows; ++m)
            for (Index j = 0; j < a.columns; ++j)
                if (takes[j] != 0)
                    for (Index c = 0; c < d_v.columns; ++c) d_v(j, c) += a(m, j) * d_z(m, c);
        softmax_backward(a, made_["weights_in"].matrix(b, h), takes,
                         made_["scores_in"].matrix(b, h));
        scores_backward(made_["scores_in"].matrix(b, h), params_.tensors[kLatents].matrix(0, h),
                        f_["k"].matrix(b, g), factor_, takes,
                        made_.params.tensors[kLatents].matrix(0, h), d_[Stage::k].matrix(b, g));
    }

    const CallD& call_;
    const OperationParamsD& params_;
    const OperationTraceD& f_;
    TraceD& d_;
    OperationTraceD& made_;
    double factor_;
    std::vector<std::uint8_t> every_latent_;
};

Result<OperationTraceD> backward(const CallD& call, const OperationSpec& spec,
                                 const OperationParamsD& params, const UpstreamD& upstream,
                                 const RunControl& control) {
    const Result<OperationTraceD> f = forward(call, spec, params, control);
    if (!f) return f;
    BackwardPass pass(
        call, spec, *f, upstream,
        {"scores_in", "weights_in", "latent_values", "latent_keys", "scores_out", "weights_out"});
    HeadGradient gradient(call, spec, params, *f, pass.d, pass.made);
    const auto run = [&](Index b, Index h, Index g) { gradient.run(b, h, g); };
    return pass.run(control, run);
}

std::string refuses(const CallForm& form, const OperationSpec& spec) {
    if (spec.latents < 1) return fmt::format("latents is {}: it must be at least 1", spec.latents);
    if (form.spec.mask.causal)
        return "operation latents does not support causal: a latent reads all tokens, and would "
               "pass later ones to earlier ones";
    return refuse_pair_options("latents", form, Factor::used);
}

OperationCost cost(const Dimensions& size, const AttentionSpec&, const OperationSpec& spec) {
    const auto latents = static_cast<double>(size.batch * size.heads * spec.latents);
    const auto tokens = static_cast<double>(size.tq + size.tk);
    const auto d_k = static_cast<double>(size.d_k), d_v = static_cast<double>(size.d_v);
    OperationCost made;
    made.products = 2.0 * latents * (tokens * (d_k + d_v) + d_v * d_k);
    made.elementwise = 5.0 * latents * tokens;
    made.stored = {{"weights in and out", latents * tokens},
                   {"values and keys of the latents", latents * (d_v + d_k)}};
    return made;
}

// clang-format off
constexpr OperationParam kLatentsParams[] = {
    {"latents", "latents", "L", Role::query, Axis::latent, Axis::d_k, "Learned queries; initially standard normal.",
     [](double noise, const ParamEntry&) { return noise; }},
    {"w_latent", "W_latent", "W", Role::key, Axis::d_v, Axis::d_k,
     "From a latent's values to its key; initially normal with variance 1 / d_v.",
     per_rows},
};

}  // namespace

OperationInfo latents_row() {
    static constexpr std::string_view settings[] = {"latents"};
    constexpr std::string_view kSource = "Jaegle et al. 2021, arXiv:2103.03206 and arXiv:2107.14795; Lee et al. 2019, arXiv:1810.00825";
    static const std::vector<OperationStage> stages = stages_of(kSource, std::span(kUpToMask).first(5), {
        {"scores_in", "S_in", "L Kᵀ", "Scores of latents and tokens",
         R"(S^\mathrm{in} = L\,K^\top \cdot \frac{\mathrm{scale}}{\mathrm{temperature}})",
         Axis::latent, Axis::key, HeadAxis::query, Exists::always, ColorScale::diverging, Role::score,
         {OperationOperand{"latents", Lights::same_row}, OperationOperand{"k", Lights::row_of_column}},
         "Each latent, a learned query, meets each token's key.", {}},
        {"weights_in", "A_in", "in", "Weights of each latent",
         R"(A^\mathrm{in} = \mathrm{softmax}(S^\mathrm{in}))",
         Axis::latent, Axis::key, HeadAxis::query, Exists::always, ColorScale::unit, Role::weight,
         {OperationOperand{"scores_in", Lights::same_row}},
         "The weights of each latent over the tokens: a row sums to 1.", {}},
        {"latent_values", "Z", "Z", "Values of the latents",
         R"(Z = A^\mathrm{in}\,V)",
         Axis::latent, Axis::d_v, HeadAxis::query, Exists::always, ColorScale::diverging, Role::value,
         {OperationOperand{"weights_in", Lights::same_row}, OperationOperand{"v", Lights::column}},
         "The contexts of the latents: M rows summarize the whole sequence.", {}},
        {"latent_keys", "K_Z", "K_Z", "Keys of the latents",
         R"(K_Z = Z\,W)",
         Axis::latent, Axis::d_k, HeadAxis::query, Exists::always, ColorScale::diverging, Role::key,
         {OperationOperand{"latent_values", Lights::same_row}, OperationOperand{"w_latent", Lights::column}},
         "The keys of the latents: their values times a learned matrix.", {}},
        {"scores_out", "S_out", "Q K_Zᵀ", "Scores of tokens and latents",
         R"(S^\mathrm{out} = Q\,K_Z^\top \cdot \frac{\mathrm{scale}}{\mathrm{temperature}})",
         Axis::query, Axis::latent, HeadAxis::query, Exists::always, ColorScale::diverging, Role::score,
         {OperationOperand{"q", Lights::same_row}, OperationOperand{"latent_keys", Lights::row_of_column}},
         "Each token's query meets each latent's key.", {}},
        {"weights_out", "A_out", "out", "Weights of each token",
         R"(A^\mathrm{out} = \mathrm{softmax}(S^\mathrm{out}))",
         Axis::query, Axis::latent, HeadAxis::query, Exists::always, ColorScale::unit, Role::weight,
         {OperationOperand{"scores_out", Lights::same_row}},
         "The weights of each token over the latents: a row sums to 1.", {}},
        {"implied", "Â", "implied", "Implied weights",
         R"(\hat{A} = A^\mathrm{out}\,A^\mathrm{in})",
         Axis::query, Axis::key, HeadAxis::query, Exists::always, ColorScale::unit, Role::weight,
         {OperationOperand{"weights_out", Lights::same_row}, OperationOperand{"weights_in", Lights::column}},
         "The final factor of each value, from token to latent to token. The rank is at most M.", {}},
        context_row(R"(\mathrm{context} = A^\mathrm{out}\,Z)", "Each token takes a weighted average of the latents' values."),
    });
    return {Operation::latents, "latents", "Learned latents, in and out",
        R"(\mathrm{context} = A^\mathrm{out}\,(A^\mathrm{in}\,V)\text{, }A^\mathrm{in} = \mathrm{softmax}(L\,K^\top)\text{, }A^\mathrm{out} = \mathrm{softmax}(Q\,K_Z^\top))",
        "A few learned queries compress all tokens into M vectors, which the tokens read: the cost grows with M · n, not n².",
        kSource, false, stages, kLatentsParams, cost, refuses, forward, backward, "latents", settings};
}
// clang-format on

}  // namespace attn
