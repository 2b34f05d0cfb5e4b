// B batch, H query heads, Hkv key/value heads; b batch entry, h query head, g its key/value head,
// i query row, j key column. d_ = gradient of L = Σ upstream ∘ stage.

#include <cmath>
#include <limits>
#include <vector>

#include "core/bias.h"
#include "core/call.h"
#include "core/dropout.h"
#include "core/kernels/contributing.h"
#include "core/kernels/projections.h"
#include "core/kernels/staged.h"
#include "core/scores/operands.h"
#include "core/scores/pair_rule.h"
#include "core/scores/score.h"
#include "core/spec_arrays.h"
#include "core/threads.h"
#include "core/trace.h"

namespace attn {
namespace {

/// One head, from d_context back to the gradients of its operands q̂ and its share of those of k̂ and V.
class HeadBackward {
  public:
    HeadBackward(const Call& call, const Trace& forward, const HeadTensors& operands, Trace& d,
                 Operands& d_operands)
        : call_(call),
          spec_(call.spec()),
          size_(call.size()),
          sinks_(call.inputs().params[Param::sinks]),
          forward_(forward),
          operands_(operands),
          d_(d),
          d_operands_(d_operands),
          last_(stage_or_source(Stage::dropped, spec_)),
          factor_(static_cast<float>(score_factor(spec_, size_.d_k))),
          contributes_(static_cast<std::size_t>(size_.tk), 1) {
        params_[Param::sinks] = Tensor(sinks_.shape());
    }

    // forward:  context = Ã V      so  d_V = Ãᵀ d_context,  d_Ã = d_context Vᵀ
    // forward:  Ã = A · keep/(1−p) so  d_A = d_Ã · keep/(1−p)
    // forward:  scores = q̂ k̂ᵀ     so  d_q̂ = d_scores k̂,  d_k̂ = d_scoresᵀ q̂
    void run(Index b, Index h) {
        const Index g = h / (size_.heads / size_.kv_heads);
        ContributingPairs pairs(spec_, size_, b, h);
        const auto d_context = d_[Stage::context].matrix(b, h);
        pairs.add_over_queries(forward_[last_].matrix(b, h), d_context, d_[Stage::v].matrix(b, g));
        eigen(d_[last_].matrix(b, h)).noalias() =
            eigen(d_context) * eigen(forward_[Stage::v].matrix(b, g)).transpose();
        for (Index i = 0; i < size_.tq; ++i) {
            if (spec_.drops())
                apply_dropout(spec_, size_, b, h, i, d_row(Stage::dropped, b, h, i),
                              d_row(Stage::weights, b, h, i));
            softmax(b, h, i);
        }
        const MatrixView<const float> d_scores = d_[Stage::scores].matrix(b, h);
        const auto q = operands_.q.matrix(b, h);
        const auto k = operands_.k.matrix(b, g);
        if (!is_dot(spec_.score))
            return pair_products_backward(call_, {h, 0, size_.tq}, q, k, d_scores,
                                          d_operands_.q.matrix(b, h), d_operands_.k.matrix(b, g),
                                          params_);
        pairs.add_over_keys(d_scores, k, d_operands_.q.matrix(b, h));
        pairs.add_over_queries(d_scores, q, d_operands_.k.matrix(b, g));
    }

    /// Gradients of the sinks and of the parameters of the score's product, over the heads so far.
    const Params& params() const { return params_; }

  private:
    std::span<float> d_row(Stage stage, Index b, Index h, Index i) {
        return d_[stage].matrix(b, h).row(i);
    }

    // forward:  A = softmax(M)  so  d_M = A ∘ (d_A − Σ_j d_A ∘ A);  a sink weighs exp(sink − logsumexp), with no value
    // forward:  M = B where allowed, B = cap tanh(S / cap) + bias − slope |p − j|, S = scores · factor
    // so        d_B = d_M,  d_S = d_B (1 − tanh²(S / cap)),  d_scores = d_S · factor
    void softmax(Index b, Index h, Index i) {
        const std::span<const float> a = forward_[Stage::weights].matrix(b, h).row(i);
        const std::span<const float> d_a = d_row(Stage::weights, b, h, i);
        const std::span<float> d_m = d_row(Stage::masked, b, h, i);
        if (spec_.mask.any() && fill_contributing(spec_, size_, b, h, i, contributes_) == 0)
            empty_row(d_m);
        else
            allowed_row(b, h, i, a, d_a, d_m);
        if (spec_.biases()) eigen(d_row(Stage::biased, b, h, i)) = eigen(d_m);
        const std::span<float> d_s = d_row(Stage::scaled, b, h, i);
        eigen(d_s) = eigen(d_m);
        if (spec_.softcap) uncap(b, h, i, d_s);
        eigen(d_row(Stage::scores, b, h, i)) = eigen(d_s) * factor_;
    }

