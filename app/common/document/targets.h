#pragma once

#include <nlohmann/json.hpp>

#include "app/common/document/document.h"
#include "app/common/fields.h"

namespace attn::view {

// For whoever includes this: link attn::json too.

/// Says what one output should be; 0 is what is expected of every output that nothing is said of.
void set_target(Document& document, const OutputCell& cell, float value);
/// Forgets those of outputs that the document does not have.
void keep_targets_inside(Document& document);
/// ∂L/∂output that a file gives for the layer that is looked at, of the output's shape; nullptr: none, or of another shape.
const Tensor* given_gradient(const Document& document);
bool has_output(const Document& document, const OutputCell& cell);

/// [{"batch": 0, "row": 1, "column": 2, "value": 0.5}, …]
nlohmann::ordered_json targets_to(const std::vector<Target>& targets);
/// Under "targets"; nothing happens when it is missing.
void read_targets(Fields& fields, std::vector<Target>& targets);

}  // namespace attn::view
