// B batch, H query heads, Hkv key/value heads; b batch entry, h query head, g its key/value head,
// i query row, j key column. d_ = gradient of L = Σ upstream ∘ stage.

#include <algorithm>
#include <limits>
#include <vector>

#include "core/dropout.h"
#include "core/kernels/loops.h"
#include "core/kernels/reference.h"
#include "core/masks.h"

namespace attn {
namespace {

/// The upstream gradient, ones where none is given.
TensorD upstream_or_ones(const UpstreamD& upstream, const Shape& shape) {
    return upstream.gradient.empty() ? TensorD(shape, 1.0) : upstream.gradient;
}

// forward:  Y = concat(heads) W_O + b_O
// so        d_context_h = d_Y W_O,hᵀ,  d_W_O,h = context_hᵀ d_Y,  d_b_O = column sums of d_Y
void output_backward(const InputsD& in, const Dimensions& size, const TraceD& forward, TraceD& d) {
    const TensorD& w_o = in.params[Param::w_o];
    if (!w_o.empty()) d.params[Param::w_o] = TensorD(w_o.shape());
    if (!in.params[Param::b_o].empty())
        d.params[Param::b_o] = TensorD(in.params[Param::b_o].shape());
    for (Index b = 0; b < size.batch; ++b) {
        const ConstViewD d_y = std::as_const(d)[Stage::output].matrix(b, 0);
        for (Index h = 0; h < size.heads; ++h) {
            const ViewD d_context = d[Stage::context].matrix(b, h);
            const Index first = h * size.d_v;
            if (w_o.empty()) {
                for (Index i = 0; i < size.tq; ++i)
                    std::ranges::copy(d_y.column_block(first, size.d_v).row(i),
                                      d_context.row(i).begin());
                continue;
            }
            add_product_transposed(d_y, w_o.matrix(0, 0).row_block(first, size.d_v), d_context);
            add_transposed_product(forward[Stage::context].matrix(b, h), d_y,
                                   d.params[Param::w_o].matrix(0, 0).row_block(first, size.d_v));
        }
        if (!in.params[Param::b_o].empty()) add_column_sums(d_y, d.params[Param::b_o].matrix(0, 0));
    }
}

/// Row i of one head, from d_context back to q_i and to every k_j and v_j.
class RowBackward {
  public:
    RowBackward(const AttentionSpec& spec, const Dimensions& size, const TraceD& forward, TraceD& d)
        : spec_(spec),
          size_(size),
          forward_(forward),
          d_(d),
          factor_(score_factor(spec, size.d_k)),
          contributes_(static_cast<std::size_t>(size.tk)) {}

    void run(Index b, Index h, Index i) {
        const Index allowed = fill_contributing(spec_, size_, b, h, i, contributes_);
        weights(b, h, i);
        softmax(b, h, i, allowed == 0);
        queries_and_keys(b, h, i);
    }

  private:
    bool contributes(Index j) const { return contributes_[static_cast<std::size_t>(j)] != 0; }
    Index group(Index h) const { return h / (size_.heads / size_.kv_heads); }

    // forward:  context = Ã V,  Ã = A · keep / (1 − p)
    // so        d_V = Ãᵀ d_context,  d_Ã = d_context Vᵀ,  d_A = d_Ã · keep / (1 − p)
    void weights(Index b, Index h, Index i) {
        const Stage last = spec_.dropout > 0.0 ? Stage::dropped : Stage::weights;
        const ConstViewD a = forward_[last].matrix(b, h);
        const ConstViewD v = forward_[Stage::v].matrix(b, group(h));
        const ViewD d_v = d_[Stage::v].matrix(b, group(h));
        const ViewD d_context = d_[Stage::context].matrix(b, h);
        for (Index j = 0; j < size_.tk; ++j) {
            double d_a = 0.0;
            for (Index c = 0; c < size_.d_v; ++c) {
                d_a += d_context(i, c) * v(j, c);
                if (contributes(j)) d_v(j, c) += a(i, j) * d_context(i, c);
            }
            d_[last](b, h, i, j) = d_a;
            if (spec_.dropout > 0.0)
                d_[Stage::weights](b, h, i, j) = d_a * dropout_factor(spec_, size_, b, h, i, j);
        }
    }

