#pragma once

#include <span>

#include "core/dimensions.h"
#include "core/rng.h"
#include "core/spec.h"

namespace attn {

struct AttentionSpec;

/// Ã = A · keep / (1 − p): the factor of one weight, 0 or 1/(1 − p). Pair (b,h,i,j) is kept when the
/// uniform number at its flat index in [B,H,Tq,Tk] is at least p, so each pair's fate depends on
/// nothing but the seed and that index. Without dropout, and outside training, the factor is 1.
inline double dropout_factor(const AttentionSpec& spec, const Dimensions& size, Index b, Index h,
                             Index i, Index j) {
    if (!spec.drops()) return 1.0;
    const Index flat = ((b * size.heads + h) * size.tq + i) * size.tk + j;
    const bool retained = uniform(spec.seed, static_cast<std::uint64_t>(flat)) >= spec.dropout;
    return retained ? 1.0 / (1.0 - spec.dropout) : 0.0;
}

/// to[j] = from[j] · factor of pair (b,h,i,j): row i of Ã from A, and of d_A from d_Ã.
inline void apply_dropout(const AttentionSpec& spec, const Dimensions& size, Index b, Index h,
                          Index i, std::span<const float> from, std::span<float> to) {
    for (std::size_t j = 0; j < to.size(); ++j)
        to[j] = from[j] *
                static_cast<float>(dropout_factor(spec, size, b, h, i, static_cast<Index>(j)));
}

}  // namespace attn
