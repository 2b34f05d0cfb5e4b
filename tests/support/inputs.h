#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "core/spec.h"
#include "core/trace.h"
#include "tests/support/random.h"

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

/// Q, K and V of standard normal numbers from the seeds 1, 2 and 3.
inline Inputs normal_inputs(const Shape& q, const Shape& k, const Shape& v, double size = 1.0) {
    Inputs inputs;
    inputs.q = normal_tensor<float>(q, 1, size);
    inputs.k = normal_tensor<float>(k, 2, size);
    inputs.v = normal_tensor<float>(v, 3);
    return inputs;
}
inline Inputs normal_inputs(const Shape& each) { return normal_inputs(each, each, each); }

/// Four tokens of width 4, of which Q, K and V are one tensor.
inline Inputs four_tokens() {
    Inputs inputs;
    inputs.q = inputs.k = inputs.v = normal_tensor<float>({1, 1, 4, 4}, 1);
    return inputs;
}

inline AttentionSpec causal_spec(CausalAlign align = CausalAlign::top_left) {
    AttentionSpec spec;
    spec.mask.causal = align;
    return spec;
}

/// A custom mask [Tq,Tk] of 0 and 1, row after row.
inline AttentionSpec masked_by(Index tq, Index tk, std::vector<std::uint8_t> allowed) {
    AttentionSpec spec;
    spec.mask.custom = std::make_shared<const Mask>(Shape{1, 1, tq, tk}, std::move(allowed));
    return spec;
}

}  // namespace attn::test
