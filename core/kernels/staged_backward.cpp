// B batch, H query heads, Hkv key/value heads; b batch entry, h query head, g its key/value head,
// i query row, j key column. d_ = gradient of L = Σ upstream ∘ stage.

#include <limits>
#include <vector>

#include "core/dropout.h"
#include "core/kernels/contributing.h"
#include "core/kernels/projections.h"
#include "core/kernels/staged.h"

namespace attn {
namespace {

/// One head, from d_context back to its d_Q and its share of d_K and d_V.
class HeadBackward {
  public:
    HeadBackward(const AttentionSpec& spec, const Dimensions& size, const Trace& forward, Trace& d)
        : spec_(spec),
          size_(size),
          forward_(forward),
          d_(d),
          last_(spec.dropout > 0.0 ? Stage::dropped : Stage::weights),
          factor_(static_cast<float>(score_factor(spec, size.d_k))),
          contributes_(static_cast<std::size_t>(size.tk), 1) {}

    // forward:  context = Ã V      so  d_V = Ãᵀ d_context,  d_Ã = d_context Vᵀ
    // forward:  Ã = A · keep/(1−p) so  d_A = d_Ã · keep/(1−p)
    // forward:  scores = Q Kᵀ      so  d_Q = d_scores K,  d_K = d_scoresᵀ Q
    void run(Index b, Index h) {
        const Index g = h / (size_.heads / size_.kv_heads);
        ContributingPairs pairs(spec_, size_, b, h);
        const auto d_context = d_[Stage::context].matrix(b, h);
        pairs.add_over_queries(forward_[last_].matrix(b, h), d_context, d_[Stage::v].matrix(b, g));
        eigen(d_[last_].matrix(b, h)).noalias() =
            eigen(d_context) * eigen(forward_[Stage::v].matrix(b, g)).transpose();
        for (Index i = 0; i < size_.tq; ++i) {
            if (spec_.dropout > 0.0)
                apply_dropout(spec_, size_, b, h, i, d_row(Stage::dropped, b, h, i),
                              d_row(Stage::weights, b, h, i));
            softmax(b, h, i);
        }
        const auto d_scores = d_[Stage::scores].matrix(b, h);
        pairs.add_over_keys(d_scores, forward_[Stage::k].matrix(b, g), d_[Stage::q].matrix(b, h));
        pairs.add_over_queries(d_scores, forward_[Stage::q].matrix(b, h),
                               d_[Stage::k].matrix(b, g));
    }

  private:
    std::span<float> d_row(Stage stage, Index b, Index h, Index i) {
        return d_[stage].matrix(b, h).row(i);
    }

    // forward:  A = softmax(M)  so  d_M = A ∘ (d_A − Σ_j d_A ∘ A)
    // forward:  M = S where allowed, S = scores · factor  so  d_S = d_M,  d_scores = d_S · factor
    void softmax(Index b, Index h, Index i) {
        const std::span<const float> a = forward_[Stage::weights].matrix(b, h).row(i);
        const std::span<const float> d_a = d_row(Stage::weights, b, h, i);
        const std::span<float> d_m = d_row(Stage::masked, b, h, i);
        if (spec_.mask.any() && fill_contributing(spec_, size_, b, h, i, contributes_) == 0)
            empty_row(d_m);
        else
            allowed_row(a, d_a, d_m);
        eigen(d_row(Stage::scaled, b, h, i)) = eigen(d_m);
        eigen(d_row(Stage::scores, b, h, i)) = eigen(d_m) * factor_;
    }

    void empty_row(std::span<float> d_m) const {
        const bool nan = spec_.empty_rows == EmptyRows::nan;
        eigen(d_m) = nan ? std::numeric_limits<float>::quiet_NaN() : 0.0F;
    }

    void allowed_row(std::span<const float> a, std::span<const float> d_a,
                     std::span<float> d_m) const {
        for (std::size_t j = 0; j < a.size(); ++j)
            d_m[j] = contributes_[j] != 0 ? d_a[j] * a[j] : 0.0F;
        const float row_sum = eigen(d_m).sum();
        for (std::size_t j = 0; j < a.size(); ++j)
            d_m[j] = contributes_[j] != 0 ? a[j] * (d_a[j] - row_sum) : 0.0F;
    }

    const AttentionSpec& spec_;
    const Dimensions& size_;
    const Trace& forward_;
    Trace& d_;
    Stage last_;
    float factor_;
    std::vector<std::uint8_t> contributes_;
};

}  // namespace

Trace staged_backward(const Inputs& inputs, const AttentionSpec& spec, const Dimensions& size,
                      const Trace& forward, const Upstream& upstream) {
    Trace d;
    for (const Stage stage : {Stage::q, Stage::k, Stage::v, Stage::scores, Stage::scaled,
                              Stage::masked, Stage::weights, Stage::dropped, Stage::context})
        d[stage] = Tensor(stage_shape(stage, size, spec));
    d[upstream.stage] = upstream.gradient.empty()
                            ? Tensor(stage_shape(upstream.stage, size, spec), 1.0F)
                            : upstream.gradient;
    if (upstream.stage == Stage::output) output_backward(inputs, size, forward[Stage::context], d);
    // Heads that share a key/value head add to the same d_K and d_V: one thread takes them all.
    const Index sharing = size.heads / size.kv_heads;
    parallel_for(size.batch * size.kv_heads, {}, [&](Index n, int) {
        HeadBackward head(spec, size, forward, d);
        const Index first = n % size.kv_heads * sharing;
        for (Index h = first; h < first + sharing; ++h) head.run(n / size.kv_heads, h);
    });
    inputs_backward(inputs, d);
    return d;
}

}  // namespace attn
