#pragma once

#include <array>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <cairo.h>

#include "app/view/common/painter.h"

namespace attn::figures {

// Faces and their measures. A view::Font's size is the height of its line; type is set by the em.

/// What `text` says, as valid UTF-8 without control characters: a broken byte becomes U+FFFD.
std::string clean_text(std::string_view text);

struct CairoFree {
    void operator()(cairo_font_face_t* face) const { cairo_font_face_destroy(face); }
    void operator()(cairo_scaled_font_t* font) const { cairo_scaled_font_destroy(font); }
    void operator()(cairo_font_options_t* options) const { cairo_font_options_destroy(options); }
    void operator()(cairo_surface_t* surface) const { cairo_surface_destroy(surface); }
    void operator()(cairo_pattern_t* pattern) const { cairo_pattern_destroy(pattern); }
    void operator()(cairo_t* cairo) const { cairo_destroy(cairo); }
};
template <class T>
using CairoPtr = std::unique_ptr<T, CairoFree>;

/// The family of a face in fontconfig and in CSS.
std::string_view family_of(view::Face face);

class Type {
  public:
    Type();

    /// Width of a line without hinting, the same at every zoom.
    double width(const view::Font& font, std::string_view clean_text);
    /// Whether the face has a glyph for every character.
    bool has_all(const view::Font& font, std::string_view clean_text);
    /// Of the em, in pixels.
    double em(const view::Font& font) const { return font.px / metrics(font).line; }
    /// From the top of the line to the baseline.
    double ascent(const view::Font& font) const {
        return font.px * metrics(font).ascent / metrics(font).line;
    }
    cairo_font_face_t* face(view::Face face) const { return at(face).face.get(); }
    cairo_font_options_t* options() const { return options_.get(); }

  private:
    struct Metrics {
        double ascent = 0.8, line = 1.0;  // of the em
    };
    struct Loaded {
        CairoPtr<cairo_font_face_t> face;
        Metrics metrics;
    };
    const Loaded& at(view::Face face) const { return faces_[static_cast<std::size_t>(face)]; }
    const Metrics& metrics(const view::Font& font) const { return at(font.face).metrics; }
    CairoPtr<cairo_scaled_font_t> scaled(view::Face face, double em) const;
    cairo_scaled_font_t* sized(const view::Font& font);

    CairoPtr<cairo_font_options_t> options_;
    std::array<Loaded, 3> faces_;
    std::map<std::pair<view::Face, float>, CairoPtr<cairo_scaled_font_t>> sizes_;
};

}  // namespace attn::figures
