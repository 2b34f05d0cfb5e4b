#pragma once

#include <cstdint>
#include <functional>

#include "app/ui/common/fonts.h"
#include "app/view/common/image.h"
#include "app/view/common/theme.h"

namespace attn::ui {

using Paint = std::function<view::Image()>;

/// What every panel is given besides its view. Lives as long as one frame.
struct Frame {
    const Fonts& fonts;
    const view::Theme& theme;
    float scale = 1.0F;  // px of one design unit
    /// The id (as ImGui's ImTextureID) of a texture that holds what `paint` makes, drawn with
    /// nearest neighbours. `content_key` names the pixels: while the frames in a row ask for one key,
    /// it is painted once. Never empty.
    std::function<std::uint64_t(std::uint64_t content_key, const Paint& paint)> texture;

    /// Design units (8-px grid) to pixels.
    float px(float units) const { return units * scale; }
};

}  // namespace attn::ui
