#pragma once

#include <cstdint>
#include <functional>

#include "app/ui/fonts.h"
#include "app/view/image.h"
#include "app/view/theme.h"

namespace attn::ui {

/// What every panel is given besides its view. Lives as long as one frame.
struct Frame {
    const Fonts& fonts;
    const view::Theme& theme;
    float scale = 1.0F;  // px of one design unit
    /// The id (as ImGui's ImTextureID) of a texture that holds `image`, drawn with nearest
    /// neighbours. `content_key` names the pixels: the same key, the same texture. Never empty.
    std::function<std::uint64_t(const view::Image& image, std::uint64_t content_key)> texture;

    /// Design units (8-px grid) to pixels.
    float px(float units) const { return units * scale; }
};

}  // namespace attn::ui
