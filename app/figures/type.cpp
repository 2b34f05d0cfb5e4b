#include "app/figures/type.h"

#include <algorithm>
#include <cstdint>

#include "app/fonts/fonts.h"

namespace attn::figures {
namespace {

using view::Face;

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD

/// Bytes of the character that begins with `first`; 0: none does.
std::size_t length_of(unsigned char first) {
    if (first < 0x80U) return 1;
    if (first >= 0xC2U && first < 0xE0U) return 2;
    if (first >= 0xE0U && first < 0xF0U) return 3;
    return first >= 0xF0U && first < 0xF5U ? 4 : 0;
}

std::uint32_t code_of(std::string_view bytes) {
    const auto at = [&](std::size_t n) { return static_cast<unsigned char>(bytes[n]); };
    if (bytes.size() == 1) return at(0);
    std::uint32_t code = at(0) & (0x7FU >> bytes.size());
    for (std::size_t n = 1; n < bytes.size(); ++n) code = code << 6U | (at(n) & 0x3FU);
    return code;
}

/// Shortest form, no surrogate, in Unicode.
bool is_character(std::string_view bytes) {
    for (std::size_t n = 1; n < bytes.size(); ++n)
        if ((static_cast<unsigned char>(bytes[n]) & 0xC0U) != 0x80U) return false;
    constexpr std::array<std::uint32_t, 5> kLeast{0, 0, 0x80, 0x800, 0x10000};
    const std::uint32_t code = code_of(bytes);
    const bool surrogate = code >= 0xD800U && code < 0xE000U;
    return code >= kLeast[bytes.size()] && code < 0x110000U && !surrogate;
}

bool is_shown(std::uint32_t code) {
    return code >= 0x20U && code != 0x7FU && code != 0xFFFEU && code != 0xFFFFU;
}

/// The character that `text` begins with; "" when it is none.
std::string_view first_character(std::string_view text) {
    const std::size_t length = length_of(static_cast<unsigned char>(text.front()));
    if (length == 0 || length > text.size()) return {};
    const std::string_view bytes = text.substr(0, length);
    return is_character(bytes) ? bytes : std::string_view{};
}

CairoPtr<cairo_font_options_t> unhinted() {
    CairoPtr<cairo_font_options_t> options(cairo_font_options_create());
    cairo_font_options_set_hint_style(options.get(), CAIRO_HINT_STYLE_NONE);
    cairo_font_options_set_hint_metrics(options.get(), CAIRO_HINT_METRICS_OFF);
    cairo_font_options_set_antialias(options.get(), CAIRO_ANTIALIAS_GRAY);
    return options;
}

CairoPtr<cairo_font_face_t> make_face(const fonts::Family& family) {
    const auto weight =
        family.cut == fonts::Cut::bold ? CAIRO_FONT_WEIGHT_BOLD : CAIRO_FONT_WEIGHT_NORMAL;
    const auto slant =
        family.cut == fonts::Cut::italic ? CAIRO_FONT_SLANT_ITALIC : CAIRO_FONT_SLANT_NORMAL;
    return CairoPtr<cairo_font_face_t>(
        cairo_toy_font_face_create(std::string(family.name).c_str(), slant, weight));
}

double advance(cairo_scaled_font_t* font, const std::string& text) {
    cairo_text_extents_t extents{};
    cairo_scaled_font_text_extents(font, text.c_str(), &extents);
    return extents.x_advance;
}

bool has_glyphs(cairo_scaled_font_t* font, std::string_view text) {
    cairo_glyph_t* glyphs = nullptr;
    int count = 0;
    cairo_scaled_font_text_to_glyphs(font, 0.0, 0.0, text.data(), static_cast<int>(text.size()),
                                     &glyphs, &count, nullptr, nullptr, nullptr);
    const bool all = std::none_of(glyphs, glyphs + count,
                                  [](const cairo_glyph_t& glyph) { return glyph.index == 0; });
    cairo_glyph_free(glyphs);
    return all;
}

}  // namespace

std::string clean_text(std::string_view text) {
    std::string clean;
    clean.reserve(text.size());
    while (!text.empty()) {
        const std::string_view character = first_character(text);
        clean += character.empty() || !is_shown(code_of(character)) ? kReplacement : character;
        text.remove_prefix(character.empty() ? 1 : character.size());
    }
    return clean;
}

/// Without DejaVu: what fontconfig has instead, else cairo's own.
Type::Type() : options_(unhinted()) {
    for (std::size_t face = 0; face < view::kFaceCount; ++face) {
        const auto families = fonts::families(static_cast<Face>(face));
        for (const fonts::Family& family : families)
            if (fonts::find(family)) faces_[face].push_back({make_face(family), {}});
        if (faces_[face].empty()) faces_[face].push_back({make_face(families.back()), {}});
    }
}

cairo_scaled_font_t* Type::sized(Source& source, float em) const {
    CairoPtr<cairo_scaled_font_t>& sized = source.sizes[em];
    if (!sized) {
        cairo_matrix_t size, upright;
        cairo_matrix_init_scale(&size, em, em);
        cairo_matrix_init_identity(&upright);
        sized.reset(cairo_scaled_font_create(source.face.get(), &size, &upright, options_.get()));
    }
    return sized.get();
}

/// The first that has it; the last where none has.
std::size_t Type::source_of(const view::Font& font, std::string_view character) {
    std::vector<Source>& all = sources(font);
    std::size_t n = 0;
    while (n + 1 < all.size() && !has_glyphs(sized(all[n], font.em()), character)) ++n;
    return n;
}

std::vector<Run> Type::runs(const view::Font& font, std::string_view clean_text) {
    std::vector<Source>& all = sources(font);
    std::vector<Run> runs;
    const auto add = [&](std::size_t source, std::string_view text) {
        const std::string part(text);
        runs.push_back(
            {all[source].face.get(), part, advance(sized(all[source], font.em()), part)});
    };
    if (has_glyphs(sized(all.front(), font.em()), clean_text)) {
        add(0, clean_text);
        return runs;
    }
    while (!clean_text.empty()) {
        const std::size_t source = source_of(font, first_character(clean_text));
        std::size_t end = 0;
        while (end < clean_text.size() &&
               source_of(font, first_character(clean_text.substr(end))) == source)
            end += first_character(clean_text.substr(end)).size();
        add(source, clean_text.substr(0, end));
        clean_text.remove_prefix(end);
    }
    return runs;
}

double Type::width(const view::Font& font, std::string_view clean_text) {
    double width = 0.0;
    for (const Run& run : runs(font, clean_text)) width += run.width;
    return width;
}

bool Type::has_all(const view::Font& font, std::string_view clean_text) {
    std::vector<Source>& all = sources(font);
    while (!clean_text.empty()) {
        const std::string_view character = first_character(clean_text);
        if (!has_glyphs(sized(all[source_of(font, character)], font.em()), character)) return false;
        clean_text.remove_prefix(character.size());
    }
    return true;
}

}  // namespace attn::figures
