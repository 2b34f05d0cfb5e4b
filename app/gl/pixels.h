#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "core/io/png_image.h"

namespace attn::gl {

struct Size {
    int width = 0;
    int height = 0;
    bool operator==(const Size&) const = default;
};

/// RGBA8, row-major, top row first.
struct Pixels {
    Size size;
    std::vector<std::uint8_t> rgba;
};

/// Red, green and blue, 0…255.
using Rgb = std::array<std::uint8_t, 3>;

/// What the framebuffer bound for reading shows, opaque. Waits for the drawing to finish.
Pixels read_pixels(Size size);
/// Without alpha.
RgbImage opaque(const Pixels& pixels);

}  // namespace attn::gl
