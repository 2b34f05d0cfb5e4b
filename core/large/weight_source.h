#pragma once

#include <memory>
#include <span>
#include <vector>

#include "core/bias.h"
#include "core/dimensions.h"
#include "core/large/cell.h"
#include "core/result.h"
#include "core/scores/pair_rule.h"
#include "core/spec.h"

namespace attn::large {

/// What a map of attention weights is made of: the operands of the scores' dot product, and which pairs may attend.
/// Never the weights themselves: any of them is exp(B − logsumexp of its row), B what Finish makes of q·k.
/// Immutable and shared: threads may read it without a lock.
struct WeightSource {
    std::shared_ptr<const Tensor> q;  // [B,H,Tq,d_k], turned and transformed as the score asks
    std::shared_ptr<const Tensor> k;  // [B,Hkv,Tk,d_k], likewise
    AttentionSpec
        spec;  // mask, scale, temperature, soft cap, ALiBi, empty rows; −∞ of a bias is in mask.custom too
    Dimensions size;
    std::vector<double> sinks = {};  // one more logit a query head; empty: none
};

/// What becomes of a dot product in one head: B = cap · tanh(S / cap) + bias − slope · |i + offset − j|, S = q·k · factor; the
/// bias inside tanh with rule.bias_first.
struct Finish {
    double factor = 1.0;
    PairRule rule;
    Index offset = 0;                // position of query 0
    const MaskSpec* mask = nullptr;  // of the source, with a bias; nullptr: none
    Head head = {};

    double bias(Index i, Index j) const {
        return mask == nullptr ? 0.0 : bias_at(*mask, head.b, head.h, i, j);
    }
    double operator()(double product, Index i, Index j) const {
        return rule.biased(product * factor, i + offset, j, bias(i, j));
    }
};
Finish finish_of(const WeightSource& source, Head head);
/// The sink's logit of a head; −inf: there is none.
double sink_of(const WeightSource& source, Head head);

/// Scores by distance are dot products of operands with a column more for each key: this many at most.
inline constexpr Index kMostDistanceKeys = 2048;

/// Projects X where there is one, turns Q and K (RoPE) and makes the score's operands of them, in double stored as
/// float. Without any of it Q and K are shared or moved as they are. V is not looked at.
/// Errors: those of validate(); dropout > 0 (a map shows weights before dropout) and a score that is no dot product of
/// operands (additive, student_t), or `relative` over more than kMostDistanceKeys keys: each is refused by name.
Result<WeightSource> weight_source(const Inputs& inputs, const AttentionSpec& spec);

/// The same for inputs whose `size` is known to be valid: Q and K that are given are shared, not copied.
Result<WeightSource> weight_source(const std::shared_ptr<const Inputs>& inputs,
                                   const AttentionSpec& spec, const Dimensions& size);

}  // namespace attn::large
