#pragma once

#include "core/sizes.h"

namespace attn::large {

/// A cell of the matrix of weights.
struct Cell {
    Index row = 0;     // query
    Index column = 0;  // key
    bool operator==(const Cell&) const = default;
};

/// One head of a source; its keys are those of head h / (H / Hkv).
struct Head {
    Index b = 0;
    Index h = 0;
    bool operator==(const Head&) const = default;
};

}  // namespace attn::large
