#pragma once

#include <array>
#include <string>

#include "app/common/painter.h"

struct ImFont;

namespace attn::ui {

/// One face at one size, and what ImGui loaded of it for its own widgets.
struct Font : view::Font {
    ImFont* imgui = nullptr;
};

/// Inter for words, JetBrains Mono for numbers and STIX for mathematics, where this machine has them;
/// DejaVu lends what they lack, and stands in for them. 12.8, 14, 16, 20 and 28 at scale 1.
struct Fonts {
    Font small, body, title;  // words
    Font strong;              // body size, bold: symbols, headings
    Font headline;            // the one sentence of a canvas, bold
    Font digits_small, digits;
    Font digits_medium, digits_large, value;  // figures and their signs alone
    /// Symbols that slant and that do not: of scripts, of the inspector, of headings, and large ones.
    std::array<Font, 4> italic, roman;
    std::string warning;  // one sentence when the fonts were not found; "" when all is well
};

/// Fills the font atlas of the current ImGui context, at `scale` times the design sizes. Clears what
/// was there: before ImGui 1.92 the renderer's font texture must be made anew after this.
/// With no DejaVu on the machine: ImGui's built-in font, and `warning` says so.
Fonts load_fonts(float scale);

/// The loaded font of that face that is nearest in size, rather larger than smaller.
ImFont& loaded(const Fonts& fonts, const view::Font& font);

}  // namespace attn::ui
