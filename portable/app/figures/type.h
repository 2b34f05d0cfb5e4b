#pragma once

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "app/common/painter.h"
#include "app/fonts/layout.h"
#include "app/fonts/script.h"

namespace attn::figures {

// Faces and their measures, as cairo gives them elsewhere. A view::Font's size is the height of its line; type is set by its em.

/// How a line is set.
struct Line {
    const fonts::Layout* layout = nullptr;  // of a line that wants one; until the next line
    double width = 0.0;                     // without hinting, the same at every zoom
    bool complete = true;                   // some font has every character
};

class Type {
  public:
    Type();
    ~Type();

    Line line(const view::Font& font, std::string_view clean_text);

  private:
    struct Source;
    std::array<std::vector<std::unique_ptr<Source>>, view::kFaceCount> faces_;
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
