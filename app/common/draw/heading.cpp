#include "app/common/draw/heading.h"

#include <cctype>

#include "app/common/draw/draw.h"
#include "app/common/draw/focus.h"
#include "app/common/draw/items.h"
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
/// Of the headline: 20 an em; in low windows 16, in the lowest 14 where it does not fit.
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

/// A headline: its letters, and its lines.
struct Set {
    Font font;
    std::string first, second = {};
};

/// "14 × 14 = 196 pairs" stays on one line: a break stands neither after a number nor at a sign.
bool may_break(const std::string& text, std::size_t space) {
    const auto is_sign = [&](std::size_t from, std::size_t to) {
        return to > from && std::none_of(text.begin() + static_cast<std::ptrdiff_t>(from),
                                         text.begin() + static_cast<std::ptrdiff_t>(to),
                                         [](unsigned char c) { return std::isalnum(c) != 0; });
    };
    const std::size_t before = text.rfind(' ', space - 1) + 1;  // npos + 1 is 0
    const bool counts = std::isdigit(static_cast<unsigned char>(text[space - 1])) != 0;
    const std::size_t end = std::min(text.find(' ', space + 1), text.size());
    return !counts && !is_sign(before, space) && !is_sign(space + 1, end);
}

/// Two lines of which the first fits in `room` and is the longer one.
std::pair<std::string, std::string> broken(const Font& font, const std::string& text, float space,
                                           const Frame& frame) {
    const auto width = [&](std::size_t from, std::size_t to) {
        return frame.text_width(font, text.substr(from, to - from));
    };
    std::size_t best = std::string::npos;
    for (std::size_t at = text.find(' ', 1); at != std::string::npos; at = text.find(' ', at + 1)) {
        if (!may_break(text, at) || width(0, at) > space) continue;
        best = at;
        if (width(0, at) >= width(at + 1, text.size())) break;
    }
    if (best == std::string::npos) return {text, {}};
    return {text.substr(0, best), text.substr(best + 1)};
}

/// Without its last clause: what stands before the last "; ", else before the last ": "; "" where it has one only.
std::string without_last_clause(const std::string& text) {
    for (const char* const between : {"; ", ": "})
        if (const std::size_t at = text.rfind(between); at != std::string::npos)
            return text.substr(0, at) + '.';
    return {};
}

/// One line, or two, of letters of one size in every workspace. Where it is cut, it is said whole where it is pointed at,
/// the last clauses give way first.
Set set_headline(const std::string& text, float space, const Frame& frame) {
    Font font = frame.fonts.headline;
    const bool low = is_lower_than(kLowWindow, frame);
    const bool lowest = is_lower_than(kLowestWindow, frame);
    for (std::size_t n = low ? 1 : 0; n <= (lowest ? 2U : low ? 1U : 0U); ++n) {
        font.px = frame.px(kSizes[n]);
        if (frame.text_width(font, text) <= space) return {font, text};
    }
    const auto [one, two] = broken(font, text, space, frame);
    if (frame.text_width(font, two) > space)
        if (const std::string less = without_last_clause(text); !less.empty())
            return set_headline(less, space, frame);
    return {font, one, two};
}

/// One line at `at`; where it is cut, and where more is to be said, pointing at it says `whole`. Returns its right end.
float draw_line(const Font& font, ImVec2 at, float right, Color color, const std::string& text,
                const std::string& whole, const Frame& frame) {
    const std::string shown = fit_text(frame, font, text, right - at.x);
    frame.painter.text(font, at, color, shown);
    const float width = frame.text_width(font, shown);
    if (shown == whole || shown.empty()) return at.x + width;
    ImGui::SetCursorScreenPos(at);
    leave_space({std::max(width, 1.0F), font.px});
    tooltip(frame, {}, whole);
    return at.x + width;
}

constexpr const char* kWhy = "why?";

/// Whoever points at it, clicks it, or reaches it by Tab, is told `words`.
void draw_why(ImVec2 at, const std::string& text, const Frame& frame) {
    const Font& font = frame.fonts.body;
    frame.painter.text(font, at, frame.theme.accent, kWhy);
    ImGui::SetCursorScreenPos(at);
    const bool clicked = invisible_button(kWhy, {frame.text_width(font, kWhy), font.px});
    if (clicked && frame.focus != nullptr) frame.focus->give(last_item_id());
    if (focus_stop(frame))
        tooltip_now(frame, {}, text);
    else
        tooltip(frame, {}, text);
}

