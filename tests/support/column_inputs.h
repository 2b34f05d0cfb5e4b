#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "core/spec.h"
#include "core/trace.h"

namespace attn::test {

/// One head of width 1: scores[i,j] = q_i · k_j.
inline Inputs column_inputs(std::vector<float> q, std::vector<float> k, std::vector<float> v) {
    const auto column = [](std::vector<float> values) {
        const Shape shape{1, 1, static_cast<Index>(values.size()), 1};
        return Tensor(shape, std::move(values));
    };
    Inputs inputs;
    inputs.q = column(std::move(q));
    inputs.k = column(std::move(k));
    inputs.v = column(std::move(v));
    return inputs;
}

/// A custom mask [Tq,Tk] of 0 and 1, row after row.
inline AttentionSpec masked_by(Index tq, Index tk, std::vector<std::uint8_t> allowed) {
    AttentionSpec spec;
    spec.mask.custom = std::make_shared<const Mask>(Shape{1, 1, tq, tk}, std::move(allowed));
    return spec;
}

}  // namespace attn::test
