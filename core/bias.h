#pragma once

#include <limits>
#include <memory>

#include "core/engine.h"
#include "core/masks.h"

namespace attn {

// Functions of MaskSpec::bias. AttentionSpec::bias_before_softcap has its place in the formula.

/// The value that forbids its pair.
inline constexpr float kForbidding = -std::numeric_limits<float>::infinity();

/// A bias of these numbers, broadcastable to [B,H,Tq,Tk]; nullptr of an empty tensor. Looks at each number once.
std::shared_ptr<const PairBias> make_bias(Tensor values);

/// The number that is added to the score of query i and key j; 0 without a bias.
double bias_at(const MaskSpec& mask, Index b, Index h, Index i, Index j);

/// The mask with the pairs that the bias forbids in its array too, where a person can see and paint them.
MaskSpec with_forbidden_in_mask(MaskSpec mask, const Dimensions& size);

/// d_bias: the sum of the pairs' gradients over the axes that broadcast, in double, in the order of the pairs; empty without a bias.
/// Of d_biased, or of d_scaled where the bias comes before the soft cap.
template <class Scalar>
TensorOf<Scalar> bias_gradient(const AttentionSpec& spec, const TraceOf<Scalar>& d);

}  // namespace attn
