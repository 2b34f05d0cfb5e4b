#pragma once

#include <cmath>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>

#include "app/common/image.h"
#include "app/common/theme.h"
#include "core/sizes.h"

namespace attn::view {

// All that is drawn, on screen and in a figure, is drawn through one Painter. Lengths are pixels of the
// window, y goes down, angles are degrees clockwise.

struct Point {
    float x = 0.0F;
    float y = 0.0F;

    constexpr Point() = default;
    constexpr Point(float across, float down) : x(across), y(down) {}
    /// From a toolkit's own pair.
    template <class Pair>
    requires requires(const Pair& pair) { pair.x + pair.y; }
    constexpr Point(const Pair& pair) : x(pair.x), y(pair.y) {}
    bool operator==(const Point&) const = default;
};

/// Sans and bold for words, mono for numbers, italic and roman for mathematics.
enum class Face : std::uint8_t { sans, bold, mono, italic, roman };
inline constexpr std::size_t kFaceCount = 5;

// Every face is set on the lines of DejaVu Sans, so that one size gives all of them the same em and the
// same baseline.
inline constexpr float kLinePerEm = 1.1640625F;
inline constexpr float kAscentPerEm = 0.928223F;  // from the top of the line to the baseline

/// One face at one size.
struct Font {
    Face face = Face::sans;
    float px = 13.0F;  // height of a line: ascent and descent

    constexpr float em() const { return px / kLinePerEm; }
    constexpr float ascent() const { return em() * kAscentPerEm; }
};

/// Pixels that are drawn with nearest neighbours. `key` names them: while the frames in a row draw one
/// key, `paint` is called once. Never empty.
struct Picture {
    std::uint64_t key = 0;
    std::function<Image()> paint;
};

/// A part of a picture, 0…1 in both directions.
struct Part {
    Point low{0.0F, 0.0F};
    Point high{1.0F, 1.0F};
};

class Painter {
  public:
    virtual ~Painter() = default;

    /// Width of one line of UTF-8 text, and its height, which is font.px.
    virtual Point text_size(const Font& font, std::string_view text) = 0;
    /// Top left at `at`.
    virtual void text(const Font& font, Point at, Color color, std::string_view text) = 0;

    virtual void rect(Point low, Point high, Color fill, float radius = 0.0F) = 0;
    /// Lines along the inner side of the edges when they are one pixel thick.
    virtual void outline(Point low, Point high, Color color, float thickness,
                         float radius = 0.0F) = 0;
    /// Colours evenly from left to right; two at least.
    virtual void gradient(Point low, Point high, std::span<const Color> colors) = 0;
    /// Fills the pixels right of and below its points when it is one pixel thick.
    virtual void line(Point from, Point to, Color color, float thickness) = 0;
    virtual void polyline(std::span<const Point> points, Color color, float thickness) = 0;
    /// Convex, filled.
    virtual void polygon(std::span<const Point> corners, Color fill) = 0;
    /// The area between two lines that have as many points, without seams.
    virtual void band(std::span<const Point> upper, std::span<const Point> lower, Color fill) = 0;
    virtual void circle(Point middle, float radius, Color fill) = 0;
    virtual void ring(Point middle, float radius, Color color, float thickness) = 0;
    virtual void image(const Picture& picture, Point low, Point high, const Part& part = {}) = 0;

    /// Clips further drawing to low … high, and within what was set before.
    virtual void push_clip(Point low, Point high) = 0;
    virtual void pop_clip() = 0;
    /// Turns further drawing about a point. One turn at a time, and no clip is set in it.
    virtual void push_rotation(Point about, float degrees) = 0;
    virtual void pop_rotation() = 0;

    /// A grid of more cells is drawn as one picture.
    virtual Index most_cells() const = 0;

    /// Titles further drawing: the text is shown where the pointer rests on it; see Titled. No clip is set in it.
    virtual void push_title(std::string_view) {}
    virtual void pop_title() {}
    virtual bool has_titles() const { return false; }  // else they need not be put into words
};

/// While it lives, drawing has the title that `words()` returns.
class Titled {
  public:
    template <class Description>
    Titled(Painter& painter, Description text)
        : painter_(painter.has_titles() ? &painter : nullptr) {
        if (painter_ != nullptr) painter_->push_title(text());
    }
    Titled(const Titled&) = delete;
    Titled& operator=(const Titled&) = delete;
    ~Titled() {
        if (painter_ != nullptr) painter_->pop_title();
    }

  private:
    Painter* painter_;
};

/// `color`, partly transparent.
inline Color translucent(Color color, double share) {
    color.a = static_cast<std::uint8_t>(std::lround(color.a * share));
    return color;
}

}  // namespace attn::view
