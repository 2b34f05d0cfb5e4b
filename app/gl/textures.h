#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>

#include "app/gl/pixels.h"

namespace attn::gl {

/// Pictures that live on the GPU, found again by a key that names their pixels: a picture that is
/// drawn in every frame is uploaded once. Those that a frame did not ask for stay within a budget of memory,
/// the last used first, so that panning back paints nothing again.
/// Wants a current GL context from the first use to the destructor.
class TextureCache {
  public:
    TextureCache() = default;
    explicit TextureCache(std::size_t budget_bytes) : budget_bytes_(budget_bytes) {}
    ~TextureCache();
    TextureCache(const TextureCache&) = delete;
    TextureCache& operator=(const TextureCache&) = delete;

    /// The GL name of the texture of that key; 0 when there is none.
    std::uint32_t find(std::uint64_t key);
    /// Makes it of these pixels (RGBA8, top row first), NEAREST or, when `smooth`, LINEAR; clamped. Its GL name.
    std::uint32_t add(std::uint64_t key, Size size, std::span<const std::uint8_t> rgba,
                      bool smooth = false);
    /// Ends a frame: drops what was asked for longest ago, until the budget holds what this frame did not
    /// ask for.
    void end_frame();

  private:
    struct Entry {
        std::uint32_t name = 0;
        std::size_t bytes = 0;
        std::uint64_t frame = 0;  // that asked for it last
    };
    std::unordered_map<std::uint64_t, Entry> entries_;
    std::uint64_t frame_ = 0;
    std::size_t budget_bytes_ = std::size_t{32} << 20;
};

}  // namespace attn::gl
