#include "app/workspaces/step/draw/heading.h"

#include <imgui.h>

#include <algorithm>
#include <numeric>

#include "app/common/draw/draw.h"
#include "app/common/draw/focus.h"
#include "app/common/draw/math.h"
#include "app/workspaces/step/draw/canvas.h"
#include "app/workspaces/step/draw/layout.h"

namespace attn::ui {
namespace {

using view::StepView;

// Design units.
constexpr float kBaseline = 25.0F;  // of title and formula: a fraction's numerator stands above
constexpr float kSentence = 47.0F;  // beneath the limits of a sum
constexpr float kHeadingHeight = 64.0F;
constexpr float kLowHeight = 46.0F;  // without the sentence, which the bottom line says too
constexpr float kLowWindow = 700.0F;
constexpr float kLeastTitle = 120.0F;  // of a title that is cut for its formula

/// The line of title and formula: from `low` to `right`, of which `taken` is where they end.
struct TitleLine {
    ImVec2 low;
    float right;
    float taken;
    float baseline;
};

/// An item for what was drawn at `low` … `high`, which says `whole` where it was cut.
void say_whole(const Frame& frame, ImVec2 low, ImVec2 high, const std::string& whole) {
    ImGui::SetCursorScreenPos(low);
    ImGui::Dummy({std::max(high.x - low.x, 1.0F), high.y - low.y});
    tooltip(frame, "", whole);
}

/// As much of `text` as fits in `room`; where that is not all, pointing at it says all of it. Returns where it ends.
float draw_cut(const Frame& frame, const Font& font, ImVec2 at, view::Color color,
               const std::string& text, float room) {
    const std::string shown = fit_text(frame, font, text, room);
    frame.painter.text(font, at, color, shown);
    const float end = at.x + frame.text_width(font, shown);
    if (shown != text) say_whole(frame, at, {end, at.y + font.px}, text);
    return end;
}

/// What fits of "toy weights, not trained: how they came about": from the end, part by part; two
/// letters of it would say nothing.
std::string shortened(const Frame& frame, const Font& font, const std::string& badge, float room) {
    for (const std::size_t end : {badge.size(), badge.find(':'), badge.find(',')})
        if (const std::string part = badge.substr(0, end); frame.text_width(font, part) <= room)
            return part;
    return "";
}

/// Ends at the right of the title's line, as much of it as fits.
void draw_badge(const StepView& view, const Frame& frame, const TitleLine& line) {
    const Font& font = frame.fonts.small;
    const std::string& whole = view.controls.badge;
    const std::string badge =
        shortened(frame, font, whole, line.right - line.taken - frame.px(kSpace24));
    if (badge.empty()) return;
    const ImVec2 at{line.right - frame.text_width(font, badge), line.baseline - font.ascent()};
    frame.painter.text(font, at, view.controls.toy ? frame.theme.warning : frame.theme.muted,
                       badge);
    if (badge != whole) say_whole(frame, at, {line.right, at.y + font.px}, whole);
}

/// The title gives way to the formula, down to a few words.
float draw_title(const StepView& view, const Frame& frame, const TitleLine& line, float formula) {
    const Font& font = frame.fonts.title;
    const float room = std::max(line.right - line.low.x - formula, frame.px(kLeastTitle));
    return draw_cut(frame, font, {line.low.x, line.baseline - font.ascent()}, frame.theme.text,
                    view.title, room);
}

using view::Mark, view::Progress, view::RibbonItem;

// Design units.
constexpr float kArrow = 16.0F;
constexpr float kLeastArrow = 10.0F;  // no arrow in less
constexpr float kRibbonWidest = 160.0F, kSmallLabel = 12.0F, kSmallShape = 11.0F;
constexpr float kMarkRoom = 14.0F;  // ● or ○ before the shape
constexpr float kMarkRadius = 4.0F;

/// How the items stand beside each other.
struct RibbonSetting {
    Font label, shape;
    std::vector<float> widths;
    float gap = 0.0F;  // between two of them
};

/// What the mark takes of the shape's line.
float mark_room(const RibbonItem& item, const Frame& frame) {
    return item.mark == Mark::none ? 0.0F : frame.px(kMarkRoom);
}

std::vector<float> measured(const std::vector<RibbonItem>& items, const RibbonSetting& setting,
                            const Frame& frame) {
    std::vector<float> widths;
    for (const RibbonItem& item : items)
        widths.push_back(
            std::max(frame.text_width(setting.label, item.label),
                     frame.text_width(setting.shape, item.shape) + mark_room(item, frame)));
    return widths;
}

/// Slots of one width where every word fits in one, else as wide as the words.
bool try_slots(RibbonSetting& setting, const std::vector<RibbonItem>& items, float room,
               const Frame& frame) {
    setting.widths = measured(items, setting, frame);
    const float count = static_cast<float>(items.size());
    const float even =
        within((room - frame.px(kArrow) * (count - 1)) / count, 1.0F, frame.px(kRibbonWidest));
    setting.gap = frame.px(kArrow);
    if (std::ranges::max(setting.widths) <= even) {
        setting.widths.assign(items.size(), even);
        return true;
    }
    const float taken = std::accumulate(setting.widths.begin(), setting.widths.end(), 0.0F);
    const float gap = (room - taken) / std::max(count - 1, 1.0F);
    setting.gap = within(gap, frame.px(kSpace4), frame.px(kArrow));
    return gap >= frame.px(kLeastArrow);
}

/// In the usual fonts where they fit, else in smaller ones; words that are still too wide are cut.
RibbonSetting set_items(const std::vector<RibbonItem>& items, float room, const Frame& frame) {
    RibbonSetting setting{frame.fonts.strong, frame.fonts.digits_small, {}, 0.0F};
    if (try_slots(setting, items, room, frame)) return setting;
    setting.label.px = frame.px(kSmallLabel);
    setting.shape.px = frame.px(kSmallShape);
    if (try_slots(setting, items, room, frame)) return setting;
    const float gaps = setting.gap * static_cast<float>(items.size() - 1);
    const float taken = std::accumulate(setting.widths.begin(), setting.widths.end(), 0.0F);
    const float share = std::min(1.0F, std::max(room - gaps, 1.0F) / taken);
    for (float& width : setting.widths) width *= share;
    return setting;
}

view::Color label_color(const Frame& frame, Progress progress) {
    if (progress == Progress::current) return frame.theme.accent;
    return progress == Progress::done ? frame.theme.text : frame.theme.muted;
}

/// ● changed by the last edit, ○ the same.
void draw_mark(const Frame& frame, Mark mark, view::Point middle, view::Color behind) {
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
    if (hovered) frame.painter.rect(low, high, frame.theme.raised, frame.px(4));
    const float split = low.y + size.y * 0.56F;
    const float mark = mark_room(item, frame);
    const auto put = [&](const Font& font, view::Point from, float foot, view::Color color,
                         const std::string& text) {
        draw_text_in(frame, font, from, {high.x, foot}, Align::center, color,
                     fit_text(frame, font, text, high.x - from.x + 1.0F));
    };
    put(setting.label, {low.x, low.y + frame.px(4)}, split, label_color(frame, item.progress),
        item.label);
    put(setting.shape, {low.x + mark, split}, high.y - frame.px(4), frame.theme.muted, item.shape);
    if (item.mark != Mark::none) {
        const float words = frame.text_width(setting.shape, item.shape);
        const float left = std::max(low.x, (low.x + mark + high.x - words) / 2 - mark);
        draw_mark(frame, item.mark,
                  {left + frame.px(kMarkRadius), (split + high.y - frame.px(4)) / 2},
                  hovered ? frame.theme.raised : frame.theme.background);
    }
    if (current) frame.painter.rect({low.x, high.y - frame.px(2)}, high, frame.theme.accent);
}

}  // namespace

std::optional<OperandId> draw_heading(const StepView& view, const Frame& frame) {
    if (has_room_for_matrix_alone(view.queries.size(), frame)) return std::nullopt;
    const ImVec2 low = ImGui::GetCursorScreenPos();
    TitleLine line{low, low.x + ImGui::GetContentRegionAvail().x, low.x,
                   std::round(low.y + frame.px(kBaseline))};
    const float gap = frame.px(kSpace24);
    const float title = frame.text_width(frame.fonts.title, view.title);
    const float room = line.right - low.x - gap - std::max(title, frame.px(kLeastTitle));
    const auto formula = fitted_math(frame, view.tex, kFormulaSize, room);
    line.taken = draw_title(view, frame, line, formula ? formula->width + gap : 0.0F);
    std::optional<OperandId> pointed;
    if (formula) {
        pointed = draw_formula(frame, *formula, {line.taken + gap, line.baseline});
        line.taken += gap + formula->width;
    }
    draw_badge(view, frame, line);
    const bool is_low = ImGui::GetIO().DisplaySize.y < frame.px(kLowWindow);
    if (!is_low)
        draw_cut(frame, frame.fonts.body, {low.x, low.y + frame.px(kSentence)}, frame.theme.muted,
                 view.words, line.right - low.x);
    const ImVec2 foot{low.x, low.y + frame.px(is_low ? kLowHeight : kHeadingHeight)};
    ImGui::SetCursorScreenPos(foot);
    ImGui::Dummy({0.0F, 0.0F});  // ImGui 1.92: a cursor that was set needs an item after it
    ImGui::SetCursorScreenPos(foot);
    return pointed;
}

void draw_ribbon(const std::vector<RibbonItem>& items, const Frame& frame, view::Actions& out) {
    if (items.empty()) return;
    const ImVec2 room = ImGui::GetContentRegionAvail();
    const RibbonSetting setting = set_items(items, room.x, frame);
    ImVec2 low = ImGui::GetCursorScreenPos();
    for (std::size_t n = 0; n < items.size(); ++n) {
        const RibbonItem& item = items[n];
        const ImVec2 size{std::max(setting.widths[n], 1.0F), room.y};
        ImGui::SetCursorScreenPos(low);
        ImGui::PushID(info(item.stage).key.data());
        const bool clicked = ImGui::InvisibleButton("stage", size);
        if (pressed_by_key(frame) || clicked) out.push_back(view::GoToStage{item.stage});
        tooltip(frame, item.label, item.tooltip);
        draw_item(item, setting, frame, low, size);
        ImGui::PopID();
        low.x += size.x + setting.gap;
        if (n + 1 == items.size() || setting.gap < frame.px(kLeastArrow)) continue;
        const float y = low.y + room.y / 2;
        draw_arrow(frame, {low.x - setting.gap + frame.px(1), y}, {low.x - frame.px(3), y},
                   item.progress == Progress::done ? frame.theme.muted : frame.theme.control,
                   frame.px(1));
    }
}

}  // namespace attn::ui
