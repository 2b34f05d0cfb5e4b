// B batch, H query heads, Hkv key/value heads; b batch entry, h query head, g its key/value head,
// i query row, j key column. d_ = gradient of L = Σ upstream ∘ stage.

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "core/bias.h"
#include "core/call.h"
#include "core/dropout.h"
#include "core/kernels/loops.h"
#include "core/kernels/reference.h"
#include "core/kernels/reference_parts.h"
#include "core/masks.h"
#include "core/qk_norm.h"
#include "core/rotary.h"
#include "core/scores/operands.h"
#include "core/scores/pair_rule.h"
#include "core/scores/score.h"
#include "core/spec_arrays.h"
#include "core/trace.h"

namespace attn {
namespace {

/// The upstream gradient, ones where none is given.
TensorD upstream_or_ones(const UpstreamD& upstream, const Shape& shape) {
    return upstream.gradient.empty() ? TensorD(shape, 1.0) : upstream.gradient;
}

// forward:  Y = concat(heads) W_O + b_O
// so        d_context_h = d_Y W_O,hᵀ,  d_W_O,h = context_hᵀ d_Y,  d_b_O = column sums of d_Y
void output_backward(const InputsD& in, const Dimensions& size, const TensorD& context, TraceD& d) {
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
            add_transposed_product(context.matrix(b, h), d_y,
                                   d.params[Param::w_o].matrix(0, 0).row_block(first, size.d_v));
        }
        if (!in.params[Param::b_o].empty()) add_column_sums(d_y, d.params[Param::b_o].matrix(0, 0));
    }
}

/// Row i of one head, from d_context back to d_scores, and to every v_j.
class RowBackward {
  public:
    RowBackward(const CallD& call, const TraceD& forward, TraceD& d)
        : spec_(call.spec()),
          size_(call.size()),
          sinks_(call.inputs().params[Param::sinks]),
          forward_(forward),
          d_(d),
          contributes_(static_cast<std::size_t>(size_.tk)) {}

    void run(Index b, Index h, Index i) {
        const Index allowed = fill_contributing(spec_, size_, b, h, i, contributes_);
        weights(b, h, i);
        softmax(b, h, i, allowed == 0);
    }

  private:
    bool contributes(Index j) const { return contributes_[j] != 0; }
    Index group(Index h) const { return h / (size_.heads / size_.kv_heads); }

    // forward:  context = Ã V,  Ã = A · keep / (1 − p)
    // so        d_V = Ãᵀ d_context,  d_Ã = d_context Vᵀ,  d_A = d_Ã · keep / (1 − p)
    void weights(Index b, Index h, Index i) {
        const Stage last = stage_or_source(Stage::dropped, spec_);
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
            if (spec_.drops())
                d_[Stage::weights](b, h, i, j) = d_a * dropout_factor(spec_, size_, b, h, i, j);
        }
    }

    // forward:  A = softmax(M)  so  d_M = A ∘ (d_A − Σ_j d_A ∘ A);  a sink weighs exp(sink − logsumexp) and has no value
    void softmax(Index b, Index h, Index i, bool empty) {
        const ConstViewD a = forward_[Stage::weights].matrix(b, h);
        const ViewD d_a = d_[Stage::weights].matrix(b, h);
        const double nan = std::numeric_limits<double>::quiet_NaN();
        double row_sum = 0.0;
        for (Index j = 0; j < size_.tk; ++j)
            if (contributes(j)) row_sum += d_a(i, j) * a(i, j);
        if (!sinks_.empty())
            d_.params[Param::sinks](0, 0, 0, h) -=
                std::exp(sinks_(0, 0, 0, h) - forward_.logsumexp(b, h, i, 0)) * row_sum;
        for (Index j = 0; j < size_.tk; ++j) {
            double d_m = 0.0;
            if (contributes(j)) d_m = empty ? nan : a(i, j) * (d_a(i, j) - row_sum);
            d_[Stage::masked](b, h, i, j) = d_m;
        }
    }

    const AttentionSpec& spec_;
    const Dimensions& size_;
    const TensorD& sinks_;
    const TraceD& forward_;
    TraceD& d_;
    std::vector<std::uint8_t> contributes_;
};

// forward:  M = B where allowed, B = cap tanh(S / cap) + bias − slope |p − j|, S = scores · factor
// so        d_B = d_M,  d_S = d_B (1 − tanh²(S / cap)),  d_scores = d_S · factor,  d_bias = Σ d_B
// or        B = cap tanh((S + bias) / cap) − …,  d_S = d_B (1 − tanh²((S + bias) / cap)),  d_bias = Σ d_S
void masked_backward(const CallD& call, const TraceD& forward, TraceD& d, Index b, Index h) {
    const Dimensions& size = call.size();
    const double factor = score_factor(call.spec(), size.d_k);
    const PairRule rule = pair_rule(call.spec(), size, h);
    for (Index i = 0; i < size.tq; ++i) {
        end_if_stopped();
        for (Index j = 0; j < size.tk; ++j) {
            const double d_m = d[Stage::masked](b, h, i, j);
            if (call.spec().biases()) d[Stage::biased](b, h, i, j) = d_m;
            const double d_s = d_m == 0.0
                                   ? 0.0
                                   : d_m * rule.derivative(forward[Stage::scaled](b, h, i, j),
                                                           bias_at(call.spec().mask, b, h, i, j));
            d[Stage::scaled](b, h, i, j) = d_s;
            d[Stage::scores](b, h, i, j) = d_s * factor;
        }
    }
}

