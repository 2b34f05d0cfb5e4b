#include "app/gl/png.h"

#include "core/check.h"

#define STB_IMAGE_WRITE_STATIC
#define STB_IMAGE_WRITE_IMPLEMENTATION
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#include <stb_image_write.h>
#pragma GCC diagnostic pop

namespace attn::gl {
namespace {

void append(void* context, void* bytes, int count) {
    static_cast<std::string*>(context)->append(static_cast<const char*>(bytes),
                                               static_cast<std::size_t>(count));
}

}  // namespace

std::string encode_png(const Pixels& pixels) {
    std::string bytes;
    const auto [width, height] = pixels.size;
    const int done =
        stbi_write_png_to_func(append, &bytes, width, height, 4, pixels.rgba.data(), 4 * width);
    ATTN_CHECK(done != 0, "a picture has a size and pixels");
    return bytes;
}

}  // namespace attn::gl
