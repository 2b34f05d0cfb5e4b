#pragma once

#include "core/forward.h"

namespace attn::view {

struct Document;
struct OutputCell;

/// Says what one output should be; 0 is what is expected of every output that nothing is said of.
void set_target(Document& document, const OutputCell& cell, float value);
/// Forgets those of outputs that the document does not have.
void keep_targets_inside(Document& document);
/// ∂L/∂output that a file gives for the layer that is looked at, of the output's shape; nullptr: none, or of another shape.
const Tensor* given_gradient(const Document& document);
bool has_output(const Document& document, const OutputCell& cell);

}  // namespace attn::view