/// From d_scores back to d_Q and d_K, through the product, the operands and the rotation.
class ScoresBackward {
  public:
    ScoresBackward(const CallD& call, const TraceD& forward, TraceD& d)
        : call_(call),
          forward_(forward),
          q_(forward[stage_or_source(Stage::q_rot, call.spec())]),
          k_(forward[stage_or_source(Stage::k_rot, call.spec())]),
          operands_(make_operands(call, q_, k_)),
          d_(d) {}

    void run() {
        OperandsOf<double> d{TensorD(q_hat().shape()), TensorD(k_hat().shape())};
        const Dimensions& size = call_.size();
        for (Index b = 0; b < size.batch; ++b)
            for (Index h = 0; h < size.heads; ++h)
                product(b, h, h / (size.heads / size.kv_heads), d);
        operands_backward(call_, q_, k_, d, d_.params);
        take_back({Stage::q, Stage::q_norm, Stage::q_rot, Param::q_norm_weight, Rotated::queries},
                  std::move(d.q));
        take_back({Stage::k, Stage::k_norm, Stage::k_rot, Param::k_norm_weight, Rotated::keys},
                  std::move(d.k));
    }

  private:
    const TensorD& q_hat() const { return operands_.q.empty() ? q_ : operands_.q; }
    const TensorD& k_hat() const { return operands_.k.empty() ? k_ : operands_.k; }

    // forward:  scores = q̂ k̂ᵀ  so  d_q̂ = d_scores k̂,  d_k̂ = d_scoresᵀ q̂, over contributing pairs
    void product(Index b, Index h, Index g, OperandsOf<double>& d) {
        const ConstViewD d_scores = std::as_const(d_)[Stage::scores].matrix(b, h);
        const ConstViewD q = q_hat().matrix(b, h);
        const ConstViewD k = k_hat().matrix(b, g);
        const ViewD d_q = d.q.matrix(b, h);
        const ViewD d_k = d.k.matrix(b, g);
        if (!is_dot(call_.spec().score))
            return pair_products_backward(call_, {h, 0, q.rows}, q, k, d_scores, d_q, d_k,
                                          d_.params);
        std::vector<std::uint8_t> contributes(k.rows);
        for (Index i = 0; i < q.rows; ++i) {
            end_if_stopped();
            fill_contributing(call_.spec(), call_.size(), b, h, i, contributes);
            for (Index j = 0; j < k.rows; ++j)
                if (contributes[j] != 0)
                    for (Index c = 0; c < q.columns; ++c) {
                        d_q(i, c) += d_scores(i, j) * k(j, c);
                        d_k(j, c) += d_scores(i, j) * q(i, c);
                    }
        }
    }

    /// The stages from Q or K to the score, and their weight and side.
    struct Path {
        Stage given, normalised, rotated;
        Param weight;
        Rotated side;
    };
    /// forward:  q_norm = norm(q),  q_rot = R q_norm  so  d_q_norm = Rᵀ d_q_rot,  d_q = norm'(q) d_q_norm.
    void take_back(const Path& path, TensorD&& d) {
        const AttentionSpec& spec = call_.spec();
        TensorD d_rows = std::move(d);
        if (spec.rope) {
            TensorD turned = rotate(*spec.rope, d_rows, path.side, call_.size().query_offset, true);
            d_[path.rotated] = std::exchange(d_rows, std::move(turned));
        }
        if (spec.qk_norm) {
            TensorD given =
                normalise_rows_backward(forward_[path.given], call_.inputs().params[path.weight],
                                        *spec.qk_norm, d_rows, d_.params[path.weight]);
            d_[path.normalised] = std::exchange(d_rows, std::move(given));
        }
        d_[path.given] = std::move(d_rows);
    }

    const CallD& call_;
    const TraceD& forward_;
    const TensorD& q_;
    const TensorD& k_;
    OperandsOf<double> operands_;
    TraceD& d_;
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

}  // namespace

void begin_backward(const CallD& call, const TensorD& context, const UpstreamD& upstream,
                    TraceD& d) {
    const Dimensions& size = call.size();
    d[Stage::context] = TensorD(stage_shape(Stage::context, size, call.spec()));
    d[upstream.stage] = upstream_or_ones(upstream, stage_shape(upstream.stage, size, call.spec()));
    if (upstream.stage == Stage::output) output_backward(call.inputs(), size, context, d);
}

void logits_backward(const CallD& call, const TraceD& forward, TraceD& d) {
    for (const Stage stage : {Stage::scores, Stage::scaled, Stage::biased})
        d[stage] = TensorD(stage_shape(stage, call.size(), call.spec()));
    for (Index b = 0; b < call.size().batch; ++b)
        for (Index h = 0; h < call.size().heads; ++h) masked_backward(call, forward, d, b, h);
    d.bias = bias_gradient(call.spec(), d);
    ScoresBackward(call, forward, d).run();
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

Result<TraceD> reference_backward(const CallD& call, const TraceD& forward,
                                  const UpstreamD& upstream, const RunControl& control) {
    const Dimensions& size = call.size();
    TraceD d;
    for (const Stage stage : {Stage::v, Stage::masked, Stage::weights, Stage::dropped})
        d[stage] = TensorD(stage_shape(stage, size, call.spec()));
    d.params[Param::sinks] = TensorD(call.inputs().params[Param::sinks].shape());
    begin_backward(call, forward[Stage::context], upstream, d);
    RowBackward row(call, forward, d);
    for (Index b = 0; b < size.batch; ++b)
        for (Index h = 0; h < size.heads; ++h)
            for (Index i = 0; i < size.tq; ++i) {
                if (control.stop.stop_requested()) return failed("the attention call was stopped");
                end_if_stopped();
                row.run(b, h, i);
            }
    logits_backward(call, forward, d);
    inputs_backward(call.inputs(), d);
    return d;
}

}  // namespace attn
