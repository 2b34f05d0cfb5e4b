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
// Design units.
constexpr float kInfoRadius = 8.0F, kInfoWidth = 760.0F;
constexpr float kMostInfo = 0.45F;  // of the canvas

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

/// One line, or two, of letters of one size in every workspace. Where it is cut, pointing at it shows the whole text;
/// the last clauses give way first.
Set set_headline(const std::string& text, float space, const Frame& frame) {
    Font font = frame.fonts.headline;
    const bool low = is_lower_than(kLowWindow, frame);
    const bool lowest = is_lower_than(kLowestWindow, frame);
    for (std::size_t n = low ? 1 : 0; n <= (lowest ? 2U : low ? 1U : 0U); ++n) {
        font.px = frame.px(kSizes[n]);
        if (frame.text_width(font, text) <= space) return {font, text};
    }
    auto [one, two] = broken(font, text, space, frame);
    if (frame.text_width(font, two) > space)
        if (const std::string less = without_last_clause(text); !less.empty())
            return set_headline(less, space, frame);
    // With no clause to leave out, smaller letters rather than a cut.
    for (const float size : kSizes) {
        if (frame.text_width(font, two) <= space) break;
        if (frame.px(size) >= font.px) continue;
        font.px = frame.px(size);
        std::tie(one, two) = broken(font, text, space, frame);
    }
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

/// Under the sentence. Returns its right end.
float draw_muted(const std::string& text, bool has_info, ImVec2 at, float right,
                 const Frame& frame) {
    const float space = has_info ? frame.px(kSpace12) + info_sign_width(frame) : 0.0F;
    return draw_line(frame.fonts.body, at, right - space, frame.theme.muted, text, text, frame);
}

void append(std::string& to, const std::string& text, const char* between) {
    if (!text.empty()) to += (to.empty() ? "" : between) + text;
}

/// What stands where.
struct Lay {
    Set headline;
    std::string rest, more;      // the muted line, and the texts behind ⓘ after the reasons
    std::optional<MathBox> tex;  // at the right end
    bool has_info = false;       // ⓘ
    float right = 0.0F;          // of the headline
    float second = 0.0F;         // height of its second line
};

Lay lay_out(const Heading& heading, float low, float high, const Frame& frame) {
    Lay lay;
    lay.right = high;
    if (lines_in(frame).muted > 0.0F && !heading.tex.empty())
        lay.tex = fitted_math(frame, heading.tex, kFormulaSize, (high - low) / 3);
    if (lay.tex) lay.right -= lay.tex->width + frame.px(kSpace24);
    const bool alone = heading.muted.empty() && heading.notes.empty();  // then ⓘ follows it
    const float sign = alone ? frame.px(kSpace12) + info_sign_width(frame) : 0.0F;
    const float space = lay.right - low - sign;
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
    lay.has_info = lines_in(frame).muted > 0.0F && !frame.is_canvas_alone() &&
                   !(heading.reasons.empty() && lay.more.empty());
    return lay;
}

/// Of ⓘ, from frame to frame in the storage of its window.
enum class InfoState : std::uint8_t { closed, clicked, open };

}  // namespace

float info_sign_width(const Frame& frame) { return frame.px(2 * kInfoRadius); }

