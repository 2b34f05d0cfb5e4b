#pragma once

#include <imgui.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/common/draw/frame.h"
#include "app/common/painter.h"

namespace attn::ui {

// Drawing words and rectangles at exact places, in pixels.

ImU32 to_u32(Color color, double alpha = 1.0);
ImVec4 to_vec4(Color color);

enum class Align { left, center, right };
/// One line inside a box: vertically in the middle.
void draw_text_in(const Frame& frame, const view::Font& font, Point low, Point high, Align align,
                  Color color, std::string_view text);

/// `text`, or as much of it as fits in `width` followed by "…".
std::string fit_text(const Frame& frame, const view::Font& font, std::string_view text,
                     float width);
/// One line inside a box, of which as much is drawn as fits in its width.
inline void draw_fitted(const Frame& frame, const view::Font& font, Point low, Point high,
                        Align align, Color color, std::string_view text) {
    draw_text_in(frame, font, low, high, align, color, fit_text(frame, font, text, high.x - low.x));
}

/// As many characters of `text` as fit in `width`.
std::string_view cut_text(const Frame& frame, const view::Font& font, std::string_view text,
                          float width);

/// As a reader counts them: a letter with its marks is one.
std::size_t characters(std::string_view text);
/// `text`, or its beginning and end around a "…" when it has more than `most` characters.
std::string middle_ellipsis(std::string_view text, std::size_t most);

/// `text`, or as many words of its beginning and its end as fit in `width` around a "…"; of less than one word at each end letters.
std::string fit_ends(const Frame& frame, const view::Font& font, std::string_view text,
                     float width);

/// Text turned about its left middle, which stands at `at`; up is negative.
void draw_rotated_text(const Frame& frame, const view::Font& font, Point at, float degrees,
                       Color color, std::string_view text);

/// Words along a line that do not touch each other: those that come first have their place.
class TakenSpans {
  public:
    explicit TakenSpans(float gap) : gap_(gap) {}
    /// False where something stands there already.
    bool take(float from, float to) {
        for (const auto& [low, high] : taken_)
            if (from < high + gap_ && to > low - gap_) return false;
        taken_.emplace_back(from, to);
        return true;
    }

  private:
    float gap_;
    std::vector<std::pair<float, float>> taken_;
};

/// An arrow "→" with a thin shaft.
void draw_arrow(const Frame& frame, Point from, Point to, Color color, float thickness);

/// Around low … high: a line in the colour of text between two in that of the background, so that
/// one of them stands out (>= 3:1) from any cell.
void draw_ring(Painter& painter, Point low, Point high, const Theme& theme, float scale);

/// What a control stands in: a fill, and an edge that stands out (>= 3:1) from what it lies on.
void draw_box(const Frame& frame, Point low, Point high, Color fill);

/// One line of text as an item.
void put_text(const Frame& frame, const view::Font& font, Color color, std::string_view text);
/// Of a text that is wrapped in `width`.
float wrapped_height(const Frame& frame, const view::Font& font, std::string_view text,
                     float width);
/// The same, wrapped at the window's edge; "" is no item.
void wrapped_text(const Frame& frame, const view::Font& font, Color color, std::string_view text);

// A tooltip is a heading and, beneath it, muted lines; either may be empty. There is none while a
// list is open or something is typed.

enum class Beside { below, right };  // where it stands when there is room
/// On the last item, clear of `low` … `high`.
void tooltip_beside(const Frame& frame, ImVec2 low, ImVec2 high, Beside first,
                    const std::string& heading, const std::string& text = {});
/// Of what is drawn under the pointer and is no item.
void tooltip_at_pointer(const Frame& frame, const std::string& heading, const std::string& text);
/// Beneath the last item, wherever the pointer is.
void tooltip_now(const Frame& frame, const std::string& heading, const std::string& text);
/// On the last item: beneath a control, beside the pointer on something larger.
void tooltip(const Frame& frame, const std::string& heading, const std::string& text = {});

}  // namespace attn::ui
