#pragma once

#include "core/result.h"

namespace attn {

struct Dimensions;
struct MaskSpec;

/// Checks that the rules of a mask are valid and fit a call of this size, for validate(): an error names the rule, its
/// value and the expected values.
Result<void> check_mask(const MaskSpec& mask, const Dimensions& size);

}  // namespace attn
