#pragma once

#include "core/engine.h"

namespace attn {

/// Whether the rules of a mask can be and fit a call of that size, as validate() asks: an error names the rule, its
/// value and what was expected.
Result<void> check_mask(const MaskSpec& mask, const Dimensions& size);

}  // namespace attn
