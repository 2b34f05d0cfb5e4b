#pragma once

#include <span>
#include <string>

#include "app/common/document/document.h"
#include "core/trace.h"

namespace attn::view {

/// Returns the words of the keys in this entry of the batch. Empty if the document names no keys: keys then go by number.
/// Queries lend their words only to keys that are the same tokens: as many, and not projected from X_kv.
inline std::span<const std::string> key_tokens(const Document& document, Index batch) {
    if (!document.tokens_kv.empty()) return document.tokens_kv;
    const bool same = document.size.tq == document.size.tk && document.inputs->x_kv.empty();
    return same ? std::span<const std::string>(tokens_of(document, batch))
                : std::span<const std::string>();
}

}  // namespace attn::view
