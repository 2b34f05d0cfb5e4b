#include "app/figures/type.h"

#define STB_TRUETYPE_IMPLEMENTATION
#define STBTT_STATIC
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#include <imstb_truetype.h>
#pragma GCC diagnostic pop

#include "app/fonts/fonts.h"
#include "core/stages.h"
#include "core/text.h"

namespace attn::figures {

struct Type::Source {
    stbtt_fontinfo info;
    int units = 1000;  // an em

    /// nullopt: it lacks the character.
    std::optional<double> advance(char32_t character) const {
        const int glyph = stbtt_FindGlyphIndex(&info, static_cast<int>(character));
        if (glyph == 0) return std::nullopt;
        int width = 0, bearing = 0;
        stbtt_GetGlyphHMetrics(&info, glyph, &width, &bearing);
        return double{1} * width / units;
    }
};

Type::Type() {
    for (std::size_t face = 0; face < view::kFaceCount; ++face)
        for (const fonts::Family& family : fonts::families(static_cast<view::Face>(face))) {
            const auto file = fonts::find(family);
            if (!file) continue;
            const auto* const bytes =
                reinterpret_cast<const unsigned char*>(fonts::contents(*file).data());
            auto source = std::make_unique<Source>();
            if (stbtt_InitFont(&source->info, bytes, 0) == 0) continue;
            source->units = static_cast<int>(
                1.0F / stbtt_ScaleForMappingEmToPixels(&source->info, 1.0F) + 0.5F);
            faces_[face].push_back(std::move(source));
        }
}

Type::~Type() = default;

Line Type::line(const view::Font& font, std::string_view clean_text) {
    Line line;
    for (std::string_view rest = clean_text; !rest.empty();) {
        const CodePoint next = first_code_point(rest);
        rest.remove_prefix(next.bytes);
        std::optional<double> advance;
        for (const auto& source : faces_[static_cast<std::size_t>(font.face)])
            if (advance = source->advance(next.value); advance) break;
        line.complete = line.complete && advance;
        line.width += advance.value_or(0.5) * double{font.em()};
    }
    if (fonts::is_simple(clean_text) && line.complete) return line;
    const fonts::Layout* const layout = fonts::lay_out(font, clean_text);
    return {layout, layout->width(), layout->is_complete()};
}

}  // namespace attn::figures
