#pragma once

#include <vector>

#include "core/models/tokenizer.h"
#include "core/tensor.h"

namespace attn {

/// What a model keeps of the tokens that it has read, so that a later one needs one query row: of every layer K, after RoPE, and V.
struct KvCache {
    struct Layer {
        Tensor k, v;  // [1, Hkv, tokens, d]
    };
    std::vector<ModelToken> tokens;
    std::vector<Layer> layers;  // empty: no token was read
    std::vector<Layer> cross =
        {};  // of a decoder: over the encoder's tokens, whatever is forgotten

    Index size() const { return static_cast<Index>(tokens.size()); }
    /// What K and V take in memory: 2 · layers · Hkv · d · tokens · 4 where d_k = d_v, and as much of the encoder's tokens.
    Index bytes() const;
    /// Only the first `count` tokens were read. At most size().
    void truncate(Index count);
};

/// The tokens of both, [1, H, T + T', d]; `before` may be empty.
Tensor in_a_row(const Tensor& before, Tensor after);
/// [1, 1, 1, width] of x [1, 1, T, width].
Tensor row_of(const Tensor& x, Index row);

}  // namespace attn
