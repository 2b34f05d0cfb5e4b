// Why it is fast: a group of sequences stays on one thread from its embedding to its gradient, so that everything it leaves for
// the backward pass is still in that processor's cache, and threads meet twice a step.

#include <algorithm>
#include <cmath>

#include "core/kernels/staged_tiles.h"
#include "core/train/plan.h"
#include "core/train/worker.h"

namespace attn::train {

Worker::Worker(const Plan& plan, const Turns& turns)
    : plan_(plan), turns_(turns), layers_(static_cast<std::size_t>(plan.spec.layers)) {}

void Worker::forward(const Weights& weights, std::span<const Example> examples, Sums& sums) {
    examples_ = examples;
    sequences_.clear();
    positions_.clear();
    for (const Example& example : examples) {
        const Index count = std::ssize(example.tokens);
        sequences_.push_back({std::ssize(positions_), count});
        for (Index p = 0; p < count; ++p) positions_.push_back(p);
    }
    rows_ = std::ssize(positions_);
    sums.heads.resize(plan_.spec.layers * plan_.spec.heads);
    embed(weights);
    for (Index layer = 0; layer < plan_.spec.layers; ++layer) {
        forward_heads(weights, layer, sums);
        if (plan_.spec.mlp) forward_mlp(weights, layer);
    }
    forward_norm(weights, plan_.norm_scale, final_normal_, final_rstd_, final_x_);
}

// x = embedding[token] + position
void Worker::embed(const Weights& weights) {
    const Index d = plan_.spec.d_model;
    const MatrixView<float> x = x_.make(rows_, d);
    const auto row_of = [&](std::size_t m, Index row) {
        return weights.values + plan_.matrices[m].offset + row * d;
    };
    Index r = 0;
    for (const Example& example : examples_)
        for (Index p = 0; p < std::ssize(example.tokens); ++p, ++r) {
            float* const to = x.row(r).data();
            std::copy_n(row_of(plan_.embedding, example.tokens[p]), d, to);
            if (plan_.positions != kNoMatrix)
                std::transform(to, to + d, row_of(plan_.positions, p), to, std::plus<>());
            else if (plan_.spec.positions == Positions::sinusoidal)
                for (Index c = 0; c < d; ++c) to[c] += plan_.waves[p * d + c];
        }
}

/// `scale`: of the norm, whose shift is the matrix after it; kNoMatrix: there is none, and `to` = x.
void Worker::forward_norm(const Weights& weights, std::size_t scale, Rows& normal,
                          AlignedFloats& rstd, Rows& to) {
    const MatrixView<float> y = to.make(rows_, plan_.spec.d_model);
    if (scale == kNoMatrix) {
        std::copy_n(x_.view().data, rows_ * y.stride, y.data);
        return;
    }
    norm_rows(x_.view(),
              {weights.packed.row(scale), weights.packed.row(scale + 1),
               normal.make(rows_, plan_.spec.d_model), rstd.at_least(rows_)},
              y);
}

// x += joined(A V) W_O,  A = softmax(Q Kᵀ · factor)
void Worker::forward_heads(const Weights& weights, Index layer, Sums& sums) {
    const Spec& spec = plan_.spec;
    LayerRows& own = layers_[layer];
    forward_norm(weights, plan_.at(layer, Part::norm_scale), own.normal, own.rstd, own.x);
    const auto project = [&](Part part, Rows& to, Index width) {
        product(own.x.view(), weights.packed.panels(plan_.at(layer, part)), width,
                to.make(rows_, width));
    };
    project(Part::w_q, own.q, spec.heads * spec.d_k);
    project(Part::w_k, own.k, spec.heads * spec.d_k);
    project(Part::w_v, own.v, spec.heads * spec.value_width());
    if (spec.positions == Positions::rotary)
        for (Rows* rows : {&own.q, &own.k}) turns_.turn(rows->view(), positions_, false);
    own.context.make(rows_, spec.heads * spec.value_width());
    own.weights.resize(examples_.size() * static_cast<std::size_t>(spec.heads));
    for (Index s = 0; s < std::ssize(sequences_); ++s)
        for (Index h = 0; h < spec.heads; ++h)
            forward_head(weights, layer, s, h, sums.heads[layer * spec.heads + h]);
    product(own.context.view(), weights.packed.panels(plan_.at(layer, Part::w_o)), spec.d_model,
            x_.view(), Into::add);
}

// x += gelu(norm(x) W_up + b_up) W_down + b_down
void Worker::forward_mlp(const Weights& weights, Index layer) {
    LayerRows& own = layers_[layer];
    const Index d = plan_.spec.d_model;
    forward_norm(weights, plan_.at(layer, Part::mlp_norm_scale), own.mlp_normal, own.mlp_rstd,
                 own.mlp_x);
    const MatrixView<float> up = own.up.make(rows_, 4 * d);
    product(own.mlp_x.view(), weights.packed.panels(plan_.at(layer, Part::w_up)), 4 * d, up);
    add_bias(up, weights.packed.row(plan_.at(layer, Part::b_up)));
    gelu(up, own.active.make(rows_, 4 * d));
    product(own.active.view(), weights.packed.panels(plan_.at(layer, Part::w_down)), d, x_.view(),
            Into::add);
    add_bias(x_.view(), weights.packed.row(plan_.at(layer, Part::b_down)));
}

MatrixView<const float> Worker::all_logits(const Weights& weights) {
    const Index width = plan_.vocabulary;
    const MatrixView<float> logits = logits_.make(rows_, width);
    product(final_x_.view(), weights.packed.panels(plan_.out), width, logits);
    return logits;
}

// logits = norm(x) W_out, of the rows that have an answer
void Worker::answer(const Weights& weights, double weight, Sums& sums) {
    answers_.clear();
    Index r = 0;
    for (const Example& example : examples_)
        for (const Index target : example.targets) {
            if (target != kNoTarget) answers_.emplace_back(r, target);
            ++r;
        }
    const auto count = static_cast<Index>(answers_.size());
    if (count == 0) return;
    const MatrixView<float> x = answer_x_.make(count, plan_.spec.d_model);
    for (Index n = 0; n < count; ++n)
        std::copy_n(final_x_.view().row(answers_[n].first).data(), x.stride, x.row(n).data());
    const MatrixView<float> logits = logits_.make(count, plan_.vocabulary);
    product(x, weights.packed.panels(plan_.out), plan_.vocabulary, logits);
    for (Index n = 0; n < count; ++n) {
        const Index target = answers_[n].second;
        const AnswerRow row = answer_row(logits.row(n), target, static_cast<float>(weight));
        sums.loss += row.loss;
        sums.right += row.largest == target ? 1 : 0;
    }
}

}  // namespace attn::train