bool draw_info_sign(ImVec2 at, const Frame& frame) {
    const float radius = frame.px(kInfoRadius);
    const Point middle{at.x + radius, at.y + frame.fonts.body.px / 2};
    const Point low{middle.x - radius, middle.y - radius},
        high{middle.x + radius, middle.y + radius};
    ImGui::SetCursorScreenPos({low.x, low.y});
    const bool clicked = invisible_button("info", {high.x - low.x, high.y - low.y});
    const ImGuiID control = last_item_id();
    int& stored = *ImGui::GetStateStorage()->GetIntRef(control);
    auto state = static_cast<InfoState>(stored);
    if (state == InfoState::closed) tooltip(frame, "Why?", "A click shows the reasons here.");
    const bool focused = focus_stop(frame);
    const bool pressed = focused && (take_key(frame, Key::enter) || take_key(frame, Key::space));
    // A click elsewhere closes it when the button is let go: until then nothing moves under the pointer.
    const bool holds =
        ImGui::IsMouseDown(ImGuiMouseButton_Left) || ImGui::IsMouseReleased(ImGuiMouseButton_Left);
    if (clicked || pressed)
        state = state == InfoState::closed ? InfoState::clicked : InfoState::closed;
    else if (focused)
        state = state == InfoState::clicked ? InfoState::open : state;
    else if (state == InfoState::clicked || !holds)
        state = InfoState::closed;
    if (state == InfoState::clicked && frame.focus != nullptr) frame.focus->give(control);
    stored = static_cast<int>(state);
    const bool open = state != InfoState::closed;
    const bool bright = open || focused || ImGui::IsItemHovered();
    const Color color = bright ? frame.theme.accent : frame.theme.muted;
    if (open) frame.painter.circle(middle, radius, frame.theme.raised);
    frame.painter.outline(low, high, color, frame.px(1.25F), radius);
    draw_text_in(frame, frame.fonts.small, low, high, Align::center, color, "i");
    return open;
}

float draw_info(const Info& info, const Box& space, const Frame& frame) {
    const float pad = frame.px(kSpace12), gap = ImGui::GetStyle().ItemSpacing.y;
    const float width = std::min(space.size().x, frame.px(kInfoWidth));
    const float inner = std::max(width - 2 * pad, 1.0F);
    const Font& font = frame.fonts.body;
    float height = info.legend.empty() ? -gap : wrapped_height(frame, font, info.legend, inner);
    for (const std::string& reason : info.reasons)
        height += wrapped_height(frame, font, reason, inner) + gap;
    const float most = std::max(space.size().y * kMostInfo, frame.px(kTitleRow));
    const Box box{space.low, {space.low.x + width, space.low.y + std::min(height + 2 * pad, most)}};
    frame.painter.rect(box.low, box.high, frame.theme.surface, frame.px(6));
    frame.painter.outline(box.low, box.high, frame.theme.line, frame.px(1), frame.px(6));
    panel("info", {{box.low.x + pad, box.low.y + pad}, {box.high.x - pad, box.high.y - pad}}, [&] {
        for (const std::string& reason : info.reasons)
            wrapped_text(frame, font, frame.theme.text, reason);
        wrapped_text(frame, font, frame.theme.muted, info.legend);
    });
    return box.high.y + frame.px(kSpace8);
}

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

std::optional<Info> draw_heading(const Heading& heading, const Box& box, const Frame& frame) {
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
        for (const std::string& reason : heading.reasons) append(whole, reason, "\n");
        append(whole, lay.more, "\n");
    }
    const Color color = heading.warns   ? frame.theme.warning
                        : heading.stale ? frame.theme.muted
                                        : frame.theme.text;
    const ImVec2 at{box.low.x, std::round(baseline - font.ascent())};
    ImVec2 sign{at.x, at.y + lay.second + (font.px - frame.fonts.body.px) / 2};
    sign.x = draw_line(font, at, lay.right, color, first, second.empty() ? whole : first, frame);
    if (!second.empty())
        sign.x = draw_line(font, {at.x, at.y + lay.second}, lay.right, color, second, whole, frame);
    if (lines.muted > 0.0F && !lay.rest.empty()) {
        sign.y = top + frame.px(lines.muted) + lay.second;
        sign.x = draw_muted(lay.rest, lay.has_info, {box.low.x, sign.y}, box.high.x, frame);
    }
    sign.x += frame.px(kSpace12);
    const bool open = lay.has_info && draw_info_sign(sign, frame);
    close_placing();
    return open ? std::optional(Info{heading.reasons, lay.more}) : std::nullopt;
}

}  // namespace attn::ui
