#pragma once

#include "core/sizes.h"

namespace attn {

/// One head of one layer; layers and heads count from 0.
struct HeadPlace {
    Index layer = 0;
    Index head = 0;
    auto operator<=>(const HeadPlace&) const = default;
};

}  // namespace attn
