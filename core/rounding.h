#pragma once

#include "core/sizes.h"

namespace attn {

/// ⌈a / b⌉ for a ≥ 0, b > 0: how many groups of b hold a. Every a and b: nothing here overflows.
constexpr Index divide_up(Index a, Index b) { return a / b + (a % b != 0 ? 1 : 0); }
/// The least multiple of b that is not below a.
constexpr Index round_up(Index a, Index b) { return divide_up(a, b) * b; }

}  // namespace attn
