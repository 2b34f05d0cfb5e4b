#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "app/common/draw/figure_painters.h"
#include "app/common/draw/measured.h"
#include "app/common/image.h"

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
/// The least one that has all these points.
Rect around(std::span<const view::Point> points);

/// One line of words. Its corners go around from the top left; a turned line stands askew.
struct TextLine {
    std::string text;
    view::Font font;
    view::Color ink;
    std::array<view::Point, 4> corners;
    bool turned = false;
    Rect clip;             // outside of which nothing of it shows
    bool scrolls = false;  // the window that it is in scrolls up and down
    std::string window;

    const Rect& bounds() const { return box; }
    Rect box;                  // of the corners
    int order = 0;             // of all that is drawn
    std::string missing = {};  // characters that the font has no sign for
};

/// Anything else with one colour.
struct Mark {
    enum class Kind : std::uint8_t { fill, outline, line, disc, curve };
    Kind kind = Kind::fill;
    Rect at;
    view::Color color;
    float thickness = 0.0F;
    Rect clip;
    std::vector<view::Point> course;  // of a line, an edge or a curve: what the pen follows
    float radius = 0.0F;              // of an edge's corners; its course has square ones
    int order = 0;
};

/// A picture and its pixels.
struct Shown {
    Rect at;
    view::Image image;
    view::Part part;
    Rect clip;
    int order = 0;
};

/// Where the drawing says that cells, their labels or a chart stand.
struct RecordedRect {
    ui::Measuring::Kind kind;
    Rect at;  // as much of it as shows
};

struct Log {
    std::vector<TextLine> lines;  // without what was painted over
    std::vector<Mark> marks;      // likewise; of a fill, all
    std::vector<Shown> pictures;
    std::vector<RecordedRect> rects;
};

/// Draws into ImGui by another painter and notes what it draws. Between NewFrame() and Render().
class Tracer : public ui::PassingPainter, public ui::Measuring {
  public:
    using PassingPainter::PassingPainter;

    const Log& log() const { return log_; }
    void clear() { log_ = {}; }

    void text(const view::Font& font, view::Point at, view::Color color,
              std::string_view text) override;
    void rect(view::Point low, view::Point high, view::Color fill, float radius) override;
    void outline(view::Point low, view::Point high, view::Color color, float thickness,
                 float radius) override;
    void line(view::Point from, view::Point to, view::Color color, float thickness) override;
    void polyline(std::span<const view::Point> points, view::Color color, float thickness) override;
    void circle(view::Point middle, float radius, view::Color fill) override;
    void ring(view::Point middle, float radius, view::Color color, float thickness) override;
    void image(const view::Picture& picture, view::Point low, view::Point high,
               const view::Part& part) override;
    void record_rect(Kind kind, view::Point low, view::Point high) override;
    void push_rotation(view::Point about, float degrees) override;
    void pop_rotation() override;

  protected:
    bool admits(view::Point, view::Point) override { return true; }

  private:
    struct Turn {
        view::Point about;
        float degrees;
    };
    void note(Mark::Kind kind, const Rect& at, view::Color color, float thickness = 0.0F,
              std::vector<view::Point> course = {}, float radius = 0.0F);

    std::optional<Turn> turn_;
    int drawn_ = 0;
    Log log_;
};

}  // namespace attn::test
