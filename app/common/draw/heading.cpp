#include "app/common/draw/heading.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <tuple>

#include "app/common/draw/draw.h"
#include "app/common/draw/focus.h"
#include "app/common/draw/math.h"

namespace attn::ui {
namespace {

/// Where the lines stand, in design units.
struct Lines {
    float above, baseline, muted, height;
};
constexpr Lines kUsual{20.0F, 25.0F, 40.0F, 64.0F};
constexpr Lines kLow{12.0F, 20.0F, 0.0F, 30.0F};
constexpr Lines kLowest{4.0F, 18.0F, 0.0F, 28.0F};
/// Of the headline: 20, 16 and 14 an em.
constexpr std::array kSizes{23.3F, 18.6F, 16.3F};

const Lines& lines_in(const Frame& frame) {
    if (is_lower_than(kLowestWindow, frame)) return kLowest;
    return is_lower_than(kLowWindow, frame) ? kLow : kUsual;
}

/// The first sentence, and what follows it.
std::pair<std::string, std::string> parted(const std::string& text) {
    const std::size_t end = text.find(". ");
    if (end == std::string::npos) return {text, {}};
    return {text.substr(0, end + 1), text.substr(end + 2)};
}

/// The largest letters in which it fits; of none, the smallest.
Font font_for(const std::string& text, float room, const Frame& frame) {
    Font font = frame.fonts.headline;
    const std::size_t first = is_lower_than(kLowestWindow, frame) ? 1 : 0;
    for (std::size_t n = first; n < kSizes.size(); ++n) {
        font.px = frame.px(kSizes[n]);
        if (frame.text_width(font, text) <= room) break;
    }
    return font;
}

/// One line at `at`; where it is cut, and where more is to be said, pointing at it says `whole`. Returns its right end.
float draw_line(const Font& font, ImVec2 at, float right, view::Color color,
                const std::string& text, const std::string& whole, const Frame& frame) {
    const std::string shown = fit_text(frame, font, text, right - at.x);
    frame.painter.text(font, at, color, shown);
    const float width = frame.text_width(font, shown);
    if (shown == whole || shown.empty()) return at.x + width;
    ImGui::SetCursorScreenPos(at);
    ImGui::Dummy({std::max(width, 1.0F), font.px});
    tooltip(frame, {}, whole);
    return at.x + width;
}

constexpr const char* kWhy = "why?";

/// Whoever points at it, or reaches it by Tab, is told `words`.
void draw_why(ImVec2 at, const std::string& words, const Frame& frame) {
    const Font& font = frame.fonts.body;
    frame.painter.text(font, at, frame.theme.accent, kWhy);
    ImGui::SetCursorScreenPos(at);
    ImGui::InvisibleButton(kWhy, {frame.text_width(font, kWhy), font.px});
    if (focus_stop(frame))
        tooltip_now(frame, {}, words);
    else
        tooltip(frame, {}, words);
}

/// Under the sentence.
void draw_muted(const std::string& text, const std::string& why, ImVec2 at, float right,
                const Frame& frame) {
    const float gap = text.empty() ? 0.0F : frame.px(kSpace12);
    const float room = why.empty() ? 0.0F : gap + frame.text_width(frame.fonts.body, kWhy);
    const float end =
        draw_line(frame.fonts.body, at, right - room, frame.theme.muted, text, text, frame);
    if (!why.empty()) draw_why({end + gap, at.y}, why, frame);
}

/// At the right end of the line that ends at `right`; returns where the room left of it ends.
float draw_tex(const std::string& tex, float left, float right, float baseline,
               const Frame& frame) {
    const auto box =
        tex.empty() ? std::nullopt : fitted_math(frame, tex, kFormulaSize, (right - left) / 3);
    if (!box) return right;
    draw_formula(frame, *box, {right - box->width, baseline});
    return right - box->width - frame.px(kSpace24);
}

void append(std::string& to, const std::string& text, const char* between) {
    if (!text.empty()) to += (to.empty() ? "" : between) + text;
}

}  // namespace

float bar_height(const Frame& frame) {
    return frame.px(is_lower_than(kLowestWindow, frame) ? 36.0F : 48.0F);
}

float heading_height(const Frame& frame) {
    const Lines& lines = lines_in(frame);
    return frame.px(lines.above + lines.height);
}

void draw_heading(const Heading& heading, const Box& box, const Frame& frame) {
    const Lines& lines = lines_in(frame);
    const float top = box.low.y + frame.px(lines.above);
    const float baseline = std::round(top + frame.px(lines.baseline));
    const float right = lines.muted > 0.0F
                            ? draw_tex(heading.tex, box.low.x, box.high.x, baseline, frame)
                            : box.high.x;
    const float room = right - box.low.x;
    const float least = frame.px(kSizes[1]) / frame.px(kSizes[0]);
    std::string first = heading.headline;
    std::string rest;
    if (frame.text_width(frame.fonts.headline, first) * least > room)
        std::tie(first, rest) = parted(first);
    append(rest, heading.muted, " ");
    std::string more;
    std::tie(rest, more) = parted(rest);
    for (const std::string& note : heading.notes) append(rest.empty() ? rest : more, note, "\n");
    if (more.empty()) std::tie(rest, more) = parted(rest);
    append(more, heading.why, "\n");
    std::string whole = heading.headline;
    if (lines.muted == 0.0F) {
        append(whole, rest, "\n");
        append(whole, more, "\n");
    }
    const Font font = font_for(first, room, frame);
    const view::Color color = heading.warns   ? frame.theme.warning
                              : heading.stale ? frame.theme.muted
                                              : frame.theme.text;
    draw_line(font, {box.low.x, std::round(baseline - font.ascent())}, right, color, first,
              lines.muted == 0.0F ? whole : first, frame);
    if (lines.muted > 0.0F)
        draw_muted(rest, frame.is_canvas_alone() ? std::string() : more,
                   {box.low.x, top + frame.px(lines.muted)}, box.high.x, frame);
    close_placing();
}

}  // namespace attn::ui
