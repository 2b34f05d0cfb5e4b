#include "app/common/document/stored.h"

#include "app/common/document/effect.h"

namespace attn::view {

bool weighs_alike(const AttentionSpec& a, const AttentionSpec& b) {
    const bool values = a.scale != ScaleKind::value || a.scale_value == b.scale_value;
    return same_mask(a.mask, b.mask) && values && a.scale == b.scale &&
           a.temperature == b.temperature;
}

void leave_stored(const Document& before, Document& document) {
    if (document.given.empty() || document.given != before.given || is_empty(document)) return;
    const AttentionSpec &is = document.spec, &was = before.spec;
    if (document.layers != before.layers || !weighs_alike(is, was) || is.heads != was.heads ||
        is.kv_heads != was.kv_heads || is.empty_rows != was.empty_rows)
        document.given.clear();
}

}  // namespace attn::view
