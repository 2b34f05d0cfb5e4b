#include "app/workspaces/step/draw/heading.h"

#include <numeric>

#include "app/common/document/actions.h"
#include "app/common/draw/answer.h"
#include "app/common/draw/draw.h"
#include "app/common/draw/focus.h"
#include "app/common/draw/heading.h"
#include "app/common/draw/items.h"
#include "app/common/draw/math.h"
#include "app/common/draw/measured.h"
#include "app/common/draw/typeset.h"
#include "app/common/sheet.h"
#include "app/workspaces/step/draw/canvas.h"

namespace attn::ui {
namespace {

// Design units.
constexpr float kFormula = 20.0F;
constexpr float kBaseline = 25.0F;  // of title and formula: a fraction's numerator is above
constexpr float kSentence = 47.0F;  // beneath the limits of a sum
constexpr float kHeadingHeight = 64.0F;
constexpr float kLowHeight = 46.0F;  // without the sentence, which the bottom line says too
// In the lowest windows one line.
constexpr float kLowestHeight = 30.0F;
constexpr float kLowestBaseline = 18.0F;
constexpr float kLowestHeadline = 18.6F;  // 16 an em
constexpr float kHeadingGap = 24.0F;      // between title, formula and badge
constexpr float kLeastTitle = 120.0F;     // of a title that is cut for its formula
constexpr float kBadgePad = 10.0F;
constexpr float kBadge = 22.0F;

Font headline_font(const Frame& frame) {
    Font font = frame.fonts.headline;
    if (is_lower_than(kLowestWindow, frame)) font.px = frame.px(kLowestHeadline);
    return font;
}

/// The line of title and formula: from `low` to `right`, of which `taken` is where they end.
struct TitleLine {
    ImVec2 low;
    float right;
    float taken;
    float baseline;
};

/// An item over the text at `low` … `high`, with the tooltip `whole` if the text was cut.
void show_whole(const Frame& frame, ImVec2 low, ImVec2 high, const std::string& whole) {
    ImGui::SetCursorScreenPos(low);
    leave_space({std::max(high.x - low.x, 1.0F), high.y - low.y});
    tooltip(frame, "", whole);
}

/// As much of `text` as fits in `room`; where that is not all, pointing at it says all of it. Returns where it ends.
float draw_cut(const Frame& frame, const Font& font, ImVec2 at, Color color,
               const std::string& text, float space) {
    const std::string shown = fit_text(frame, font, text, space);
    frame.painter.text(font, at, color, shown);
    const float end = at.x + frame.text_width(font, shown);
    if (shown != text) show_whole(frame, at, {end, at.y + font.px}, text);
    return end;
}

/// "toy weights, not trained", of which ": how they came about" is said by pointing; without its second part where that
/// has no room. Two letters of it would say nothing.
std::string shortened(const Frame& frame, const Font& font, const std::string& badge, float space) {
    for (const std::size_t end : {badge.find(':'), badge.find(',')})
        if (const std::string part = badge.substr(0, end); frame.text_width(font, part) <= space)
            return part;
    return "";
}

/// Ends at the right of the title's line, as much of it as fits.
void draw_badge(const StepView& view, const Frame& frame, const TitleLine& line) {
    const Font& font = frame.fonts.small;
    const std::string& whole = view.controls.badge;
    const float pad = frame.px(kBadgePad);
    const std::string badge =
        shortened(frame, font, whole, line.right - line.taken - frame.px(kHeadingGap) - 2 * pad);
    if (badge.empty()) return;
    const ImVec2 at{line.right - pad - frame.text_width(font, badge),
                    line.baseline - font.ascent()};
    const float middle = at.y + font.px / 2;
    frame.painter.outline({at.x - pad, middle - frame.px(kBadge / 2)},
                          {line.right, middle + frame.px(kBadge / 2)}, frame.theme.control,
                          frame.px(1), frame.px(kBadge / 2));
    frame.painter.text(font, at, view.controls.toy ? frame.theme.text : frame.theme.muted, badge);
    if (badge != whole) show_whole(frame, at, {line.right, at.y + font.px}, whole);
}

/// Part by part in their colours; what has no room ends in "…", and pointing at it says all of it. Returns where it ends.
float draw_headline(const StepView& view, const Frame& frame, const TitleLine& line) {
    const Font font = headline_font(frame);
    ImVec2 at{line.low.x, line.baseline - font.ascent()};
    for (const HeadlinePart& part : view.headline) {
        const std::string shown = fit_text(frame, font, part.text, line.right - at.x);
        const Color plain = view.headline_warns ? frame.theme.warning : frame.theme.text;
        frame.painter.text(font, at, part.role ? frame.theme.role(*part.role) : plain, shown);
        at.x += frame.text_width(font, shown);
        if (shown != part.text) break;
    }
    show_whole(frame, {line.low.x, at.y}, {at.x, at.y + font.px}, view.headline_tip);
    return at.x;
}

/// The title gives way to the formula, down to a few words.
float draw_title(const StepView& view, const Frame& frame, const TitleLine& line, float formula) {
    const Font font = headline_font(frame);
    const float space = std::max(line.right - line.low.x - formula, frame.px(kLeastTitle));
    return draw_cut(frame, font, {line.low.x, line.baseline - font.ascent()}, frame.theme.text,
                    view.title, space);
}

/// Draws title and formula. Returns the operand of the symbol under the pointer.
std::optional<OperandId> draw_title_line(const StepView& view, const Frame& frame,
                                         TitleLine& line) {
    const float gap = frame.px(kHeadingGap);
    const float title = frame.text_width(headline_font(frame), view.title);
    const float space = line.right - line.low.x - gap - std::max(title, frame.px(kLeastTitle));
    const float size = is_lower_than(kLowestWindow, frame) ? kLeastText : kFormula;
    const auto formula = fitted_math(frame, view.tex, size, space);
    line.taken = draw_title(view, frame, line, formula ? formula->width + gap : 0.0F);
    if (!formula) return std::nullopt;
    const auto pointed = draw_formula(frame, *formula, {line.taken + gap, line.baseline});
    line.taken += gap + formula->width;
    return pointed;
}

/// What is shown, and ⓘ; at its right end what a model says of the text, half the line at most. True while ⓘ is open.
bool draw_muted_line(const StepView& view, const Frame& frame, const TitleLine& line) {
    const Font& font = frame.fonts.body;
    const float y = line.low.y + frame.px(kSentence);
    float right = line.right;
    if (!view.read_out.empty()) {
        const std::string shown =
            fit_text(frame, font, view.read_out, (line.right - line.low.x) / 2);
        const float from = right - frame.text_width(font, shown);
        frame.painter.text(font, {from, y}, frame.theme.text, shown);
        show_whole(frame, {from, y}, {right, y + font.px}, view.read_out);
        right = from - frame.px(kHeadingGap);
    }
    const bool has_info = !view.reasons.empty() && !frame.is_canvas_alone();
    const float gap = frame.px(kSpace12);
    const float sign = has_info ? gap + info_sign_width(frame) : 0.0F;
    const float end = draw_cut(frame, font, {line.low.x, y}, frame.theme.muted, view.text,
                               right - line.low.x - sign);
    return has_info && draw_info_sign({end + gap, y}, frame);
}

// Design units.
constexpr float kChevron = 20.0F;  // between two items
constexpr float kLeastChevron = 8.0F;
constexpr float kWideRibbon = 1400.0F;
constexpr float kItemPad = 4.0F;
constexpr float kMarkRadius = 3.5F,
                kAboveLabel = 5.0F;  // ● or ○: it takes no room, so that nothing moves

/// Layout of the items in a row.
struct RibbonSetting {
    view::Font label;
    std::vector<float> widths;
    float gap = 0.0F;  // between two of them

