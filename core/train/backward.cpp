#include <algorithm>

#include "core/kernels/staged_tiles.h"
#include "core/train/plan.h"
#include "core/train/worker.h"

namespace attn::train {

void GradientRows::clear(const Plan& plan) {
    for (std::size_t m = 0; m < plan.matrices.size(); ++m) {
        const MatrixView<float> view =
            rows_[m].make(plan.matrices[m].rows, plan.matrices[m].columns);
        std::fill_n(view.data, view.rows * view.stride, 0.0F);
    }
}

MatrixView<float> Worker::turned(MatrixView<const float> a) {
    const MatrixView<float> to = turned_.scratch(a.columns, a.rows);
    transpose_into(a, to);
    return to;
}

void Worker::add_gradient(MatrixView<const float> turned, MatrixView<const float> d_y, Rows& d_w) {
    float* const panels = panels_.at_least(panel_floats(d_y.rows, d_y.columns));
    pack_columns(d_y, panels);
    product(turned, panels, d_y.columns, d_w.view(), Into::add);
}

void Worker::backward(const Weights& weights, GradientRows& gradient) {
    if (answers_.empty()) return;
    backward_read_out(weights, gradient);
    for (Index layer = plan_.spec.layers; layer-- > 0;) {
        if (plan_.spec.mlp) backward_mlp(weights, layer, gradient);
        backward_attention(weights, layer, gradient);
    }
    backward_embedding(gradient);
}

// forward:  logits = y W_out, y = norm(x)   so   d_W_out = yᵀ d_logits,  d_y = d_logits W_outᵀ
void Worker::backward_read_out(const Weights& weights, GradientRows& gradient) {
    const Index d = plan_.spec.d_model;
    add_gradient(turned(answer_x_.view()), logits_.view(), gradient[plan_.out]);
    const MatrixView<float> d_answers = d_y_.make(logits_.view().rows, d);
    product(logits_.view(), weights.packed.transposed(plan_.out), d, d_answers);
    const MatrixView<float> d_all = d_context_.make(rows_, d);  // not in use yet
    std::fill_n(d_all.data, rows_ * d_all.stride, 0.0F);
    for (std::size_t n = 0; n < answers_.size(); ++n)
        std::copy_n(d_answers.row(static_cast<Index>(n)).data(), d_all.stride,
                    d_all.row(answers_[n].first).data());
    std::copy_n(d_all.data, rows_ * d_all.stride, d_y_.make(rows_, d).data);
    const MatrixView<float> d_x = d_x_.make(rows_, d);
    std::fill_n(d_x.data, rows_ * d_x.stride, 0.0F);
    backward_norm(weights, plan_.norm_scale, final_normal_, final_rstd_, gradient);
}

/// d_x += what d_y is before the norm; d_x = d_x + d_y where there is none.
void Worker::backward_norm(const Weights& weights, std::size_t scale, const Rows& normal,
                           AlignedFloats& rstd, GradientRows& gradient) {
    if (scale == kNoMatrix) return add_rows(d_y_.view(), d_x_.view());
    norm_backward(d_y_.view(),
                  {weights.packed.row(scale), weights.packed.row(scale + 1), normal.view(),
                   rstd.at_least(rows_)},
                  d_x_.view(), {gradient[scale].view().data, gradient[scale + 1].view().data});
}

// forward:  x += g W_down + b_down, g = gelu(u), u = y W_up + b_up, y = norm(x)
void Worker::backward_mlp(const Weights& weights, Index layer, GradientRows& gradient) {
    const LayerRows& own = layers_[layer];
    const Index d = plan_.spec.d_model;
    const auto at = [&](Part part) { return plan_.at(layer, part); };
    add_gradient(turned(own.active.view()), d_x_.view(), gradient[at(Part::w_down)]);
    add_column_sums(d_x_.view(), gradient[at(Part::b_down)].view().data);
    const MatrixView<float> d_up = d_up_.scratch(rows_, 4 * d);
    product(d_x_.view(), weights.packed.transposed(at(Part::w_down)), 4 * d, d_up);
    gelu_backward(own.up.view(), d_up);
    add_gradient(turned(own.mlp_x.view()), d_up, gradient[at(Part::w_up)]);
    add_column_sums(d_up, gradient[at(Part::b_up)].view().data);
    product(d_up, weights.packed.transposed(at(Part::w_up)), d, d_y_.make(rows_, d));
    backward_norm(weights, at(Part::mlp_norm_scale), own.mlp_normal, layers_[layer].mlp_rstd,
                  gradient);
}

// forward:  x += C W_O;  Q = y W_Q, K = y W_K, V = y W_V, y = norm(x)
void Worker::backward_attention(const Weights& weights, Index layer, GradientRows& gradient) {
    const Spec& spec = plan_.spec;
    LayerRows& own = layers_[layer];
    const auto at = [&](Part part) { return plan_.at(layer, part); };
    const Index key_width = spec.heads * spec.d_k, value_width = spec.heads * spec.value_width();
    add_gradient(turned(own.context.view()), d_x_.view(), gradient[at(Part::w_o)]);
    product(d_x_.view(), weights.packed.transposed(at(Part::w_o)), value_width,
            d_context_.make(rows_, value_width));
    d_q_.make(rows_, key_width);
    d_k_.make(rows_, key_width);
    d_v_.make(rows_, value_width);
    for (Index s = 0; s < std::ssize(sequences_); ++s)
        for (Index h = 0; h < spec.heads; ++h) backward_head(weights, layer, s, h);
    if (spec.positions == Positions::rotary)
        for (Rows* rows : {&d_q_, &d_k_}) turns_.turn(rows->view(), positions_, true);

    const MatrixView<float> x = turned(own.x.view());
    const MatrixView<float> d_y = d_y_.make(rows_, spec.d_model);
    Into into = Into::replace;
    for (const auto& [part, d] :
         {std::pair{Part::w_q, &d_q_}, {Part::w_k, &d_k_}, {Part::w_v, &d_v_}}) {
        add_gradient(x, d->view(), gradient[at(part)]);
        product(d->view(), weights.packed.transposed(at(part)), spec.d_model, d_y, into);
        into = Into::add;
    }
    backward_norm(weights, at(Part::norm_scale), own.normal, own.rstd, gradient);
}

// forward:  x = embedding[token] + positions[p]
void Worker::backward_embedding(GradientRows& gradient) {
    const auto add = [&](std::size_t m, Index row, Index r) {
        const MatrixView<float> to = gradient[m].view().row_block(row, 1);
        add_rows(d_x_.view().row_block(r, 1), to);
    };
    Index r = 0;
    for (const Example& example : examples_)
        for (Index p = 0; p < std::ssize(example.tokens); ++p, ++r) {
            add(plan_.embedding, example.tokens[p], r);
            if (plan_.positions != kNoMatrix) add(plan_.positions, p, r);
        }
}

}  // namespace attn::train
