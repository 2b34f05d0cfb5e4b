#include "app/common/document/stored.h"

#include "app/common/document/call.h"
#include "app/common/document/document.h"
#include "app/common/document/effect.h"

namespace attn::view {

namespace {

/// Of a call, what makes weights.
CallSettings weighing(const Document& document) {
    CallSettings call = call_of(document);
    call.dropout = 0.0;
    call.dropout_seed = 0;
    call.training = true;
    return call;
}

}  // namespace

bool weighs_alike(const Document& x, const Document& y) {
    const AttentionSpec& a = x.spec;
    const AttentionSpec& b = y.spec;
    const bool values = a.scale != ScaleKind::value || a.scale_value == b.scale_value;
    return same_mask(a, b) && values && a.scale == b.scale && a.temperature == b.temperature &&
           weighing(x) == weighing(y);
}

bool leave_stored(const Document& before, Document& document) {
    if (document.given.empty() || document.given != before.given || is_empty(document))
        return false;
    const AttentionSpec &is = document.spec, &was = before.spec;
    const bool same = document.layers == before.layers && weighs_alike(document, before) &&
                      is.heads == was.heads && is.kv_heads == was.kv_heads &&
                      is.empty_rows == was.empty_rows;
    if (!same) document.given.clear();
    return !same;
}

}  // namespace attn::view
