#pragma once

#include <limits>
#include <memory>

#include "core/forward.h"
#include "core/sizes.h"

namespace attn {

struct MaskSpec;
struct AttentionSpec;
struct Dimensions;
struct PairBias;

// Functions of MaskSpec::bias. AttentionSpec::bias_before_softcap has its place in the formula.

/// The value that forbids its pair.
inline constexpr float kForbidding = -std::numeric_limits<float>::infinity();

/// A bias of these numbers, broadcastable to [B,H,Tq,Tk]; nullptr of an empty tensor. Looks at each number once.
std::shared_ptr<const PairBias> make_bias(Tensor values);

/// Σ log f_l over the tokens l after key j up to query i's position p = i + offset, l ≤ Tk − 1; 0 where j ≥ p. [B,H,Tq,Tk] of log_f
/// [B,H,1,Tk], summed in double. Under a causal mask that is the Forgetting Transformer (Lin et al. 2025, arXiv:2503.02130, eq. 3).
Tensor forgetting_bias(const Tensor& log_f, Index queries, Index offset);

/// The number that is added to the score of query i and key j; 0 without a bias.
double bias_at(const MaskSpec& mask, Index b, Index h, Index i, Index j);

/// The mask with the pairs that the bias forbids in its array too, where a person can see and paint them.
MaskSpec with_forbidden_in_mask(MaskSpec mask, const Dimensions& size);

/// d_bias: the sum of the pairs' gradients over the axes that broadcast, in double, in the order of the pairs; empty without a bias.
/// Of d_biased, or of d_scaled where the bias comes before the soft cap.
template <class Scalar>
TensorOf<Scalar> bias_gradient(const AttentionSpec& spec, const TraceOf<Scalar>& d);

}  // namespace attn
