#pragma once

#include <string>

#include "app/gl/pixels.h"

namespace attn::gl {

/// The bytes of a PNG file, 8-bit RGBA. Same pixels, same bytes.
std::string encode_png(const Pixels& pixels);

}  // namespace attn::gl
