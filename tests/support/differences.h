#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "core/forward.h"

namespace attn::test {

/// L = Σ upstream ∘ stage; an empty upstream is ones.
double loss_of(const TensorD& stage, const TensorD& upstream);

/// "" when each entry of `gradient` is the central difference of `loss` that its entry of `tensor` makes, to 1e-7 of
/// 1 + |difference|; else a sentence about the first that is not. `loss` reads `tensor`, which is left as it was. The
/// gradient of an empty tensor is empty. A gradient of which that tolerance would be a thousandth of the largest entry is
/// refused, unless it is 0.
/// (L(t + h) − L(t − h)) / 2h is wrong by about h² f''' / 6 + ε L / h: h = 1e-5 leaves 1e-10 of each.
std::string gradient_mismatch(TensorD& tensor, const TensorD& gradient,
                              const std::function<double()>& loss, std::string_view what);

}  // namespace attn::test
