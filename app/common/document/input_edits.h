#pragma once

#include "app/common/describe.h"
#include "app/common/document/origin.h"
#include "app/common/fields.h"

namespace attn::view {
struct TextPatch;
}  // namespace attn::view

namespace attn {
struct RowIntervention;
}  // namespace attn

namespace attn::view {

struct BiasStroke;
struct InputEdit;
struct Target;

// For whoever includes this: link attn::json too.

/// {"layer", "batch", "head", "tensor", "row", "column", "value"}
void describe(Visitor& visit, InputEdit& edit);
void describe(Visitor& visit, BiasStroke& stroke);
/// {"batch": 0, "row": 1, "column": 2, "value": 0.5}
void describe(Visitor& visit, Target& target);
/// {"layer", "head", "query", "weights"}
void describe(Visitor& visit, RowIntervention& row);
/// {"layer", "head", "part", "text"}
void describe(Visitor& visit, TextPatch& patch);

/// Interventions in a model: "off", a list of [layer, head], sorted, each once; "rows"; "patches".
ModelChanges changes_in(Fields& fields);

}  // namespace attn::view
