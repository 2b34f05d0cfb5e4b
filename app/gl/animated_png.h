#pragma once

#include <optional>
#include <string>

#include "core/io/png_image.h"

namespace attn::gl {

/// Pictures of one size after each other in one PNG, without end: APNG, which browsers play; other programs show the first.
/// Of each but the first the rectangle is stored that differs from the one before. Same pictures, same bytes.
class AnimatedPng {
  public:
    /// Shown for so many milliseconds; a picture that is the one before makes that stay longer.
    void add(const RgbImage& picture, int ms);
    /// The bytes of the file; at least one picture was added.
    std::string finish();

  private:
    void close_frame();

    std::optional<RgbImage> last_;
    std::string frames_,
        pending_;         // chunks; those of the last picture, whose time is not known yet
    std::string header_;  // the first picture's
    std::uint32_t sequence_ = 0, count_ = 0;
    struct Box {
        Index x = 0, y = 0, width = 0, height = 0;
    } box_;
    int ms_ = 0;
};

}  // namespace attn::gl
