#pragma once

#include <memory>
#include <string>

#include "app/common/fields.h"
#include "core/tensor.h"

namespace attn::view {

struct Document;

// For whoever includes this: link attn::json too.
// The explicit mask of a document, given by its file or painted by hand: 1 may attend, 0 forbidden.

/// Whether it allows the pair; true where there is none.
bool paint_allows(const Document& document, Index batch, Index head, Index query, Index key);
/// With an entry for every query and key; batch and heads are as many as it has, 1 where there is none yet.
Mask paintable_mask(const Document& document);
/// Puts `mask` in its place; one that forbids nothing is none.
void set_paint(Document& document, Mask mask);
/// Of other numbers of queries and keys: every pair that was there stays, new ones are allowed.
std::shared_ptr<const Mask> resized_paint(const std::shared_ptr<const Mask>& mask, Index queries,
                                          Index keys);

/// ["1011", …], a text for each query; with batch entries or heads {"batch": 2, "heads": 1, "rows": […]}; of none
/// "none".
std::string paint_json(const std::shared_ptr<const Mask>& mask);
/// The mask under "mask"; false where there is none.
bool read_paint(Fields& fields, std::shared_ptr<const Mask>& mask);

}  // namespace attn::view
