#pragma once

#include <string>

#include "core/heads/all.h"

namespace attn::view {

struct Document;

// All heads of all layers of a document.

/// The most weights that are held at once, of all layers, sequences and heads.
inline constexpr Index kMostHeadCells = Index{1} << 24;

/// Views of the document, which must outlive them.
HeadsInput heads_input(const Document& document);
/// Heads of a layer under the document's options; 0: there is no such layer, or it cannot be computed.
Index heads_in_layer(const Document& document, Index layer);
bool is_there(const Document& document, HeadPlace place);
/// Whether its heads are those of its model: not where W was split anew.
bool has_own_heads(const Document& document);
/// Why no head has weights, without a full stop; "": some have.
std::string attention_fault(const Document& document);
/// The same, or that there are too many weights to hold all of them at once.
std::string heads_fault(const Document& document);

/// "L0 H3"
std::string head_name(HeadPlace place);
/// "There is no L2 H0: …"
std::string missing_head_text(const Document& document, HeadPlace place);

}  // namespace attn::view
