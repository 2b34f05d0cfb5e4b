#pragma once

#include <string>

#include "app/common/document/mask_code.h"
#include "core/result.h"

namespace attn::view {

/// Python that computes the document's layer again, in float64 and step by step, from its own numbers: q, k, v, scores, scaled,
/// weights, context and output under these names, [B,H,T,d]. An error says what there is no code for: more numbers than a
/// person pastes, NaN or ∞ in the inputs, no queries, keys or values.
Result<std::string> call_code(const Document& document, MaskCode code);

}  // namespace attn::view
