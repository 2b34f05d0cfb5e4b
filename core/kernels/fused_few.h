#pragma once

#include "core/kernels/fused_forward.h"

namespace attn {

// The SIMD part of the fused forward pass where queries are few, as in decoding. Columns lie in the lanes, so that a key
// and its value are read once for every query that shares them, and a lane without a query costs nothing.

/// Keys of a block at most.
constexpr Index kFewKeys = 64;

/// `width` rounded up to whole vectors: what rows of Q and O are long.
Index few_width(Index width);

/// One head's keys and values, row-major without gaps, and a run of at most kFewKeys of them.
struct FewBlock {
    const float* k = nullptr;  // [keys, d_k]
    const float* v = nullptr;  // [keys, d_v]
    Index keys = 0;
    Index d_k = 0;
    Index d_v = 0;
    Index following = 0;           // keys behind it, at most kFewKeys, that come next
    const float* allow = nullptr;  // [rows, kFewKeys], 0 forbids; nullptr: nothing is forbidden
    const float* keep = nullptr;   // [rows, kFewKeys] dropout factors, or nullptr
    const float* bias = nullptr;   // [rows, kFewKeys], as in KeyBlock, or nullptr
    bool bias_first = false;       // as in KeyBlock
    float cap = 0.0F;              // as in KeyBlock
    bool pairwise = false;         // as in KeyBlock
};

/// The queries of all heads that share those keys, and their online softmax as in GroupState. One entry a row.
struct FewRows {
    Index rows = 0;
    const float* q = nullptr;      // [rows, few_width(d_k)]: Q · factor · log2 e, then 0; aligned
    const float* slope = nullptr;  // of ALiBi, in units of log2 a token; nullptr: none
    const float* distance =
        nullptr;         // position of the query − that of the block's first key; with a slope
    float* o = nullptr;  // [rows, few_width(d_v)], aligned
    float* max = nullptr;
    float* sum = nullptr;
    float lift = 0.0F;  // as in GroupState
};

/// Adds a block of keys to the rows. `p` is scratch: [rows, kFewKeys], aligned.
void attend_few(const FewBlock& block, const FewRows& rows, float* p);

}  // namespace attn
