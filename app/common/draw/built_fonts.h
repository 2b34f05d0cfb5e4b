#pragma once

#include <imgui.h>

#include <memory>
#include <string_view>

#include "app/common/draw/fonts.h"

namespace attn::ui {

/// Fonts with their glyphs drawn, in an atlas that no ImGui context has yet: a thread makes them while OpenGL starts.
struct BuiltFonts {
    /// Null from ImGui 1.92 on, which draws glyphs when they are used.
    std::shared_ptr<ImFontAtlas> atlas;
    Fonts fonts;
    float scale = 0.0F;
};

/// The fonts of load_fonts(scale). No ImGui context is read; none may be made before this returns.
BuiltFonts build_fonts(float scale);

/// The atlas reads `file`, which outlives it, and copies nothing. nullptr for an empty one.
ImFont* add_font(ImFontAtlas& atlas, std::string_view file, const ImFontConfig& config,
                 const ImWchar* ranges);

}  // namespace attn::ui
