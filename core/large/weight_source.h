#pragma once

#include <memory>
#include <span>

#include "core/engine.h"
#include "core/masks.h"

namespace attn::large {

/// What a map of attention weights is made of: queries, keys, and which pairs may attend. Never the
/// weights themselves: any of them is exp(q·k · factor − logsumexp of its row).
/// Immutable and shared: threads may read it without a lock.
struct WeightSource {
    std::shared_ptr<const Tensor> q;  // [B,H,Tq,d_k]
    std::shared_ptr<const Tensor> k;  // [B,Hkv,Tk,d_k]
    AttentionSpec spec;               // mask, scale, temperature, empty rows
    Dimensions size;
};

/// One head of a source; its keys are those of head h / (H / Hkv).
struct Head {
    Index b = 0;
    Index h = 0;
    bool operator==(const Head&) const = default;
};

/// q · k of two rows, added in float64.
inline double dot(std::span<const float> q, std::span<const float> k) {
    double sum = 0.0;
    for (std::size_t c = 0; c < q.size(); ++c)
        sum += static_cast<double>(q[c]) * static_cast<double>(k[c]);
    return sum;
}

/// What the mask leaves query i: a source's masks leave one run of keys, weight_source() sees to it.
inline KeyRange one_run(const MaskSpec& mask, const Dimensions& size, Index b, Index i) {
    return key_runs(mask, size, b, i).first;
}

/// Projects X where there is one. V is not looked at. Errors: those of validate(); dropout > 0 (a
/// map shows weights before dropout, so it is refused by name), and what a map cannot show yet: scores that are no dot
/// product of Q and K, RoPE, soft cap, ALiBi, sinks, global tokens.
Result<WeightSource> weight_source(const Inputs& inputs, const AttentionSpec& spec);

/// The same for inputs whose `size` is known to be valid: Q and K that are given are shared, not copied.
Result<WeightSource> weight_source(const std::shared_ptr<const Inputs>& inputs,
                                   const AttentionSpec& spec, const Dimensions& size);

}  // namespace attn::large
