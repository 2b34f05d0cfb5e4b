#pragma once

#include <vector>

#include "core/kernels/bias_tiles.h"
#include "core/kernels/fused_backward.h"
#include "core/kernels/fused_buffers.h"
#include "core/kernels/fused_drive_backward.h"
#include "core/scores/pair_rule.h"

namespace attn {

/// The backward pass of one head against some of its key blocks, with all the memory it works in.
class HeadGradient {
  public:
    HeadGradient(const BackwardInputs& in, const BiasTiles& bias, bool pairwise);

    /// Takes head h of batch entry b and forgets the one before.
    void start(Index b, Index h);
    /// Adds the block's gradients to rows of d_k and d_v, and to d_bias where there is a bias; d_Q gathers inside.
    void add_block(KeyRange block, MatrixView<float> d_k, MatrixView<float> d_v, Tensor& d_bias);
    /// d_Q of the blocks so far.
    void write_d_q(MatrixView<float> d_q) const;

    static constexpr Index kBlockKeys = 96;
    /// Floats that one of them works in.
    static Index working_floats(const Dimensions& size);

  private:
    /// Floats of each run of its memory; `total` of all.
    struct Runs {
        Index groups = 0, d_k = 0, d_v = 0, d_q = 0, q_panels = 0, d_o_panels = 0, pairs = 0,
              tile = 0, k_sums = 0, v_sums = 0, total = 0;
    };
    static Runs runs_of(const Dimensions& size);
    void lay_out();
    void start_group(std::size_t n);
    bool is_empty_row(Index i) const;
    void add_chunk(KeyRange block, std::size_t first, std::size_t end, Tensor& d_bias);
    void differentiate(KeyRange block, std::size_t n, Index column, Tensor& d_bias);
    void add_pairwise(const QueryGroup& group, KeyRange part, const PairSpans& pairs,
                      const GroupGradient& gradient, Index offset);
    void contract(KeyRange block, Index first_query, Index queries);
    MatrixView<const float> head_of(const Tensor& tensor) const;

    const BackwardInputs& in_;
    const AttentionSpec& spec_;
    const Dimensions& size_;
    const BiasTiles& bias_;
    bool pairwise_;
    Index lanes_;
    Index chunk_;  // queries of a chunk: whole groups
    Index b_ = 0;
    Index h_ = 0;
    PairRule rule_;  // of head h_
    float factor_;
    std::vector<float> exponent_factors_;  // factor · log2 e, once a column of Q
    std::vector<float> ones_;
    AlignedFloats floats_;
    std::vector<QueryGroup> groups_;
    std::vector<GroupGradient> gradients_;
    float* q_panels_ = nullptr;
    float* d_o_panels_ = nullptr;
    float* p_ = nullptr;    // [kBlockKeys + 4, chunk]
    float* d_s_ = nullptr;  // the same
    float* allow_ = nullptr;
    float* keep_ = nullptr;
    float* bias_tile_ = nullptr;
    float* d_bias_tile_ = nullptr;
    float* turned_tile_ = nullptr;
    float* distance_ = nullptr;  // [G]
    float* k_sums_ = nullptr;    // [kBlockKeys + 6, panel_width(d_k)]
    float* v_sums_ = nullptr;
};

}  // namespace attn
