#include "app/common/draw/fonts.h"

#include "app/common/draw/built_fonts.h"
#include "app/common/draw/imgui_compat.h"
#include "app/common/draw/typeset.h"
#include "app/fonts/fonts.h"

namespace attn::ui {
namespace {

using view::Face;

// Typed words need their letters only at the body size; mathematics stands in every size. Fewer
// glyphs, faster start: what a face lacks here is laid out (imgui_painter.h).
constexpr ImWchar kTextAndMathematics[] = {
    0x0020, 0x017F, 0x02C6, 0x02DC, 0x0370, 0x052F, 0x1D40, 0x1D40, 0x1D62, 0x1D6A, 0x2000,
    0x209F, 0x20AC, 0x20AC, 0x2113, 0x2113, 0x2190, 0x230B, 0x2423, 0x2423, 0x2581, 0x2581,
    0x25A0, 0x25FF, 0x2713, 0x2717, 0x27E8, 0x27E9, 0x2C7C, 0x2C7C, 0xFFFD, 0xFFFD, 0};
constexpr ImWchar kMathematics[] = {0x0020, 0x00FF, 0x02C6, 0x02DC, 0x0391, 0x03C9, 0x1D40, 0x1D40,
                                    0x1D62, 0x1D6A, 0x2010, 0x2033, 0x2070, 0x209C, 0x2113, 0x2113,
                                    0x2190, 0x2193, 0x2200, 0x2265, 0x22A4, 0x22A5, 0x2423, 0x2423,
                                    0x2581, 0x2581, 0x25CF, 0x25CF, 0x2713, 0x2713, 0x27E8, 0x27E9,
                                    0x2C7C, 0x2C7C, 0xFFFD, 0xFFFD, 0};
constexpr ImWchar kFigures[] = {0x0020, 0x007E, 0x00B2, 0x00B3, 0x00B7, 0x00B7, 0x00B9,
                                0x00B9, 0x00D7, 0x00D7, 0x00F7, 0x00F7, 0x2013, 0x2013,
                                0x2070, 0x207B, 0x2192, 0x2192, 0x2212, 0x2212, 0x221E,
                                0x221E, 0x2248, 0x2248, 0xFFFD, 0xFFFD, 0};

constexpr ImWchar kVariables[] = {0x0020, 0x007E, 0x00C2, 0x00C3, 0x0391,
                                  0x03C9, 0x2032, 0x2032, 0};
constexpr ImWchar kSigns[] = {0x0020, 0x007E, 0x00B1, 0x00B1, 0x00B7, 0x00B7, 0x00D7, 0x00D7,
                              0x00F7, 0x00F7, 0x0391, 0x03C9, 0x2016, 0x2016, 0x2026, 0x2026,
                              0x2032, 0x2032, 0x2113, 0x2113, 0x2190, 0x2193, 0x2202, 0x2202,
                              0x2207, 0x2208, 0x2212, 0x2212, 0x2218, 0x221E, 0x2227, 0x2227,
                              0x2248, 0x2248, 0x2260, 0x2265, 0x22A4, 0x22A4, 0};
constexpr ImWchar kReplacement[] = {0xFFFD, 0xFFFD, 0};

// Design units at scale 1.
constexpr float kSmall = kLeastText, kBody = 14.0F, kMediumDigits = 16.0F, kTitle = 20.0F,
                kHeadline = 23.3F /* 20 an em */, kValue = 28.0F;
constexpr std::array kFormulas{14.4F, 16.0F, 20.0F, 28.0F};  // the first: scripts of the third

/// Glyphs are taken from the first source that has them.
using Sources = std::vector<fonts::File>;

struct Faces {
    fonts::File lines;  // what every face stands on: its ascent and its descent
    std::array<Sources, view::kFaceCount> sources;
};

/// nullopt when this machine lacks DejaVu.
std::optional<Faces> find_faces() {
    const auto lines = fonts::find({"DejaVu Sans"});
    if (!lines || !fonts::find({"DejaVu Sans Mono"})) return std::nullopt;
    Faces faces{*lines, {}};
    for (std::size_t face = 0; face < view::kFaceCount; ++face)
        for (const fonts::Family& family : fonts::families(static_cast<Face>(face)))
            if (auto file = fonts::find(family)) faces.sources[face].push_back(std::move(*file));
    return faces;
}

ImFont* add_source(ImFontAtlas& atlas, const fonts::File& file, ImFontConfig config,
                   const ImWchar* ranges) {
    config.FontNo = static_cast<decltype(config.FontNo)>(file.index);
    return add_font(atlas, fonts::contents(file), config, ranges);
}

/// DejaVu's line with the glyphs of the face's own fonts on it, each at the em of that line. No ImGui
/// font when a file cannot be read.
Font load(ImFontAtlas& atlas, const Faces& faces, Face face, float px, const ImWchar* ranges) {
    Font font{{face, px}, nullptr};
    ImFontConfig config;
    config.OversampleH = px < 20.0F ? 2 : 1;
    config.OversampleV = 1;
    config.SizePixels = px;
    only_replacement(config);
    font.imgui = add_source(atlas, faces.lines, config, kReplacement);
    if (!font.imgui) return font;
    for (const fonts::File& file : faces.sources[static_cast<std::size_t>(face)]) {
        ImFontConfig merged;
        merged.OversampleH = config.OversampleH;
        merged.OversampleV = 1;
        merged.MergeMode = true;
        merged.SizePixels = font.em() * file.line_per_em;
        if (!add_source(atlas, file, merged, ranges)) font.imgui = nullptr;
        if (!font.imgui) return font;
    }
    return font;
}

template <class AnyFonts>
auto all_of(AnyFonts& fonts) {
    return std::array{&fonts.small,         &fonts.body,         &fonts.title,    &fonts.strong,
                      &fonts.digits_small,  &fonts.digits,       &fonts.value,    &fonts.italic[0],
                      &fonts.digits_medium, &fonts.digits_large, &fonts.roman[0], &fonts.italic[1],
                      &fonts.roman[1],      &fonts.italic[2],    &fonts.roman[2], &fonts.italic[3],
                      &fonts.roman[3],      &fonts.headline};
}

/// Letters without mathematics: the best that a machine without fonts can do.
Fonts built_in(ImFontAtlas& atlas, float scale) {
    ImFontConfig config;
    config.SizePixels = 13.0F * scale;
    ImFont* const built_in = atlas.AddFontDefault(&config);
    Fonts fonts;
    for (Font* const font : all_of(fonts)) *font = {{Face::sans, config.SizePixels}, built_in};
    fonts.strong.face = fonts.headline.face = Face::bold;
    for (Font* const font : {&fonts.digits_small, &fonts.digits, &fonts.digits_medium,
                             &fonts.digits_large, &fonts.value})
        font->face = Face::mono;
    for (Font& font : fonts.italic) font.face = Face::italic;
    for (Font& font : fonts.roman) font.face = Face::roman;
    fonts.warning =
        "The fonts DejaVu Sans and DejaVu Sans Mono were not found, so that mathematical signs "
        "show as \"?\": install fonts-dejavu-core.";
    return fonts;
}

bool is_complete(const Fonts& fonts) {
    return std::ranges::all_of(all_of(fonts), [](const Font* font) { return font->imgui; });
}

Fonts load_all(ImFontAtlas& atlas, const Faces& faces, float scale) {
    const auto one = [&](Face face, float units, const ImWchar* ranges) {
        return load(atlas, faces, face, units * scale, ranges);
    };
    Fonts fonts;
    fonts.body = one(Face::sans, kBody, kTextAndMathematics);
    fonts.small = one(Face::sans, kSmall, kMathematics);
    fonts.title = one(Face::sans, kTitle, kMathematics);
    fonts.strong = one(Face::bold, kBody, kMathematics);
    fonts.headline = one(Face::bold, kHeadline, kMathematics);
    fonts.digits = one(Face::mono, kBody, kMathematics);
    fonts.digits_small = one(Face::mono, kSmall, kMathematics);
    fonts.digits_medium = one(Face::mono, kMediumDigits, kFigures);
    fonts.digits_large = one(Face::mono, kTitle, kFigures);
    fonts.value = one(Face::mono, kValue, kFigures);
    for (std::size_t n = 0; n < kFormulas.size(); ++n) {
        fonts.italic[n] = one(Face::italic, kFormulas[n], kVariables);
        fonts.roman[n] = one(Face::roman, kFormulas[n], kSigns);
    }
    return fonts;
}

Fonts load_into(ImFontAtlas& atlas, float scale) {
    atlas.Clear();
    const auto faces = find_faces();
    if (!faces) return built_in(atlas, scale);
    Fonts fonts = load_all(atlas, *faces, scale);
    if (is_complete(fonts)) return fonts;
    atlas.Clear();
    return built_in(atlas, scale);
}

}  // namespace

Fonts load_fonts(float scale) { return load_into(*ImGui::GetIO().Fonts, scale); }

BuiltFonts build_fonts(float scale) {
#if IMGUI_VERSION_NUM < 19200
    BuiltFonts built{std::make_shared<ImFontAtlas>(), {}, scale};
    built.fonts = load_into(*built.atlas, scale);
    unsigned char* pixels = nullptr;  // the atlas keeps them for the renderer
    int width = 0, height = 0;
    built.atlas->GetTexDataAsRGBA32(&pixels, &width, &height);
    return built;
#else
    return {nullptr, {}, scale};
#endif
}

ImFont& loaded(const Fonts& fonts, const view::Font& font) {
    const Font* nearest = nullptr;
    const auto is_nearer = [&](const Font& one) {
        if (!nearest) return true;
        const bool large_enough = nearest->px >= font.px;
        return large_enough ? one.px >= font.px && one.px < nearest->px : one.px > nearest->px;
    };
    for (const Font* const one : all_of(fonts)) {
        if (one->face == font.face && one->px == font.px) return *one->imgui;
        if (one->face == font.face && is_nearer(*one)) nearest = one;
    }
    return *nearest->imgui;
}

}  // namespace attn::ui
