#include "app/ui/common/fonts.h"

#include <fontconfig/fontconfig.h>
#include <imgui.h>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <string_view>

namespace attn::ui {
namespace {

using view::Face;

// Typed words need their letters only at the body size; mathematics stands in every size. Fewer
// glyphs, faster start.
constexpr ImWchar kWordsAndMathematics[] = {
    0x0020, 0x017F, 0x02B0, 0x052F, 0x05D0, 0x05EA, 0x1D00, 0x1DBF, 0x2000, 0x23FF, 0x2423, 0x2423,
    0x25A0, 0x25FF, 0x2713, 0x2717, 0x27E8, 0x27E9, 0x2C60, 0x2C7F, 0xFFFD, 0xFFFD, 0};
constexpr ImWchar kMathematics[] = {
    0x0020, 0x017F, 0x02C6, 0x02DC, 0x0391, 0x03C9, 0x1D40, 0x1D40, 0x1D62, 0x1D6A, 0x2010,
    0x2033, 0x2070, 0x209C, 0x2190, 0x2193, 0x2200, 0x2265, 0x22A4, 0x22A5, 0x2423, 0x2423,
    0x25CF, 0x25CF, 0x2713, 0x2713, 0x27E8, 0x27E9, 0x2C7C, 0x2C7C, 0xFFFD, 0xFFFD, 0};
constexpr ImWchar kFigures[] = {0x0020, 0x007E, 0x00B2, 0x00B3, 0x00B7, 0x00B7,
                                0x00B9, 0x00B9, 0x2070, 0x207B, 0x2212, 0x2212,
                                0x221E, 0x221E, 0xFFFD, 0xFFFD, 0};

// Design units at scale 1.
constexpr float kSmall = 12.0F;
constexpr float kBody = 14.0F;
constexpr float kTitle = 21.0F;
constexpr float kMediumDigits = 16.0F;
constexpr float kLargeDigits = 20.0F;

struct Pattern {
    FcPattern* pattern;
    explicit Pattern(FcPattern* p) : pattern(p) {}
    Pattern(const Pattern&) = delete;
    Pattern& operator=(const Pattern&) = delete;
    ~Pattern() {
        if (pattern) FcPatternDestroy(pattern);
    }
};

/// fontconfig always answers with some font: this says whether it is the one asked for, and has √.
bool is_family(FcPattern* found, const char* family) {
    FcChar8* name = nullptr;
    FcCharSet* glyphs = nullptr;
    return FcPatternGetString(found, FC_FAMILY, 0, &name) == FcResultMatch &&
           std::string_view(reinterpret_cast<const char*>(name)) == family &&
           FcPatternGetCharSet(found, FC_CHARSET, 0, &glyphs) == FcResultMatch &&
           FcCharSetHasChar(glyphs, 0x221A) == FcTrue;
}

/// The file of a font; nullopt when this machine does not have it.
std::optional<std::string> font_file(const char* family, int weight) {
    const Pattern wanted(FcPatternBuild(nullptr, FC_FAMILY, FcTypeString, family, FC_WEIGHT,
                                        FcTypeInteger, weight, FC_SLANT, FcTypeInteger,
                                        FC_SLANT_ROMAN, nullptr));
    FcConfigSubstitute(nullptr, wanted.pattern, FcMatchPattern);
    FcDefaultSubstitute(wanted.pattern);
    FcResult result = FcResultNoMatch;
    const Pattern found(FcFontMatch(nullptr, wanted.pattern, &result));
    if (!found.pattern || !is_family(found.pattern, family)) return std::nullopt;
    FcChar8* file = nullptr;
    if (FcPatternGetString(found.pattern, FC_FILE, 0, &file) != FcResultMatch) return std::nullopt;
    return reinterpret_cast<const char*>(file);
}

/// No ImGui font when the file is not there or cannot be read.
Font load(const std::optional<std::string>& file, Face face, float px, const ImWchar* ranges) {
    ImFontConfig config;
    config.OversampleH = px < 20.0F ? 2 : 1;
    config.OversampleV = 1;
    if (!file) return {{face, px}, nullptr};
    return {{face, px},
            ImGui::GetIO().Fonts->AddFontFromFileTTF(file->c_str(), px, &config, ranges)};
}

/// Letters without mathematics: the best that a machine without fonts can do.
Fonts built_in(float scale) {
    ImFontConfig config;
    config.SizePixels = 13.0F * scale;
    ImFont* const built_in = ImGui::GetIO().Fonts->AddFontDefault(&config);
    const auto font = [&](Face face) { return Font{{face, config.SizePixels}, built_in}; };
    return {font(Face::sans),
            font(Face::sans),
            font(Face::sans),
            font(Face::bold),
            font(Face::mono),
            font(Face::mono),
            font(Face::mono),
            font(Face::mono),
            "The fonts DejaVu Sans and DejaVu Sans Mono were not found, so that mathematical signs "
            "show as \"?\": install fonts-dejavu-core."};
}

std::array<const Font*, 8> all_of(const Fonts& fonts) {
    return {&fonts.small,        &fonts.body,   &fonts.title,         &fonts.strong,
            &fonts.digits_small, &fonts.digits, &fonts.digits_medium, &fonts.digits_large};
}

bool is_complete(const Fonts& fonts) {
    return std::ranges::all_of(all_of(fonts), [](const Font* font) { return font->imgui; });
}

}  // namespace

Fonts load_fonts(float scale) {
    ImGui::GetIO().Fonts->Clear();
    const auto sans = font_file("DejaVu Sans", FC_WEIGHT_REGULAR);
    const auto bold = font_file("DejaVu Sans", FC_WEIGHT_BOLD);
    const auto mono = font_file("DejaVu Sans Mono", FC_WEIGHT_REGULAR);
    if (!sans || !mono) return built_in(scale);
    Fonts fonts;
    fonts.body = load(sans, Face::sans, kBody * scale, kWordsAndMathematics);
    fonts.small = load(sans, Face::sans, kSmall * scale, kMathematics);
    fonts.title = load(sans, Face::sans, kTitle * scale, kMathematics);
    fonts.strong = load(bold ? bold : sans, Face::bold, kBody * scale, kMathematics);
    fonts.digits = load(mono, Face::mono, kBody * scale, kMathematics);
    fonts.digits_small = load(mono, Face::mono, kSmall * scale, kMathematics);
    fonts.digits_medium = load(mono, Face::mono, kMediumDigits * scale, kFigures);
    fonts.digits_large = load(mono, Face::mono, kLargeDigits * scale, kFigures);
    if (is_complete(fonts)) return fonts;
    ImGui::GetIO().Fonts->Clear();
    return built_in(scale);
}

ImFont& loaded(const Fonts& fonts, const view::Font& font) {
    const Font* nearest = nullptr;
    const auto is_nearer = [&](const Font& one) {
        if (!nearest) return true;
        const bool large_enough = nearest->px >= font.px;
        return large_enough ? one.px >= font.px && one.px < nearest->px : one.px > nearest->px;
    };
    for (const Font* const one : all_of(fonts))
        if (one->face == font.face && is_nearer(*one)) nearest = one;
    return *nearest->imgui;
}

}  // namespace attn::ui
