#pragma once

#include "core/models/weights.h"

namespace attn {

// What a block does besides attention. x is [1, 1, T, width]; every function makes a new tensor or changes x in place.

/// Each row by itself; sums in double. Formulas: Norm.
Tensor normalised(const Tensor& x, const NormWeights& norm, Norm kind, double epsilon);
/// Of each head's columns by themselves: x is [1, H, T, d].
void normalise_heads(Tensor& x, const NormWeights& norm, Norm kind, double epsilon);
/// x W + b.
Tensor through(const Tensor& x, const LinearWeights& linear);
/// Formulas: Activation.
void activate(Tensor& x, Activation activation);
/// x += y.
void add(Tensor& x, const Tensor& y);
/// x ∘= y.
void scale_by(Tensor& x, const Tensor& y);
/// Adds sines, then cosines, of position / 10000^(i / (width/2 − 1)), i = 0 … width/2 − 1.
void add_waves(Tensor& x);

}  // namespace attn
