// B batch, H query heads, Hkv key/value heads; b batch entry, h query head.
// d_ = gradient of L = Σ upstream ∘ stage.

#include "core/kernels/projections.h"

#include <utility>

#include "core/call.h"
#include "core/kernels/eigen_view.h"
#include "core/kernels/matmul.h"
#include "core/qk_norm.h"
#include "core/rotary.h"
#include "core/scores/operands.h"
#include "core/spec_arrays.h"
#include "core/trace.h"

namespace attn {
namespace {

/// What Q, K or V is made from.
struct Source {
    const Tensor& x;
    Param weight;
    Param bias;
};

Source source_of(const Inputs& in, Stage stage) {
    const Tensor& x_kv = in.x_kv.empty() ? in.x : in.x_kv;
    if (stage == Stage::q) return {in.x, Param::w_q, Param::b_q};
    if (stage == Stage::k) return {x_kv, Param::w_k, Param::b_k};
    return {x_kv, Param::w_v, Param::b_v};
}

/// The columns of a joined matrix or bias that one head owns.
auto head_view(auto& joined, Index h, Index width) {
    return joined.matrix(0, 0).column_block(h * width, width);
}
auto head_columns(auto& joined, Index h, Index width) { return eigen(head_view(joined, h, width)); }
WeightPart head_weight(const Tensor& weight, Index h, Index width) {
    return columns_of_weight(weight, h * width, width);
}

/// [1, H·d] of the heads [H, 1, d] of one token, which lie one behind the other.
auto heads_in_a_row(auto& heads, Index b) {
    auto row = heads.matrix(b, 0);
    row.columns = row.stride = heads.shape().h * heads.shape().d;
    return row;
}

// forward:  Q = X W_Q + b_Q  so  d_X += d_Q W_Qᵀ,  d_W_Q = Xᵀ d_Q,  d_b_Q = column sums of d_Q
void project_backward(const Inputs& in, Stage stage, Tensor& d_x, Trace& d) {
    const Source from = source_of(in, stage);
    const Tensor& d_heads = d[stage];
    const Shape shape = d_heads.shape();
    Tensor& d_weight = d.params[from.weight] = Tensor(in.params[from.weight].shape());
    Tensor& d_bias = d.params[from.bias] = Tensor(in.params[from.bias].shape());
    for (Index b = 0; b < shape.b; ++b)
        for (Index h = 0; h < shape.h; ++h) {
            multiply({d_heads.matrix(b, h)},
                     transposed(head_weight(in.params[from.weight], h, shape.d)), d_x.matrix(b, 0),
                     Into::add);
            multiply(transposed(from.x.matrix(b, 0)), {d_heads.matrix(b, h)},
                     head_view(d_weight, h, shape.d), Into::add);
            if (!d_bias.empty())
                head_columns(d_bias, h, shape.d).row(0) +=
                    eigen(d_heads.matrix(b, h)).colwise().sum();
        }
}

// forward:  Y = concat(heads) W_O + b_O
// so        d_context_h = d_Y W_O,hᵀ,  d_W_O,h = context_hᵀ d_Y,  d_b_O = column sums of d_Y
void output_backward(const Inputs& in, const Dimensions& size, const Tensor& context, Trace& d) {
    const Tensor& w_o = in.params[Param::w_o];
    if (!w_o.empty()) d.params[Param::w_o] = Tensor(w_o.shape());
    if (!in.params[Param::b_o].empty())
        d.params[Param::b_o] = Tensor(in.params[Param::b_o].shape());
    for (Index b = 0; b < size.batch; ++b) {
        const MatrixView<const float> d_y = std::as_const(d)[Stage::output].matrix(b, 0);
        for (Index h = 0; h < size.heads; ++h) {
            const MatrixView<float> d_context = d[Stage::context].matrix(b, h);
            const Index first = h * size.d_v;
            if (w_o.empty()) {
                eigen(d_context) = eigen(d_y.column_block(first, size.d_v));
                continue;
            }
            multiply({d_y}, transposed(rows_of_weight(w_o, first, size.d_v)), d_context);
            multiply(transposed(context.matrix(b, h)), {d_y},
                     d.params[Param::w_o].matrix(0, 0).row_block(first, size.d_v), Into::add);
        }
        if (!in.params[Param::b_o].empty())
            eigen(d.params[Param::b_o].matrix(0, 0)).row(0) += eigen(d_y).colwise().sum();
    }
}

}  // namespace

HeadTensors head_tensors(const Call& call, Trace& trace) {
    const Inputs& in = call.inputs();
    if (in.projects())
        for (const Stage stage : {Stage::q, Stage::k, Stage::v})
            trace[stage] = project(in, stage, stage_shape(stage, call.size(), call.spec()));
    if (!in.projects()) return normed_and_turned(call, {in.q, in.k, in.v}, trace);
    return normed_and_turned(call, {trace[Stage::q], trace[Stage::k], trace[Stage::v]}, trace);
}

HeadTensors normed_and_turned(const Call& call, const HeadTensors& made, Trace& trace) {
    const Inputs& in = call.inputs();
    const Tensor *q = &made.q, *k = &made.k;
    if (const auto epsilon = call.spec().qk_norm) {
        trace[Stage::q_norm] = normalise_rows(*q, in.params[Param::q_norm_weight], *epsilon);
        trace[Stage::k_norm] = normalise_rows(*k, in.params[Param::k_norm_weight], *epsilon);
        q = &trace[Stage::q_norm], k = &trace[Stage::k_norm];
    }
    if (const auto& rope = call.spec().rope) {
        trace[Stage::q_rot] = rotate(*rope, *q, Rotated::queries, call.size().query_offset);
        trace[Stage::k_rot] = rotate(*rope, *k, Rotated::keys, 0);
        q = &trace[Stage::q_rot], k = &trace[Stage::k_rot];
    }
    return {*q, *k, made.v};
}

HeadTensors held_heads(const Call& call, const Trace& forward) {
    return {forward[stage_or_source(Stage::q_rot, call.spec())],
            forward[stage_or_source(Stage::k_rot, call.spec())], forward[Stage::v]};
}

HeadTensors operands_of(const HeadTensors& heads, const Operands& made) {
    return {made.q.empty() ? heads.q : made.q, made.k.empty() ? heads.k : made.k, heads.v};
}

namespace {

/// The stages from Q or K to the score, and their weight and side.
struct SideOfScore {
    Stage given, normalised, rotated;
    Param weight;
    Rotated side;
};

// forward:  q_norm = norm(q),  q_rot = R q_norm  so  d_q_norm = Rᵀ d_q_rot,  d_q = norm'(q) d_q_norm
void take_back(const Call& call, const Trace& forward, const SideOfScore& of, Tensor&& d_operand,
               Trace& d) {
    Tensor d_rows = std::move(d_operand);
    if (const auto& rope = call.spec().rope) {
        Tensor turned = rotate(*rope, d_rows, of.side, call.size().query_offset, true);
        d[of.rotated] = std::exchange(d_rows, std::move(turned));
    }
    if (const auto epsilon = call.spec().qk_norm) {
        Tensor given = normalise_rows_backward(forward[of.given], call.inputs().params[of.weight],
                                               *epsilon, d_rows, d.params[of.weight]);
        d[of.normalised] = std::exchange(d_rows, std::move(given));
    }
    d[of.given] = std::move(d_rows);
}

}  // namespace

void scores_backward(const Call& call, const Trace& forward, const HeadTensors& heads,
                     Operands&& d_operands, Trace& d) {
    operands_backward(call, heads.q, heads.k, d_operands, d.params);
    take_back(call, forward,
              {Stage::q, Stage::q_norm, Stage::q_rot, Param::q_norm_weight, Rotated::queries},
              std::move(d_operands.q), d);
    take_back(call, forward,
              {Stage::k, Stage::k_norm, Stage::k_rot, Param::k_norm_weight, Rotated::keys},
              std::move(d_operands.k), d);
}

void keep_only(const Inputs& in, StageSet keep, Trace& trace) {
    const auto copy = [&](Stage stage, const Tensor& input) {
        if (keep[index_of(stage)] && trace[stage].empty()) trace[stage] = input;
    };
    copy(Stage::x, in.x);
    copy(Stage::x_kv, in.x_kv);
    copy(Stage::q, in.q);
    copy(Stage::k, in.k);
    copy(Stage::v, in.v);
    for (std::size_t s = 0; s < kStageCount; ++s)
        if (!keep[s]) trace.stages[s] = {};
}

Tensor project(const Inputs& in, Stage stage, const Shape& shape) {
    const Source from = source_of(in, stage);
    const Tensor& bias = in.params[from.bias];
    Tensor heads(shape);
    if (shape.t == 1) {  // the heads of one token lie in a row, as they are joined
        for (Index b = 0; b < shape.b; ++b) {
            const MatrixView<float> row = heads_in_a_row(heads, b);
            multiply({from.x.matrix(b, 0)}, WeightPart{in.params[from.weight]}, row);
            if (!bias.empty()) eigen(row) += eigen(bias.matrix(0, 0));
        }
        return heads;
    }
    for (Index b = 0; b < shape.b; ++b)
        for (Index h = 0; h < shape.h; ++h) {
            multiply({from.x.matrix(b, 0)}, head_weight(in.params[from.weight], h, shape.d),
                     heads.matrix(b, h));
            if (!bias.empty())
                eigen(heads.matrix(b, h)).rowwise() += head_columns(bias, h, shape.d).row(0);
        }
    return heads;
}

Tensor join_heads(const Inputs& in, const Dimensions& size, const Tensor& context) {
    const Tensor& w_o = in.params[Param::w_o];
    const Tensor& b_o = in.params[Param::b_o];
    Tensor output(Shape{size.batch, 1, size.tq, size.d_out});
    for (Index b = 0; b < size.batch; ++b) {
        const MatrixView<float> y = output.matrix(b, 0);
        const bool at_once = size.tq == 1 && !w_o.empty();
        if (at_once) multiply({heads_in_a_row(context, b)}, WeightPart{w_o}, y);
        for (Index h = 0; h < size.heads && !at_once; ++h) {
            const Index first = h * size.d_v;
            if (w_o.empty())
                eigen(y.column_block(first, size.d_v)) = eigen(context.matrix(b, h));
            else
                multiply({context.matrix(b, h)}, rows_of_weight(w_o, first, size.d_v), y,
                         Into::add);
        }
        if (!b_o.empty()) eigen(y).rowwise() += eigen(b_o.matrix(0, 0)).row(0);
    }
    return output;
}

Trace begin_gradients(const Call& call, const Tensor& context, const Upstream& upstream) {
    const auto shape = [&](Stage stage) { return stage_shape(stage, call.size(), call.spec()); };
    Trace d;
    d[Stage::context] = Tensor(shape(Stage::context));
    d[upstream.stage] =
        upstream.gradient.empty() ? Tensor(shape(upstream.stage), 1.0F) : upstream.gradient;
    if (upstream.stage == Stage::output) output_backward(call.inputs(), call.size(), context, d);
    return d;
}

void inputs_backward(const Inputs& in, Trace& d) {
    if (!in.projects()) return;
    d[Stage::x] = Tensor(in.x.shape());
    d[Stage::x_kv] = Tensor(in.x_kv.shape());
    Tensor& d_x_kv = d[in.x_kv.empty() ? Stage::x : Stage::x_kv];
    project_backward(in, Stage::q, d[Stage::x], d);
    project_backward(in, Stage::k, d_x_kv, d);
    project_backward(in, Stage::v, d_x_kv, d);
}

}  // namespace attn
