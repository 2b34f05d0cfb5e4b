#pragma once

#include "core/tensor.h"

namespace attn {

// The arrays of an AttentionSpec.

/// Cosines and sines of the turns, in place of those of a position times a frequency: entry [b,0,t,c] turns column pair c of token t
/// in batch entry b. They hold any rule: positions of packed or padded texts, sections of an image, partial or rescaled turns.
struct RotaryTables {
    Tensor q_cos, q_sin;  // [1 or B, 1, Tq, dims/2]
    Tensor k_cos, k_sin;  // [1 or B, 1, Tk, dims/2]
};

/// A float array that is added to the scores: Press et al. 2022 (ALiBi), Raffel et al. 2020 (T5) and PyTorch's float attn_mask are
/// such arrays. make_bias() in core/bias.h makes one.
struct PairBias {
    Tensor values;         // broadcastable to [B,H,Tq,Tk]
    bool forbids = false;  // an entry is −∞, which forbids its pair
};

}  // namespace attn
