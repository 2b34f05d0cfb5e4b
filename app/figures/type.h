#pragma once

#include <array>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <cairo.h>

#include "app/common/painter.h"
#include "app/fonts/layout.h"
#include "app/fonts/script.h"

namespace attn::figures {

// Faces and their measures. A view::Font's size is the height of its line; type is set by its em.

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

/// A part of a line that one font sets.
struct Run {
    cairo_font_face_t* face = nullptr;
    std::string text;
    double width = 0.0;
};

/// How a line is set.
struct Line {
    std::vector<Run> runs;  // from left to right
    const fonts::Layout* layout =
        nullptr;           // in their place, of a line that wants one; until the next line
    double width = 0.0;    // without hinting, the same at every zoom
    bool complete = true;  // some font has every character
};

class Type {
  public:
    Type();

    Line line(const view::Font& font, std::string_view clean_text);
    cairo_font_options_t* options() const { return options_.get(); }

  private:
    struct Source {
        CairoPtr<cairo_font_face_t> face;
        std::map<float, CairoPtr<cairo_scaled_font_t>> sizes;  // by the em
    };
    std::vector<Source>& sources(const view::Font& font) {
        return faces_[static_cast<std::size_t>(font.face)];
    }
    cairo_scaled_font_t* sized(Source& source, float em) const;
    std::size_t source_of(const view::Font& font, std::string_view character);
    Run run(const view::Font& font, std::size_t source, std::string_view text);
    Line side_by_side(const view::Font& font, std::string_view text);

    CairoPtr<cairo_font_options_t> options_;
    std::array<std::vector<Source>, view::kFaceCount> faces_;  // each has one at least
};

/// Grids up to here are drawn cell by cell.
inline constexpr Index kMostCells = Index{128} * 128;

/// What all painters here have in common: how they measure text.
class TypePainter : public view::Painter {
  public:
    view::Point text_size(const view::Font& font, std::string_view text) override {
        return {static_cast<float>(type_.line(font, fonts::clean_text(text)).width), font.px};
    }
    Index most_cells() const override { return kMostCells; }

  protected:
    Type type_;
};

}  // namespace attn::figures
