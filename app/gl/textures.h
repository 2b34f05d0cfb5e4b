#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>

#include "app/gl/pixels.h"

namespace attn::gl {

/// Pictures that live on the GPU, found again by a key that names their pixels: a picture that is
/// drawn in every frame is uploaded once. One that is not asked for in a whole frame is dropped.
/// Wants a current GL context from the first use to the destructor.
class TextureCache {
  public:
    TextureCache() = default;
    ~TextureCache();
    TextureCache(const TextureCache&) = delete;
    TextureCache& operator=(const TextureCache&) = delete;

    /// The GL name of the texture of that key; 0 when there is none.
    std::uint32_t find(std::uint64_t key);
    /// Makes it of these pixels (RGBA8, top row first), NEAREST, clamped. Its GL name.
    std::uint32_t add(std::uint64_t key, Size size, std::span<const std::uint8_t> rgba);
    /// Ends a frame: drops what it did not ask for.
    void end_frame();

  private:
    struct Entry {
        std::uint32_t name = 0;
        bool asked = false;
    };
    std::unordered_map<std::uint64_t, Entry> entries_;
};

}  // namespace attn::gl