/// Under the sentence.
void draw_muted(const std::string& text, const std::string& why, ImVec2 at, float right,
                const Frame& frame) {
    const float gap = text.empty() ? 0.0F : frame.px(kSpace12);
    const float space = why.empty() ? 0.0F : gap + frame.text_width(frame.fonts.body, kWhy);
    const float end =
        draw_line(frame.fonts.body, at, right - space, frame.theme.muted, text, text, frame);
    if (!why.empty()) draw_why({end + gap, at.y}, why, frame);
}

void append(std::string& to, const std::string& text, const char* between) {
    if (!text.empty()) to += (to.empty() ? "" : between) + text;
}

/// What stands where.
struct Lay {
    Set headline;
    std::string rest, more;      // the muted line, and what is behind "why?"
    std::optional<MathBox> tex;  // at the right end
    float right = 0.0F;          // of the headline
    float second = 0.0F;         // height of its second line
};

Lay lay_out(const Heading& heading, float low, float high, const Frame& frame) {
    Lay lay;
    lay.right = high;
    if (lines_in(frame).muted > 0.0F && !heading.tex.empty())
        lay.tex = fitted_math(frame, heading.tex, kFormulaSize, (high - low) / 3);
    if (lay.tex) lay.right -= lay.tex->width + frame.px(kSpace24);
    const float space = lay.right - low;
    std::string first = heading.headline;
    if (frame.text_width(frame.fonts.headline, first) > space)
        std::tie(first, lay.rest) = parted(first);
    lay.headline = set_headline(first, space, frame);
    if (!lay.headline.second.empty()) lay.second = lay.headline.font.px;
    append(lay.rest, heading.muted, " ");
    std::string notes;
    for (const std::string& note : heading.notes)
        append(lay.rest.empty() ? lay.rest : notes, note, "\n");
    std::tie(lay.rest, lay.more) = parted(lay.rest);
    append(lay.more, notes, "\n");
    append(lay.more, heading.why, "\n");
    return lay;
}

}  // namespace

float bar_height(const Frame& frame) {
    return frame.px(is_lower_than(kLowestWindow, frame) ? 36.0F : 48.0F);
}

float heading_height(const Frame& frame) {
    const Lines& lines = lines_in(frame);
    return frame.px(lines.above + lines.height);
}

float heading_height(const Heading& heading, float width, const Frame& frame) {
    return heading_height(frame) + lay_out(heading, 0.0F, width, frame).second;
}

void draw_heading(const Heading& heading, const Box& box, const Frame& frame) {
    const Lines& lines = lines_in(frame);
    const Lay lay = lay_out(heading, box.low.x, box.high.x, frame);
    const float top = box.low.y + frame.px(lines.above);
    const float baseline = std::round(top + frame.px(lines.baseline));
    if (lay.tex) draw_formula(frame, *lay.tex, {box.high.x - lay.tex->width, baseline});
    const auto& [font, first, second] = lay.headline;
    std::string whole = second.empty() ? first : second;
    if (lines.muted == 0.0F) {
        whole = heading.headline;
        append(whole, lay.rest, "\n");
        append(whole, lay.more, "\n");
    }
    const Color color = heading.warns   ? frame.theme.warning
                        : heading.stale ? frame.theme.muted
                                        : frame.theme.text;
    const ImVec2 at{box.low.x, std::round(baseline - font.ascent())};
    draw_line(font, at, lay.right, color, first, second.empty() ? whole : first, frame);
    if (!second.empty())
        draw_line(font, {at.x, at.y + lay.second}, lay.right, color, second, whole, frame);
    if (lines.muted > 0.0F)
        draw_muted(lay.rest, frame.is_canvas_alone() ? std::string() : lay.more,
                   {box.low.x, top + frame.px(lines.muted) + lay.second}, box.high.x, frame);
    close_placing();
}

}  // namespace attn::ui
