#pragma once

#include "app/common/document/document.h"

namespace attn::view {

/// Whether the same Q, K and V make the same weights under both specs, which differ in what the window changes alone.
bool weighs_alike(const AttentionSpec& a, const AttentionSpec& b);

/// Weights that a file stores beside the queries and keys that make them are those of its call: once `document` differs from
/// `before` in what makes weights, it has them no more, and all is computed.
void leave_stored(const Document& before, Document& document);

}  // namespace attn::view
