#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "app/common/draw/figure_painters.h"
#include "app/common/draw/frame.h"

namespace attn::test {

/// A text that was drawn.
struct SeenText {
    std::string text;
    view::Font font;
    view::Color color;
    view::Point low, high;
    float digit = 0.0F;  // how wide a 0 of its font is
};
using SeenTexts = std::vector<SeenText>;

/// nullptr when that text was not drawn.
inline const SeenText* find_text(const SeenTexts& texts, const std::string& text) {
    const auto found = std::ranges::find(texts, text, &SeenText::text);
    return found == texts.end() ? nullptr : &*found;
}

/// Hands on what is drawn, and keeps the texts.
class TextSpy : public ui::PassingPainter {
  public:
    using PassingPainter::PassingPainter;
    SeenTexts texts;

    void text(const view::Font& font, view::Point at, view::Color color,
              std::string_view text) override {
        const view::Point size = text_size(font, text);
        texts.push_back({std::string(text),
                         font,
                         color,
                         at,
                         {at.x + size.x, at.y + size.y},
                         text_size(font, "0").x});
        PassingPainter::text(font, at, color, text);
    }

  protected:
    bool admits(view::Point, view::Point) override { return true; }
};

/// `frame`, drawn with `painter`.
inline ui::Frame spied(const ui::Frame& frame, view::Painter& painter) {
    return {frame.fonts, frame.theme, frame.scale, painter, painter};
}

}  // namespace attn::test
