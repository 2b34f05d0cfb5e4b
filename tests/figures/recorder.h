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
  public:
    explicit Recorder(Index most_cells = 1024) : most_cells_(most_cells) {}

    std::vector<Call> calls;
    std::size_t count(const std::string& what) const;
    /// nullptr when that text was not drawn.
    const Call* find_text(const std::string& text) const;

    view::Point text_size(const view::Font& font, std::string_view text) override;
    void text(const view::Font& font, view::Point at, view::Color color,
              std::string_view text) override;
    void rect(view::Point low, view::Point high, view::Color fill, float radius) override;
    void outline(view::Point low, view::Point high, view::Color color, float thickness,
                 float radius) override;
    void gradient(view::Point low, view::Point high, std::span<const view::Color> colors) override;
    void line(view::Point from, view::Point to, view::Color color, float thickness) override;
    void polyline(std::span<const view::Point> points, view::Color color, float thickness) override;
    void polygon(std::span<const view::Point> corners, view::Color fill) override;
    void band(std::span<const view::Point> upper, std::span<const view::Point> lower,
              view::Color fill) override;
    void circle(view::Point middle, float radius, view::Color fill) override;
    void ring(view::Point middle, float radius, view::Color color, float thickness) override;
    void image(const view::Picture& picture, view::Point low, view::Point high,
               const view::Part& part) override;
    void push_clip(view::Point low, view::Point high) override;
    void pop_clip() override;
    void push_rotation(view::Point about, float degrees) override;
    void pop_rotation() override;
    Index most_cells() const override { return most_cells_; }

  private:
    Index most_cells_;
};

}  // namespace attn::test
