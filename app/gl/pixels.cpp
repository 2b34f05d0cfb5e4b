#include "app/gl/pixels.h"

#include <epoxy/gl.h>

namespace attn::gl {

Pixels read_pixels(Size size) {
    const auto stride = static_cast<std::ptrdiff_t>(size.width) * 4;
    std::vector<std::uint8_t> upside_down(stride * size.height);
    glPixelStorei(GL_PACK_ALIGNMENT, 4);
    glReadPixels(0, 0, size.width, size.height, GL_RGBA, GL_UNSIGNED_BYTE, upside_down.data());
    Pixels pixels{size, {}};
    pixels.rgba.reserve(upside_down.size());
    for (auto row = upside_down.end(); row != upside_down.begin(); row -= stride)
        pixels.rgba.insert(pixels.rgba.end(), row - stride, row);
    for (std::size_t alpha = 3; alpha < pixels.rgba.size(); alpha += 4) pixels.rgba[alpha] = 255;
    return pixels;
}

RgbImage opaque(const Pixels& pixels) {
    RgbImage image{pixels.size.width, pixels.size.height, {}};
    image.rgb.reserve(pixels.rgba.size() / 4 * 3);
    for (auto at = pixels.rgba.begin(); at != pixels.rgba.end(); at += 4)
        image.rgb.insert(image.rgb.end(), at, at + 3);
    return image;
}

}  // namespace attn::gl
