#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "core/spec.h"
#include "core/trace.h"

namespace attn::test {

/// One attention call to try: inputs and options, and a name that tells seed and sizes.
struct Case {
    std::string name;
    Inputs inputs;
    AttentionSpec spec;
    Upstream upstream;
};

/// Q, K, V and the upstream gradient at context of standard normal numbers; V has the heads and tokens of K.
Case normal_case(std::string name, const Shape& q, const Shape& k, Index d_v);

/// What the reference makes of a call, in double.
struct ExactCase {
    InputsD inputs;
    UpstreamD upstream;
    TraceD forward;
    TraceD d;
};
ExactCase exact_of(const Case& one);

/// Every combination that the engine knows at least once: odd sizes, cross-attention, d_v ≠ d_k, GQA,
/// W_O, biases, each mask, empty rows under both policies, dropout, scale, temperature. `small` has
/// sizes for finite differences; otherwise they straddle vector widths.
enum class Sizes { small, odd };
std::vector<Case> engine_cases(Sizes sizes);

/// Every kind of attention beside the plain one: each score function, RoPE, soft cap, ALiBi, sinks, windows with sides
/// and global tokens, query offsets; alone, with a causal mask, and together, with GQA.
std::vector<Case> kind_cases(Sizes sizes);

/// A call of as many queries as keys whose options count by position, and queries first … of it by themselves, whose
/// offset says where they stand: both have the same rows.
struct ShiftedCase {
    Case square, part;
    Index first = 0;
    bool counts_by_position = true;  // else the offset changes nothing
};
/// Each rule of masks and positions by itself, and all together.
std::vector<ShiftedCase> shifted_cases();
/// Rows `first` … first + count − 1 of each head.
template <class Scalar>
TensorOf<Scalar> rows_from(const TensorOf<Scalar>& x, Index first, Index count) {
    TensorOf<Scalar> rows({x.shape().b, x.shape().h, count, x.shape().d});
    for (Index b = 0; b < x.shape().b; ++b)
        for (Index h = 0; h < x.shape().h; ++h)
            for (Index i = 0; i < count; ++i)
                std::ranges::copy(x.matrix(b, h).row(first + i), rows.matrix(b, h).row(i).begin());
    return rows;
}

}  // namespace attn::test
