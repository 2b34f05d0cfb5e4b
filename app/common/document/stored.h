#pragma once

namespace attn::view {

struct Document;

/// Whether the same Q, K and V make the same weights in both.
bool weighs_alike(const Document& x, const Document& y);

/// Weights that a file stores beside the queries and keys that make them are those of its call: once `document` differs from
/// `before` in what makes weights, it has them no more, all is computed, and it is true.
bool leave_stored(const Document& before, Document& document);

}  // namespace attn::view
