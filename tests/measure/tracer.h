#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "app/view/common/image.h"
#include "app/view/common/painter.h"

namespace attn::test {

// What was drawn, where and in which colours: the log that measures are taken from.

struct Rect {
    view::Point low, high;

    float width() const { return high.x - low.x; }
    float height() const { return high.y - low.y; }
    bool is_empty() const { return width() <= 0.0F || height() <= 0.0F; }
    bool contains(const Rect& other) const {
        return other.low.x >= low.x && other.low.y >= low.y && other.high.x <= high.x &&
               other.high.y <= high.y;
    }
};
Rect shared_part(const Rect& a, const Rect& b);

/// One line of words. Its corners go around from the top left; a turned line stands askew.
struct Words {
    std::string text;
    view::Font font;
    view::Color ink;
    std::array<view::Point, 4> corners;
    bool turned = false;
    Rect clip;             // outside of which nothing of it shows
    bool scrolls = false;  // the window that it is in scrolls up and down
    std::string window;

    Rect bounds() const;
};

/// Anything else with one colour.
struct Mark {
    enum class Kind : std::uint8_t { fill, outline, line, disc, curve };
    Kind kind = Kind::fill;
    Rect at;  // of a line from low to high, wherever these lie; of a curve one point on its way
    view::Color color;
    float thickness = 0.0F;
    Rect clip;
};

/// A picture and its pixels.
struct Shown {
    Rect at;
    view::Image image;
};

struct Log {
    std::vector<Words> words;  // without what was painted over
    std::vector<Mark> marks;
    std::vector<Shown> pictures;
};

/// Draws into ImGui by another painter and notes what it draws. Between NewFrame() and Render().
class Tracer : public view::Painter {
  public:
    explicit Tracer(view::Painter& to) : to_(to) {}

    const Log& log() const { return log_; }
    void forget() { log_ = {}; }

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
    void push_clip(view::Point low, view::Point high) override { to_.push_clip(low, high); }
    void pop_clip() override { to_.pop_clip(); }
    void push_rotation(view::Point about, float degrees) override;
    void pop_rotation() override;
    Index most_cells() const override { return to_.most_cells(); }

  private:
    struct Turn {
        view::Point about;
        float degrees;
    };
    void note(Mark::Kind kind, const Rect& at, view::Color color, float thickness = 0.0F);

    view::Painter& to_;
    std::optional<Turn> turn_;
    Log log_;
};

}  // namespace attn::test
