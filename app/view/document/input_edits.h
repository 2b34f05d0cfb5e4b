#pragma once

#include "app/view/common/fields.h"
#include "app/view/document/document.h"

namespace attn::view {

// For whoever includes this: link attn::json too.

/// Numbers of a file's tensors that a person changed, oldest first.
nlohmann::ordered_json edits_to(const std::vector<InputEdit>& edits);
/// Under "edits"; nothing happens when it is missing.
void read_edits(Fields& fields, std::vector<InputEdit>& edits);

/// Heads of a model that are off, under "off": a list of [layer, head]; sorted, each once.
std::vector<ModelHead> heads_off_in(Fields& fields);

}  // namespace attn::view
