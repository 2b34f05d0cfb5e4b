// B batch, H query heads, Hkv key/value heads; b batch entry, h query head, g its key/value head,
// i query row, j key column. d_ = gradient of L = Σ upstream ∘ stage.

#include <limits>
#include <vector>

#include "core/dropout.h"
#include "core/kernels/contributing.h"
#include "core/kernels/staged.h"

namespace attn {
namespace {

// forward:  Y = concat(heads) W_O + b_O
// so        d_context_h = d_Y W_O,hᵀ,  d_W_O,h = context_hᵀ d_Y,  d_b_O = column sums of d_Y
void output_backward(const Inputs& in, const Dimensions& size, const Trace& forward, Trace& d) {
    const Tensor& w_o = in.params[Param::w_o];
    if (!w_o.empty()) d.params[Param::w_o] = Tensor(w_o.shape());
    if (!in.params[Param::b_o].empty())
        d.params[Param::b_o] = Tensor(in.params[Param::b_o].shape());
    for (Index b = 0; b < size.batch; ++b) {
        const MatrixView<const float> d_y = std::as_const(d)[Stage::output].matrix(b, 0);
        for (Index h = 0; h < size.heads; ++h) {
            auto d_context = eigen(d[Stage::context].matrix(b, h));
            const Index first = h * size.d_v;
            if (w_o.empty()) {
                d_context = eigen(d_y.column_block(first, size.d_v));
                continue;
            }
            const auto w_o_h = eigen(w_o.matrix(0, 0).row_block(first, size.d_v));
            d_context.noalias() = eigen(d_y) * w_o_h.transpose();
            eigen(d.params[Param::w_o].matrix(0, 0).row_block(first, size.d_v)).noalias() +=
                eigen(forward[Stage::context].matrix(b, h)).transpose() * eigen(d_y);
        }
        if (!in.params[Param::b_o].empty())
            eigen(d.params[Param::b_o].matrix(0, 0)).row(0) += eigen(d_y).colwise().sum();
    }
}

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
    // forward:  scores = Q Kᵀ      so  d_Q = d_scores K,  d_K = d_scoresᵀ Q
    void run(Index b, Index h) {
        const Index g = h / (size_.heads / size_.kv_heads);
        ContributingPairs pairs(spec_, size_, b, h);
        const auto d_context = d_[Stage::context].matrix(b, h);
        pairs.add_over_queries(forward_[last_].matrix(b, h), d_context, d_[Stage::v].matrix(b, g));
        eigen(d_[last_].matrix(b, h)).noalias() =
            eigen(d_context) * eigen(forward_[Stage::v].matrix(b, g)).transpose();
        for (Index i = 0; i < size_.tq; ++i) {
            if (spec_.dropout > 0.0) undrop(b, h, i);
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

    // forward:  Ã = A · keep / (1 − p)  so  d_A = d_Ã · keep / (1 − p)
    void undrop(Index b, Index h, Index i) {
        const std::span<const float> d_dropped = d_row(Stage::dropped, b, h, i);
        const std::span<float> d_a = d_row(Stage::weights, b, h, i);
        for (std::size_t j = 0; j < d_a.size(); ++j)
            d_a[j] = d_dropped[j] * static_cast<float>(dropout_factor(spec_, size_, b, h, i,
                                                                      static_cast<Index>(j)));
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

// forward:  Q = X W_Q + b_Q  so  d_X += d_Q W_Qᵀ,  d_W_Q = Xᵀ d_Q,  d_b_Q = column sums of d_Q
void project_backward(const Tensor& x, const Params& params, Param weight, Param bias,
                      const Tensor& d_heads, Tensor& d_x, Params& d_params) {
    const Shape shape = d_heads.shape();
    d_params[weight] = Tensor(params[weight].shape());
    if (!params[bias].empty()) d_params[bias] = Tensor(params[bias].shape());
    for (Index b = 0; b < shape.b; ++b)
        for (Index h = 0; h < shape.h; ++h) {
            const auto block = [&](auto& joined) {
                return eigen(joined.matrix(0, 0).column_block(h * shape.d, shape.d));
            };
            const auto d_head = eigen(d_heads.matrix(b, h));
            eigen(d_x.matrix(b, 0)).noalias() += d_head * block(params[weight]).transpose();
            block(d_params[weight]).noalias() += eigen(x.matrix(b, 0)).transpose() * d_head;
            if (!params[bias].empty()) block(d_params[bias]).row(0) += d_head.colwise().sum();
        }
}

void inputs_backward(const Inputs& in, Trace& d) {
    if (!in.projects()) return;
    const bool cross = !in.x_kv.empty();
    d[Stage::x] = Tensor(in.x.shape());
    d[Stage::x_kv] = Tensor(in.x_kv.shape());
    const Tensor& x_kv = cross ? in.x_kv : in.x;
    Tensor& d_x_kv = d[cross ? Stage::x_kv : Stage::x];
    project_backward(in.x, in.params, Param::w_q, Param::b_q, d[Stage::q], d[Stage::x], d.params);
    project_backward(x_kv, in.params, Param::w_k, Param::b_k, d[Stage::k], d_x_kv, d.params);
    project_backward(x_kv, in.params, Param::w_v, Param::b_v, d[Stage::v], d_x_kv, d.params);
}

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
    if (upstream.stage == Stage::output) output_backward(inputs, size, forward, d);
    HeadBackward head(spec, size, forward, d);
    for (Index b = 0; b < size.batch; ++b)
        for (Index h = 0; h < size.heads; ++h) head.run(b, h);
    inputs_backward(inputs, d);
    return d;
}

}  // namespace attn