    void uncap(Index b, Index h, Index i, std::span<float> d_s) const {
        const std::span<const float> scaled = forward_[Stage::scaled].matrix(b, h).row(i);
        const PairRule rule = pair_rule(spec_, size_, 0);
        for (std::size_t j = 0; j < d_s.size(); ++j)
            if (d_s[j] != 0.0F)
                d_s[j] *= static_cast<float>(rule.derivative(
                    scaled[j], bias_at(spec_.mask, b, h, i, static_cast<Index>(j))));
    }

    void empty_row(std::span<float> d_m) const {
        const bool nan = spec_.empty_rows == EmptyRows::nan;
        eigen(d_m) = nan ? std::numeric_limits<float>::quiet_NaN() : 0.0F;
    }

    void allowed_row(Index b, Index h, Index i, std::span<const float> a,
                     std::span<const float> d_a, std::span<float> d_m) {
        for (std::size_t j = 0; j < a.size(); ++j)
            d_m[j] = contributes_[j] != 0 ? d_a[j] * a[j] : 0.0F;
        const float row_sum = eigen(d_m).sum();
        if (!sinks_.empty())
            params_[Param::sinks](0, 0, 0, h) -=
                sink_weight(sinks_(0, 0, 0, h), forward_.logsumexp(b, h, i, 0), a) * row_sum;
        for (std::size_t j = 0; j < a.size(); ++j)
            d_m[j] = contributes_[j] != 0 ? a[j] * (d_a[j] - row_sum) : 0.0F;
    }

    /// exp(sink − logsumexp), or where the rounding of a large logsumexp would show in it what the keys leave of 1.
    static float sink_weight(float sink, float logsumexp, std::span<const float> a) {
        const float weight = std::exp(sink - logsumexp);
        if (!(weight * std::abs(logsumexp) > 1.0F)) return weight;
        return static_cast<float>(1.0 - eigen(a).cast<double>().sum());
    }

    const Call& call_;
    const AttentionSpec& spec_;
    const Dimensions& size_;
    const Tensor& sinks_;
    const Trace& forward_;
    const HeadTensors& operands_;
    Trace& d_;
    Operands& d_operands_;
    Params params_;
    Stage last_;
    float factor_;
    std::vector<std::uint8_t> contributes_;
};

void add_to(const Params& part, Params& sum) {
    for (std::size_t p = 0; p < kParamCount; ++p) {
        if (part.tensors[p].empty()) continue;
        if (sum.tensors[p].empty()) sum.tensors[p] = Tensor(part.tensors[p].shape());
        eigen(sum.tensors[p].values()) += eigen(part.tensors[p].values());
    }
}

}  // namespace

Result<Trace> staged_backward(const Call& call, const Trace& forward, const Upstream& upstream,
                              const RunControl& control) {
    const Dimensions& size = call.size();
    Trace d = begin_gradients(call, forward[Stage::context], upstream);
    for (const Stage stage : {Stage::v, Stage::scores, Stage::scaled, Stage::biased, Stage::masked,
                              Stage::weights, Stage::dropped})
        d[stage] = Tensor(stage_shape(stage, size, call.spec()));
    const HeadTensors heads = held_heads(call, forward);
    const Operands made = make_operands(call, heads.q, heads.k);
    const HeadTensors operands = operands_of(heads, made);
    Operands d_operands{Tensor(operands.q.shape()), Tensor(operands.k.shape())};
    // Heads that share a key/value head add to the same d_K and d_V: one thread takes them all. The parameters' sums are
    // taken in the order of the heads, so that every run gives the same numbers.
    const Index sharing = size.heads / size.kv_heads;
    std::vector<Params> params(size.batch * size.kv_heads);
    const bool finished = parallel_for(size.batch * size.kv_heads, control, [&](Index n, int) {
        HeadBackward head(call, forward, operands, d, d_operands);
        const Index first = n % size.kv_heads * sharing;
        for (Index h = first; h < first + sharing; ++h) head.run(n / size.kv_heads, h);
        params[n] = head.params();
    });
    if (!finished) return failed("the attention call was stopped");
    for (const Params& part : params) add_to(part, d.params);
    d.bias = bias_gradient(call.spec(), d);
    scores_backward(call, forward, heads, std::move(d_operands), d);
    inputs_backward(call.inputs(), d);
    return d;
}

}  // namespace attn
