#include "app/figures/type.h"

#include <algorithm>
#include <cstdint>

namespace attn::figures {
namespace {

using view::Face;

constexpr double kMeasuredEm = 1000.0;
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

CairoPtr<cairo_font_face_t> make_face(Face face) {
    const auto weight = face == Face::bold ? CAIRO_FONT_WEIGHT_BOLD : CAIRO_FONT_WEIGHT_NORMAL;
    return CairoPtr<cairo_font_face_t>(
        cairo_toy_font_face_create(family_of(face).data(), CAIRO_FONT_SLANT_NORMAL, weight));
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

std::string_view family_of(Face face) {
    return face == Face::mono ? "DejaVu Sans Mono" : "DejaVu Sans";
}

Type::Type() : options_(unhinted()) {
    for (const Face face : {Face::sans, Face::bold, Face::mono}) {
        Loaded& loaded = faces_[static_cast<std::size_t>(face)];
        loaded.face = make_face(face);
        cairo_font_extents_t extents{};
        cairo_scaled_font_extents(scaled(face, kMeasuredEm).get(), &extents);
        const double line = extents.ascent + extents.descent;
        if (line > 0.0) loaded.metrics = {extents.ascent / kMeasuredEm, line / kMeasuredEm};
    }
}

CairoPtr<cairo_scaled_font_t> Type::scaled(Face face, double em) const {
    cairo_matrix_t size, upright;
    cairo_matrix_init_scale(&size, em, em);
    cairo_matrix_init_identity(&upright);
    return CairoPtr<cairo_scaled_font_t>(
        cairo_scaled_font_create(at(face).face.get(), &size, &upright, options_.get()));
}

cairo_scaled_font_t* Type::sized(const view::Font& font) {
    CairoPtr<cairo_scaled_font_t>& sized = sizes_[{font.face, font.px}];
    if (!sized) sized = scaled(font.face, em(font));
    return sized.get();
}

double Type::width(const view::Font& font, std::string_view clean_text) {
    cairo_text_extents_t extents{};
    cairo_scaled_font_text_extents(sized(font), std::string(clean_text).c_str(), &extents);
    return extents.x_advance;
}

bool Type::has_all(const view::Font& font, std::string_view clean_text) {
    cairo_glyph_t* glyphs = nullptr;
    int count = 0;
    cairo_scaled_font_text_to_glyphs(sized(font), 0.0, 0.0, clean_text.data(),
                                     static_cast<int>(clean_text.size()), &glyphs, &count, nullptr,
                                     nullptr, nullptr);
    const bool all = std::none_of(glyphs, glyphs + count,
                                  [](const cairo_glyph_t& glyph) { return glyph.index == 0; });
    cairo_glyph_free(glyphs);
    return all;
}

}  // namespace attn::figures
