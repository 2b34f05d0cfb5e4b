#pragma once

#include <cstdint>
#include <vector>

namespace attn::view {

/// Pixels as they cross between view, ui and gl: RGBA8, row-major, top row first.
struct Image {
    int width = 0;
    int height = 0;
    std::vector<std::uint8_t> rgba;
};

}  // namespace attn::view