    float whole() const {
        return std::accumulate(widths.begin(), widths.end(),
                               gap * static_cast<float>(widths.size() - 1));
    }
};

RibbonSetting set_in(const std::vector<RibbonItem>& items, view::Font font, float gap,
                     const Frame& frame) {
    RibbonSetting setting{font, {}, gap};
    for (const RibbonItem& item : items)
        setting.widths.push_back(frame.text_width(font, item.label) + frame.px(2 * kItemPad));
    return setting;
}

/// In the usual font where they fit, else in smaller ones; words that are still too wide are cut. The ends of a model's ribbon leave
/// space for its controls.
RibbonSetting set_items(const std::vector<RibbonItem>& items, float space, const Frame& frame) {
    RibbonSetting setting;
    view::Font font = frame.fonts.strong;
    const bool close = items.front().place && space < frame.px(kWideRibbon);
    for (const auto& [px, gap] : {std::pair{font.px, frame.px(close ? kLeastChevron : kChevron)},
                                  {font.px, frame.px(kLeastChevron)},
                                  {frame.px(kLeastText), frame.px(kLeastChevron)},
                                  {frame.px(kLeastText), frame.px(2)}}) {
        font.px = px;
        setting = set_in(items, font, gap, frame);
        if (setting.whole() <= space) return setting;
    }
    const float gaps = setting.gap * static_cast<float>(items.size() - 1);
    const float share = std::max(space - gaps, 1.0F) / std::max(setting.whole() - gaps, 1.0F);
    for (float& width : setting.widths) width *= share;
    return setting;
}

Color label_color(const Frame& frame, Progress progress) {
    return progress == Progress::ahead ? frame.theme.muted : frame.theme.text;
}

/// ● changed by the last edit, ○ the same.
void draw_mark(const Frame& frame, Mark mark, Point middle, Color behind) {
    const float radius = frame.px(kMarkRadius);
    const bool changed = mark == Mark::changed;
    frame.painter.circle(middle, radius, changed ? frame.theme.accent : frame.theme.muted);
    if (!changed) frame.painter.circle(middle, radius - frame.px(1.5F), behind);
}

void draw_item(const RibbonItem& item, const RibbonSetting& setting, const Frame& frame, ImVec2 low,
               ImVec2 size) {
    const ImVec2 high{low.x + size.x, low.y + size.y};
    const bool current = item.progress == Progress::current;
    const bool hovered = ImGui::IsItemHovered() && !current;
    const ImVec2 inner{low.x, low.y + frame.px(6)};
    if (hovered)
        frame.painter.rect(inner, {high.x, high.y - frame.px(6)}, frame.theme.raised, frame.px(4));
    draw_fitted(frame, setting.label, low, {high.x + 1.0F, high.y}, Align::center,
                label_color(frame, item.progress), item.label);
    const float above = (low.y + high.y - setting.label.px) / 2 - frame.px(kAboveLabel);
    if (item.mark != Mark::none)
        draw_mark(frame, item.mark, {(low.x + high.x) / 2, above},
                  hovered ? frame.theme.raised : frame.theme.background);
    if (current) frame.painter.rect({low.x, high.y - frame.px(3)}, high, frame.theme.accent);
}

/// ">" in the gap before `right`.
void draw_chevron(const Frame& frame, float right, float gap, float middle) {
    const float arm = frame.px(3);
    const float x = right - gap / 2;
    const Point mark[] = {
        {x - arm / 2, middle - arm}, {x + arm / 2, middle}, {x - arm / 2, middle + arm}};
    frame.painter.polyline(mark, frame.theme.control, frame.px(1.5F));
}

}  // namespace

std::optional<OperandId> draw_heading(const StepView& view, const Frame& frame) {
    const ImVec2 low = ImGui::GetCursorScreenPos();
    const bool lowest = is_lower_than(kLowestWindow, frame);
    const bool is_low = is_lower_than(kLowWindow, frame);
    TitleLine line{low, low.x + ImGui::GetContentRegionAvail().x, low.x,
                   std::round(low.y + frame.px(lowest ? kLowestBaseline : kBaseline))};
    const float height = lowest ? kLowestHeight : is_low ? kLowHeight : kHeadingHeight;
    ImVec2 bottom{low.x, low.y + frame.px(height)};
    record_rect_for_tests(frame.painter, Measuring::Kind::heading, low, {line.right, bottom.y});
    std::optional<OperandId> pointed;
    if (view.headline.empty())
        pointed = draw_title_line(view, frame, line);
    else
        line.taken = draw_headline(view, frame, line);
    draw_badge(view, frame, line);
    const bool open = !is_low && draw_muted_line(view, frame, line);
    ImGui::SetCursorScreenPos(bottom);
    leave_space({0.0F, 0.0F});  // ImGui 1.92: a cursor that was set needs an item after it
    ImGui::SetCursorScreenPos(bottom);
    if (view.answer) {
        const ImVec2 rest = ImGui::GetContentRegionAvail();
        bottom.y =
            draw_answer(&*view.answer, {bottom, {bottom.x + rest.x, bottom.y + rest.y}}, frame);
        ImGui::SetCursorScreenPos(bottom);
        leave_space({0.0F, 0.0F});
        ImGui::SetCursorScreenPos(bottom);
    }
    if (!open) return pointed;
    const ImVec2 rest = ImGui::GetContentRegionAvail();
    const float end =
        draw_info({view.reasons, {}}, {bottom, {bottom.x + rest.x, bottom.y + rest.y}}, frame);
    ImGui::SetCursorScreenPos({low.x, end});
    leave_space({0.0F, 0.0F});
    ImGui::SetCursorScreenPos({low.x, end});
    return pointed;
}

float ribbon_width(const std::vector<RibbonItem>& items, float space, const Frame& frame) {
    return items.empty() ? 0.0F : std::min(space, set_items(items, space, frame).whole());
}

void draw_ribbon(const std::vector<RibbonItem>& items, const Frame& frame, Actions& out) {
    if (items.empty()) return;
    const ImVec2 space = ImGui::GetContentRegionAvail();
    const RibbonSetting setting = set_items(items, space.x, frame);
    ImVec2 low = ImGui::GetCursorScreenPos();
    for (std::size_t n = 0; n < items.size(); ++n) {
        const RibbonItem& item = items[n];
        const ImVec2 size{std::max(setting.widths[n], 1.0F), space.y};
        ImGui::SetCursorScreenPos(low);
        ImGui::PushID(item.place ? "place" : "stage");
        ImGui::PushID(key_of(item.stage).data());
        invisible_button("stage", size);
        const bool clicked = ImGui::IsItemClicked();
        if (pressed_by_key(frame) || clicked)
            item.place ? out.push_back(ShowModelPlace{*item.place})
                       : out.push_back(GoToStage{item.stage});
        tooltip(frame, item.shape.empty() ? item.label : item.label + "  " + item.shape,
                item.tooltip);
        draw_item(item, setting, frame, low, size);
        ImGui::PopID();
        ImGui::PopID();
        low.x += size.x + setting.gap;
        if (n + 1 < items.size() && setting.gap >= frame.px(kLeastChevron))
            draw_chevron(frame, low.x, setting.gap, low.y + space.y / 2);
    }
}

}  // namespace attn::ui
