#pragma once

#include "core/kernels/pair_mask.h"
#include "core/matrix_view.h"

namespace attn {

// The SIMD part of the fused forward pass: one group of queries against one block of keys.
// G = query_group_lanes() queries side by side; a "lane" is a query's place in its group.

/// How many queries a group has on this machine: three vectors.
Index query_group_lanes();

/// The kernels take keys, and columns of V, in tiles of at most this many: what they write has room for
/// a multiple of it.
constexpr Index kTileKeys = 8;

/// The largest number that a bias lowers a score by, in units of log2: so that a finite bias, such as the lowest float, does not
/// become −inf, which would forbid the pair. Biases below −2.08e38 are so one and the same.
inline constexpr float kLowestBias = -3e38F;

/// One head's keys and values, row-major without gaps, and a run of them.
struct KeyBlock {
    const float* k = nullptr;  // [keys, d_k], the first row of the block
    const float* v = nullptr;  // [keys, d_v]
    Index keys = 0;
    Index d_k = 0;
    Index d_v = 0;
    KeyRange all;                  // keys, counted in the block, where every pair is allowed
    const float* allow = nullptr;  // [keys, G], 0 forbids; read in tiles outside `all`
    const float* keep = nullptr;   // [keys, G] dropout factors, or nullptr
    float cap = 0.0F;              // of S in units of log2; 0: none
    float slope = 0.0F;            // of ALiBi, in units of log2 a token
    const float* distance =
        nullptr;  // [G] position of the query − that of the block's first key; with a slope
    /// [keys, G], or [keys] with bias_by_key; −inf forbids. nullptr: none. Not in units of log2.
    const float* bias = nullptr;
    bool bias_by_key = false;  // the same number for every query
    bool bias_first = false;   // added before the cap
    bool pairwise = false;  // V has NaN or inf: add pair by pair, so that 0 · NaN of a forbidden
                            // pair does not count
};

/// Online softmax of one group: what is known after the keys so far. Rows of G, aligned.
///   m >= max B + lift − 8 (max B + lift with a lift),  l = Σ 2^(B − m),  O = Σ 2^(B − m) V,  B = cap tanh(S / cap) + bias log2 e − slope |distance|,
///   S = scores · factor · log2 e
struct GroupState {
    float* qt = nullptr;  // [d_k, G]: Qᵀ · factor · log2 e
    float* ot = nullptr;  // [d_v up to a multiple of kTileKeys, G]
    float* max = nullptr;
    float* sum = nullptr;
    float lift = 0.0F;  // 0, or lift_of() where V is so large that O leaves float32's range
};

/// With it the terms of l add up to less than 1, so that O is at most the largest V: log2 of the keys, rounded up, and 1.
float lift_of(Index keys);

/// to(c, r) = from(r, c) · column_factors[c]: queries into lanes, and contexts back.
void transpose(MatrixView<const float> from, const float* column_factors, MatrixView<float> to);

/// Whether no number is NaN or infinite; `count` is a multiple of G, `from` aligned.
bool is_finite(const float* from, Index count);

/// Adds a block of keys to the state. `p` is scratch: [keys + kTileKeys, G], aligned.
void attend_block(const KeyBlock& block, const GroupState& state, float* p);

}  // namespace attn
