#include "app/figures/type.h"

#include <algorithm>

#include "app/fonts/fonts.h"
#include "core/text.h"

namespace attn::figures {
namespace {

using view::Face;

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

/// The first that has it; one past the last where none has.
std::size_t Type::source_of(const view::Font& font, std::string_view character) {
    std::vector<Source>& all = sources(font);
    std::size_t n = 0;
    while (n < all.size() && !has_glyphs(sized(all[n], font.em()), character)) ++n;
    return n;
}

Run Type::run(const view::Font& font, std::size_t source, std::string_view text) {
    Source& from = sources(font)[std::min(source, sources(font).size() - 1)];
    std::string part(text);
    const double width = advance(sized(from, font.em()), part);
    return {from.face.get(), std::move(part), width};
}

/// Each character in the first of the face's families that has it.
Line Type::side_by_side(const view::Font& font, std::string_view text) {
    Line line;
    const auto source_at = [&](std::size_t at) {
        return source_of(font, text.substr(at, first_code_point(text.substr(at)).bytes));
    };
    if (has_glyphs(sized(sources(font).front(), font.em()), text)) {
        line.runs.push_back(run(font, 0, text));
        text = {};
    }
    while (!text.empty()) {
        const std::size_t source = source_at(0);
        std::size_t end = 0;
        while (end < text.size() && source_at(end) == source)
            end += first_code_point(text.substr(end)).bytes;
        line.complete = line.complete && source < sources(font).size();
        line.runs.push_back(run(font, source, text.substr(0, end)));
        text.remove_prefix(end);
    }
    for (const Run& run : line.runs) line.width += run.width;
    return line;
}

Line Type::line(const view::Font& font, std::string_view clean_text) {
    Line line;
    const bool simple = fonts::is_simple(clean_text);
    if (simple) line = side_by_side(font, clean_text);
    if (simple && line.complete) return line;
    const fonts::Layout* const layout = fonts::lay_out(font, clean_text);
    if (!layout) return side_by_side(font, clean_text);
    return {{}, layout, layout->width(), layout->is_complete()};
}

}  // namespace attn::figures
