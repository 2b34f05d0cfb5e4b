#pragma once

#include "core/train/kernels.h"
#include "core/train/moment.h"
#include "core/train/packed.h"
#include "core/train/plan.h"
#include "core/train/tasks.h"

namespace attn::train {

struct Spec;

// R rows: those of some sequences of up to T tokens each, one after the other. h head, s sequence. A sequence is computed at its
// own length, with the same result as a batch that is padded to T with the padding masked.

/// The weights of one step as every thread reads them.
struct Weights {
    const Plan& plan;
    const Packed& packed;
    const float* values;  // by Plan::matrices
    const Switches& switches;
    bool silenced(Index layer, Index head) const {
        return switches.silenced[layer * plan.spec.heads + head];
    }
    /// What scores are multiplied by.
    float factor() const;
};

/// cos and sin of RoPE's angles p · 10000^(−2c/d_k), [T, d_k/2].
class Turns {
  public:
    explicit Turns(const Spec& spec);
    /// Columns c and c + d_k/2 of every head turn by the angle of their row's position, or back.
    void turn(MatrixView<float> joined, std::span<const Index> positions, bool back) const;

  private:
    Index d_k_;
    std::vector<float> cosines_, sines_;
};

/// What a layer leaves for its backward pass.
struct LayerRows {
    Rows normal, x, q, k, v, context;  // x: normalised, what is projected
    Rows mlp_normal, mlp_x, up, active;
    AlignedFloats rstd, mlp_rstd;
    std::vector<Rows> weights;  // [s·H + h], [T, T] of that sequence's T
};

/// What one group of sequences measured.
struct Sums {
    double loss = 0.0;  // sum over the answers
    Index right = 0;
    std::vector<RowSums> heads;  // [L·H]
};

/// The gradient of one group: a matrix each.
class GradientRows {
  public:
    explicit GradientRows(const Plan& plan) : rows_(plan.matrices.size()) { clear(plan); }
    void clear(const Plan& plan);
    Rows& operator[](std::size_t m) { return rows_[m]; }
    const Rows& operator[](std::size_t m) const { return rows_[m]; }

  private:
    std::vector<Rows> rows_;
};

/// Forward and backward pass of a group of sequences on one thread, with the memory for it.
class Worker {
  public:
    Worker(const Plan& plan, const Turns& turns);

    /// Up to the final norm. `sums`: of the heads.
    void forward(const Weights& weights, std::span<const Example> examples, Sums& sums);
    /// Loss and answers at the rows that have a target; leaves d_logits · `weight` for backward().
    void answer(const Weights& weights, double weight, Sums& sums);
    void backward(const Weights& weights, GradientRows& gradient);

    const LayerRows& layer(Index n) const { return layers_[n]; }
    /// Logits of every row, [R, V]; after forward().
    MatrixView<const float> all_logits(const Weights& weights);

  private:
    void embed(const Weights& weights);
    void forward_norm(const Weights& weights, std::size_t scale, Rows& normal, AlignedFloats& rstd,
                      Rows& to);
    void forward_heads(const Weights& weights, Index layer, Sums& sums);
    void forward_head(const Weights& weights, Index layer, Index s, Index h, RowSums& sums);
    void forward_mlp(const Weights& weights, Index layer);

    void backward_read_out(const Weights& weights, GradientRows& gradient);
    void backward_mlp(const Weights& weights, Index layer, GradientRows& gradient);
    void backward_attention(const Weights& weights, Index layer, GradientRows& gradient);
    void backward_head(const Weights& weights, Index layer, Index s, Index h);
    /// d_S of one head.
    MatrixView<float> backward_weights(MatrixView<const float> a, MatrixView<const float> d_o,
                                       MatrixView<const float> v, float factor, float* panels);
    void backward_norm(const Weights& weights, std::size_t scale, const Rows& normal,
                       AlignedFloats& rstd, GradientRows& gradient);
    void backward_embedding(GradientRows& gradient);
    /// d_W += aᵀ d_y, `turned` = aᵀ.
    void add_gradient(MatrixView<const float> turned, MatrixView<const float> d_y, Rows& d_w);
    MatrixView<float> turned(MatrixView<const float> a);
    /// Keys that rows first … first + count − 1 may attend to begin at 0 and end before this.
    Index keys_of(Index first, Index count, Index tokens) const;

    const Plan& plan_;
    const Turns& turns_;
    std::span<const Example> examples_;
    struct SequenceRows {
        Index first = 0, count = 0;
    };
    std::vector<SequenceRows> sequences_;
    std::vector<Index> positions_;  // [R]
    Index rows_ = 0;
    std::vector<LayerRows> layers_;
    Rows x_, final_normal_, final_x_;
    AlignedFloats final_rstd_;
    std::vector<std::pair<Index, Index>> answers_;  // row, target
    Rows answer_x_, logits_;
    // backward
    Rows d_x_, d_y_, d_context_, d_q_, d_k_, d_v_, d_up_;
    Rows turned_, head_, scores_, turned_scores_;
    AlignedFloats panels_;
};

}  // namespace attn::train
