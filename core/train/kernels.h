#pragma once

#include <span>

#include "core/matrix_view.h"

namespace attn::train {

// What training does with rows of numbers besides products. Every row starts on a vector boundary and its stride is a multiple
// of panel_width(); what stands between its last column and its stride may be written, and is 0 or never read.

/// Of all rows that were added; see HeadRecord.
struct RowSums {
    double entropy = 0.0;
    double max_probability = 0.0;
    double saturated = 0.0;
    double rows = 0.0;
    RowSums& operator+=(const RowSums& other);
};

/// Rows of scores become weights in place: a_j = exp(factor (s_j − max)) / Σ; row i may attend to keys 0 … i (causal) or to all.
/// Forbidden keys and what stands behind the last column become 0. Adds rows with two keys or more to `sums`.
void softmax_rows(MatrixView<float> scores, float factor, bool causal, RowSums& sums);
/// forward:  a = softmax(factor s)   so   d_s = factor · a ∘ (d_a − Σ_j d_a_j a_j), in place of d_a.
void softmax_backward(MatrixView<const float> weights, MatrixView<float> d_weights, float factor);

/// LayerNorm of each row: normal = (x − mean) · rstd, y = normal ∘ scale + shift, rstd = 1/√(variance + 1e−5).
struct NormRows {
    const float* scale = nullptr;
    const float* shift = nullptr;
    MatrixView<float> normal;
    float* rstd = nullptr;  // [rows]
};
void norm_rows(MatrixView<const float> x, const NormRows& norm, MatrixView<float> y);
/// d_x += rstd (g − mean(g) − normal · mean(g ∘ normal)), g = d_y ∘ scale; d_scale += Σ d_y ∘ normal, d_shift += Σ d_y.
struct NormGradient {
    float* d_scale = nullptr;
    float* d_shift = nullptr;
};
void norm_backward(MatrixView<const float> d_y, const NormRows& norm, MatrixView<float> d_x,
                   const NormGradient& gradient);

/// x[i] += bias, and sums[j] += Σ_i x[i, j].
void add_bias(MatrixView<float> x, const float* bias);
void add_column_sums(MatrixView<const float> x, float* sums);
/// to += from.
void add_rows(MatrixView<const float> from, MatrixView<float> to);

/// y = x σ(2u), u = √(2/π) (x + 0.044715 x³): GELU by tanh, Hendrycks & Gimpel 2016, arXiv:1606.08415.
void gelu(MatrixView<const float> x, MatrixView<float> y);
/// d_y becomes d_x.
void gelu_backward(MatrixView<const float> x, MatrixView<float> d_y);

/// One row of logits becomes (softmax − one-hot of the target) · weight, and what it measured.
struct AnswerRow {
    double loss = 0.0;   // −ln softmax[target]
    float share = 0.0F;  // softmax[target]
    Index largest = 0;   // the first of the largest logits
};
AnswerRow answer_row(std::span<float> logits, Index target, float weight);

/// to[n] = Σ_l from[l][n] in order; returns Σ to², in double, in the order of n.
double sum_lanes(std::span<const float* const> lanes, std::span<float> to);

/// A step of AdamW: m = β1 m + (1 − β1) g, v = β2 v + (1 − β2) g², w −= lr·decay·w, w −= lr (m / c1) / (√(v / c2) + 1e−8),
/// with c = 1 − β^t. g: `gradient` · factor.
struct AdamW {
    float rate, decay, beta1, beta2;
    float rest1, rest2;  // 1 − β1, 1 − β2: taken in float they would lose digits
    float correction1, root_correction2;  // 1 − β1^t, √(1 − β2^t)
    float factor;
};
struct TransientActions {
    float* weights;
    float* first;
    float* second;
};
void adamw(const AdamW& step, std::span<const float> gradient, TransientActions at);
/// m = momentum m + (g + decay w), w −= lr m.
struct Sgd {
    float rate, decay, momentum, factor;
};
void sgd(const Sgd& step, std::span<const float> gradient, TransientActions at);

}  // namespace attn::train
