#pragma once

#include <string>
#include <vector>

#include "core/engine.h"

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

}  // namespace attn::test