    // forward:  A = softmax(M)  so  d_M = A ∘ (d_A − Σ_j d_A ∘ A)
    // forward:  M = S where allowed, S = scores · factor  so  d_S = d_M,  d_scores = d_S · factor
    void softmax(Index b, Index h, Index i, bool empty) {
        const ConstViewD a = forward_[Stage::weights].matrix(b, h);
        const ViewD d_a = d_[Stage::weights].matrix(b, h);
        const double nan = std::numeric_limits<double>::quiet_NaN();
        double row_sum = 0.0;
        for (Index j = 0; j < size_.tk; ++j)
            if (contributes(j)) row_sum += d_a(i, j) * a(i, j);
        for (Index j = 0; j < size_.tk; ++j) {
            double d_m = 0.0;
            if (contributes(j)) d_m = empty ? nan : a(i, j) * (d_a(i, j) - row_sum);
            d_[Stage::masked](b, h, i, j) = d_m;
            d_[Stage::scaled](b, h, i, j) = d_m;
            d_[Stage::scores](b, h, i, j) = d_m * factor_;
        }
    }

    // forward:  scores = Q Kᵀ  so  d_Q = d_scores K,  d_K = d_scoresᵀ Q
    void queries_and_keys(Index b, Index h, Index i) {
        const ConstViewD q = forward_[Stage::q].matrix(b, h);
        const ConstViewD k = forward_[Stage::k].matrix(b, group(h));
        const ViewD d_q = d_[Stage::q].matrix(b, h);
        const ViewD d_k = d_[Stage::k].matrix(b, group(h));
        const ViewD d_scores = d_[Stage::scores].matrix(b, h);
        for (Index j = 0; j < size_.tk; ++j)
            if (contributes(j))
                for (Index c = 0; c < size_.d_k; ++c) {
                    d_q(i, c) += d_scores(i, j) * k(j, c);
                    d_k(j, c) += d_scores(i, j) * q(i, c);
                }
    }

    const AttentionSpec& spec_;
    const Dimensions& size_;
    const TraceD& forward_;
    TraceD& d_;
    double factor_;
    std::vector<std::uint8_t> contributes_;
};

// forward:  Q = X W_Q + b_Q  so  d_X += d_Q W_Qᵀ,  d_W_Q = Xᵀ d_Q,  d_b_Q = column sums of d_Q
void project_backward(const TensorD& x, const ParamsD& params, Param weight, Param bias,
                      const TensorD& d_heads, TensorD& d_x, ParamsD& d_params) {
    const Shape shape = d_heads.shape();
    d_params[weight] = TensorD(params[weight].shape());
    if (!params[bias].empty()) d_params[bias] = TensorD(params[bias].shape());
    for (Index b = 0; b < shape.b; ++b)
        for (Index h = 0; h < shape.h; ++h) {
            const auto block = [&](auto view) { return view.column_block(h * shape.d, shape.d); };
            const ConstViewD d_head = d_heads.matrix(b, h);
            add_product_transposed(d_head, block(params[weight].matrix(0, 0)), d_x.matrix(b, 0));
            add_transposed_product(x.matrix(b, 0), d_head, block(d_params[weight].matrix(0, 0)));
            if (!params[bias].empty()) add_column_sums(d_head, block(d_params[bias].matrix(0, 0)));
        }
}

void inputs_backward(const InputsD& in, TraceD& d) {
    if (!in.projects()) return;
    const bool cross = !in.x_kv.empty();
    d[Stage::x] = TensorD(in.x.shape());
    d[Stage::x_kv] = TensorD(in.x_kv.shape());
    const TensorD& x_kv = cross ? in.x_kv : in.x;
    TensorD& d_x_kv = d[cross ? Stage::x_kv : Stage::x];
    project_backward(in.x, in.params, Param::w_q, Param::b_q, d[Stage::q], d[Stage::x], d.params);
    project_backward(x_kv, in.params, Param::w_k, Param::b_k, d[Stage::k], d_x_kv, d.params);
    project_backward(x_kv, in.params, Param::w_v, Param::b_v, d[Stage::v], d_x_kv, d.params);
}

}  // namespace

TraceD reference_backward(const InputsD& inputs, const AttentionSpec& spec, const Dimensions& size,
                          const TraceD& forward, const UpstreamD& upstream) {
    TraceD d;
    for (const Stage stage : {Stage::q, Stage::k, Stage::v, Stage::scores, Stage::scaled,
                              Stage::masked, Stage::weights, Stage::dropped, Stage::context})
        d[stage] = TensorD(stage_shape(stage, size, spec));
    d[upstream.stage] = upstream_or_ones(upstream, stage_shape(upstream.stage, size, spec));
    if (upstream.stage == Stage::output) output_backward(inputs, size, forward, d);
    RowBackward row(spec, size, forward, d);
    for (Index b = 0; b < size.batch; ++b)
        for (Index h = 0; h < size.heads; ++h)
            for (Index i = 0; i < size.tq; ++i) row.run(b, h, i);
    inputs_backward(inputs, d);
    return d;
}

}  // namespace attn
