#pragma once

#include <string>

#include "core/heads/place.h"
#include "core/stage.h"

namespace attn::view {

/// q, k or v of one head from another text of as many tokens, position by position. Of k and v it is a key head.
struct TextPatch {
    HeadPlace at;
    Stage part = Stage::v;
    std::string text;
    bool operator==(const TextPatch&) const = default;
};

}  // namespace attn::view
