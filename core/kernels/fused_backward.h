#pragma once

#include <span>

#include "core/kernels/fused_forward.h"
#include "core/rounding.h"

namespace attn {

// The SIMD part of the fused backward pass. As in the forward one, G queries lie side by side.

/// One group of queries: constants of the whole pass, and the sum for d_Q. Rows of G, aligned.
struct GroupGradient {
    float* qt = nullptr;       // [d_k, G]: Qᵀ · factor · log2 e
    float* d_ot = nullptr;     // [d_v, G]: d_contextᵀ
    float* max = nullptr;      // m, in units of log2
    float* log_sum = nullptr;  // log2 Σ 2^(B − m)
    float* row_sum = nullptr;  // D = Σ_c d_context ∘ context
    float* d_qt = nullptr;     // [d_k up to a multiple of kTileKeys, G]: Σ_j d_S[j] K[j]
};

/// Where a group's P and d_S go: key j at rows j · stride. Room for a multiple of kTileKeys.
struct PairSpans {
    float* p = nullptr;
    float* d_s = nullptr;
    Index stride = 0;
    float* d_bias =
        nullptr;  // [keys, G], the terms of d_bias: d_B, or d_S where the bias comes before the cap
};

/// P and d_S of one group against the block, and their share of d_Q. Forbidden pairs get 0 in both.
///   P = 2^(B − m − log_sum),  d_B = P ∘ (d_P − D),  d_S = d_B (1 − tanh²(S / cap)),  d_P = d_context Vᵀ
/// With block.pairwise d_Q is left alone.
void differentiate_block(const KeyBlock& block, const GroupGradient& group, const PairSpans& out);

/// Σ_c d_context[c] · context[c] in the order and rounding of d_P: where one key has all the weight, so that context is its
/// value, D is that key's d_P to the bit and d_S is 0.
float product_as_d_p(std::span<const float> d_context, std::span<const float> context);

/// Columns of a panel: two vectors.
Index panel_columns();
/// `width` rounded up to whole panels.
Index panel_width(Index width);

/// rows [count, width] without gaps -> panels [panel][count][panel_columns()], padded with 0.
void pack_panels(const float* rows, Index count, Index width, float* panels);

/// Keys that the sums over queries take together.
constexpr Index kSumKeys = 6;

/// sums[key][c] += Σ_i pairs[key][i] · rows[i][c] for `keys` keys; i < queries.
struct KeySums {
    const float* pairs = nullptr;  // key j at pairs + j · pair_stride: P or d_S
    Index pair_stride = 0;
    Index keys = 0;
    const float* panels = nullptr;  // of d_context or Q, at the first query
    Index panel_stride = 0;         // floats from panel to panel
    Index queries = 0;
    Index width = 0;
    float* sums = nullptr;  // [keys up to a multiple of kSumKeys, panel_width(width)], aligned
};
void add_over_queries(const KeySums& sums);

}  // namespace attn
