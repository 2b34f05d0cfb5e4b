#pragma once

#include <cstdint>

#include "core/forward.h"
#include "core/sizes.h"

namespace attn {

enum class Activation : std::uint8_t;
enum class Gated : std::uint8_t;
enum class Norm : std::uint8_t;
struct LinearWeights;
struct NormWeights;
struct RopeRules;

// What a block does besides attention. x is [1, 1, T, width]; every function makes a new tensor or changes x in place.

/// Each row by itself; sums in double. Formulas: Norm.
Tensor normalised(const Tensor& x, const NormWeights& norm, Norm kind, double epsilon);
/// Of each head's columns by themselves: x is [1, H, T, d]. A norm of H·d columns is of all heads of a token together.
void normalise_heads(Tensor& x, const NormWeights& norm, Norm kind, double epsilon);
/// Turns every row of x [1, H, T, d] by its place, `first` + row, as `rules` say of a text of `first` + T tokens.
void turn_heads(Tensor& x, const RopeRules& rules, Index first = 0);
/// x W + b.
Tensor through(const Tensor& x, const LinearWeights& linear);
/// Formulas: Activation.
void activate(Tensor& x, Activation activation);
/// Of the columns of one matrix that are gate and up: half as many. Formulas: Gated.
Tensor gated(const Tensor& both, Gated kind, Activation activation);
/// x += factor y.
void add(Tensor& x, const Tensor& y, double factor = 1.0);
/// Each column by its own factor; 1 row of them.
void scale_columns(Tensor& x, const Tensor& factors);
/// cap · tanh(x / cap).
void cap(Tensor& x, double most);
/// x ∘= y.
void scale_by(Tensor& x, const Tensor& y);
/// Adds sines, then cosines, of position / 10000^(i / (width/2 − 1)), i = 0 … width/2 − 1; row 0 has position `first`.
void add_waves(Tensor& x, Index first = 0);
/// The same of position / 10000^(2 i / width): Vaswani et al. 2017, §3.5.
void add_sines(Tensor& x);

}  // namespace attn
