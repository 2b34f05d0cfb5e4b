#include "app/gl/textures.h"

#include <algorithm>

#include <epoxy/gl.h>

namespace attn::gl {
namespace {

std::uint32_t upload(Size size, std::span<const std::uint8_t> rgba, bool smooth) {
    GLuint name = 0;
    glGenTextures(1, &name);
    glBindTexture(GL_TEXTURE_2D, name);
    for (const GLenum filter : {GL_TEXTURE_MIN_FILTER, GL_TEXTURE_MAG_FILTER})
        glTexParameteri(GL_TEXTURE_2D, filter, smooth ? GL_LINEAR : GL_NEAREST);
    for (const GLenum wrap : {GL_TEXTURE_WRAP_S, GL_TEXTURE_WRAP_T})
        glTexParameteri(GL_TEXTURE_2D, wrap, GL_CLAMP_TO_EDGE);
    glPixelStorei(GL_UNPACK_ALIGNMENT, 4);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, size.width, size.height, 0, GL_RGBA, GL_UNSIGNED_BYTE,
                 rgba.data());
    return name;
}

}  // namespace

TextureCache::~TextureCache() {
    for (const auto& [key, entry] : entries_) glDeleteTextures(1, &entry.name);
}

std::uint32_t TextureCache::find(std::uint64_t key) {
    const auto found = entries_.find(key);
    if (found == entries_.end()) return 0;
    found->second.frame = frame_;
    return found->second.name;
}

std::uint32_t TextureCache::add(std::uint64_t key, Size size, std::span<const std::uint8_t> rgba,
                                bool smooth) {
    Entry& entry = entries_[key];
    if (entry.name != 0) glDeleteTextures(1, &entry.name);
    entry = {upload(size, rgba, smooth), rgba.size(), frame_};
    return entry.name;
}

void TextureCache::end_frame() {
    std::vector<std::pair<std::uint64_t, std::uint64_t>> unasked;  // frame, key
    for (const auto& [key, entry] : entries_)
        if (entry.frame != frame_) unasked.emplace_back(entry.frame, key);
    std::ranges::sort(unasked, std::ranges::greater{});
    std::size_t bytes = 0;
    for (const auto& [frame, key] : unasked) {
        const auto entry = entries_.find(key);
        bytes += entry->second.bytes;
        if (bytes <= budget_bytes_) continue;
        glDeleteTextures(1, &entry->second.name);
        entries_.erase(entry);
    }
    ++frame_;
}

}  // namespace attn::gl
