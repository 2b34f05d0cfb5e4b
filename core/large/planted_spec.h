#pragma once

#include <cstdint>

#include "core/sizes.h"

namespace attn::large {

/// Which structures the generated queries and keys show, each of which people look for in real heads.
struct PlantedSpec {
    Index tokens = 16384;  // kLeastPlanted … kMostPlanted
    Index d_k = 64;        // kLeastPlantedWidth … 256
    std::uint64_t seed = 1;
    bool band = true;       // a token attends to its neighbours
    bool sink = true;       // everything attends to token 0
    bool induction = true;  // a repeated stretch attends to what followed its first occurrence
    bool documents = true;  // tokens attend within their own document: blocks on the diagonal
    bool needle = true;     // one query far from its key finds it, with a weight above one half
    bool causal = false;
    bool operator==(const PlantedSpec&) const = default;
};
inline constexpr Index kLeastPlanted = 256;
inline constexpr Index kMostPlanted = 1'048'576;
inline constexpr Index kLeastPlantedWidth = 32;

}  // namespace attn::large
