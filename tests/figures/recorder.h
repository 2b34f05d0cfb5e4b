#pragma once

#include <string>
#include <vector>

#include "app/common/painter.h"

namespace attn::test {

/// How often `part` occurs.
std::size_t count(const std::string& in, const std::string& part);

/// One call of a painter.
struct Call {
    std::string what;  // the method's name
    view::Point low, high;
    std::string text;
    view::Color color;
};

/// A painter that draws nothing and remembers every call. A letter is half as wide as its line is high.
class Recorder : public view::Painter {
    using Point = view::Point;
    using Color = view::Color;

  public:
    explicit Recorder(Index most_cells = 1024) : most_cells_(most_cells) {}

    std::vector<Call> calls;
    std::size_t count(const std::string& what) const;
    /// nullptr when that text was not drawn.
    const Call* find_text(const std::string& text) const;

    Point text_size(const view::Font& font, std::string_view text) override {
        return {0.5F * font.px * static_cast<float>(text.size()), font.px};
    }
    void text(const view::Font& font, Point at, Color color, std::string_view text) override {
        const Point size = text_size(font, text);
        calls.push_back({"text", at, {at.x + size.x, at.y + size.y}, std::string(text), color});
    }
    void rect(Point low, Point high, Color fill, float) override { note("rect", low, high, fill); }
    void outline(Point low, Point high, Color color, float, float) override {
        note("outline", low, high, color);
    }
    void gradient(Point low, Point high, std::span<const Color> colors) override {
        note("gradient", low, high, colors.front());
    }
    void line(Point from, Point to, Color color, float) override { note("line", from, to, color); }
    void polyline(std::span<const Point> points, Color color, float) override {
        note("polyline", points.front(), points.back(), color);
    }
    void polygon(std::span<const Point> corners, Color fill) override {
        note("polygon", corners.front(), corners.back(), fill);
    }
    void band(std::span<const Point> upper, std::span<const Point> lower, Color fill) override {
        note("band", upper.front(), lower.back(), fill);
    }
    void circle(Point middle, float, Color fill) override { note("circle", middle, middle, fill); }
    void ring(Point middle, float, Color color, float) override {
        note("ring", middle, middle, color);
    }
    void image(const view::Picture& picture, Point low, Point high, const view::Part&) override {
        picture.paint();
        note("image", low, high);
    }
    void push_clip(Point low, Point high) override { note("push_clip", low, high); }
    void pop_clip() override { note("pop_clip"); }
    void push_rotation(Point about, float) override { note("push_rotation", about, about); }
    void pop_rotation() override { note("pop_rotation"); }
    Index most_cells() const override { return most_cells_; }

  private:
    void note(const char* what, Point low = {}, Point high = {}, Color color = {}) {
        calls.push_back({what, low, high, "", color});
    }

    Index most_cells_;
};

}  // namespace attn::test
