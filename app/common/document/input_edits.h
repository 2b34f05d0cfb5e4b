#pragma once

#include "app/common/document/document.h"
#include "app/common/fields.h"

namespace attn::view {

// For whoever includes this: link attn::json too.

/// Numbers of a file's tensors that a person changed, oldest first.
nlohmann::ordered_json edits_to(const std::vector<InputEdit>& edits);
/// Under "edits"; nothing happens when it is missing.
void read_edits(Fields& fields, std::vector<InputEdit>& edits);

/// Interventions in a model: "off", a list of [layer, head], sorted, each once; "rows", of {layer, head, query, weights};
/// "patches", of {layer, head, part, text}.
ModelChanges changes_in(Fields& fields);
nlohmann::ordered_json rows_to(const std::vector<RowIntervention>& rows);
nlohmann::ordered_json patches_to(const std::vector<TextPatch>& patches);

}  // namespace attn::view
