#include "app/gl/textures.h"

#include <epoxy/gl.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/rng.h"

namespace attn::gl {
namespace {

/// Of the size and every pixel, eight bytes at a time.
std::uint64_t hash_of(Size size, std::span<const std::uint8_t> rgba) {
    std::uint64_t hash =
        mix(static_cast<std::uint64_t>(size.width), static_cast<std::uint64_t>(size.height));
    while (!rgba.empty()) {
        std::uint64_t word = 0;
        const std::size_t count = std::min(rgba.size(), sizeof word);
        std::memcpy(&word, rgba.data(), count);
        hash = mix(hash, word);
        rgba = rgba.subspan(count);
    }
    return hash;
}

std::uint32_t upload(Size size, std::span<const std::uint8_t> rgba) {
    GLuint name = 0;
    glGenTextures(1, &name);
    glBindTexture(GL_TEXTURE_2D, name);
    for (const GLenum filter : {GL_TEXTURE_MIN_FILTER, GL_TEXTURE_MAG_FILTER})
        glTexParameteri(GL_TEXTURE_2D, filter, GL_NEAREST);
    for (const GLenum wrap : {GL_TEXTURE_WRAP_S, GL_TEXTURE_WRAP_T})
        glTexParameteri(GL_TEXTURE_2D, wrap, GL_CLAMP_TO_EDGE);
    glPixelStorei(GL_UNPACK_ALIGNMENT, 4);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, size.width, size.height, 0, GL_RGBA, GL_UNSIGNED_BYTE,
                 rgba.data());
    return name;
}

}  // namespace

TextureCache::~TextureCache() {
    for (const auto& [hash, entry] : entries_) glDeleteTextures(1, &entry.name);
}

std::uint32_t TextureCache::find(Size size, std::span<const std::uint8_t> rgba) {
    Entry& entry = entries_[hash_of(size, rgba)];
    if (entry.name == 0) entry.name = upload(size, rgba);
    entry.asked = true;
    return entry.name;
}

void TextureCache::end_frame() {
    for (auto item = entries_.begin(); item != entries_.end();) {
        if (std::exchange(item->second.asked, false)) {
            ++item;
        } else {
            glDeleteTextures(1, &item->second.name);
            item = entries_.erase(item);
        }
    }
}

}  // namespace attn::gl
