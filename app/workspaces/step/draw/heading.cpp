#include "app/workspaces/step/draw/heading.h"

#include <imgui.h>

#include <algorithm>

#include "app/common/draw/draw.h"
#include "app/common/draw/math.h"
#include "app/workspaces/step/draw/layout.h"

namespace attn::ui {
namespace {

using view::StepView;

// Design units.
constexpr float kFormula = 20.0F;
constexpr float kBaseline = 25.0F;  // of title and formula: a fraction's numerator stands above
constexpr float kSentence = 47.0F;  // beneath the limits of a sum
constexpr float kHeadingHeight = 64.0F;
constexpr float kLowHeight = 46.0F;  // without the sentence, which the bottom line says too
constexpr float kLowWindow = 700.0F;
constexpr float kHeadingGap = 24.0F;   // between title, formula and badge
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
        shortened(frame, font, whole, line.right - line.taken - frame.px(kHeadingGap));
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

}  // namespace

std::optional<OperandId> draw_heading(const StepView& view, const Frame& frame) {
    if (has_room_for_matrix_alone(view.queries.size(), frame)) return std::nullopt;
    const ImVec2 low = ImGui::GetCursorScreenPos();
    TitleLine line{low, low.x + ImGui::GetContentRegionAvail().x, low.x,
                   std::round(low.y + frame.px(kBaseline))};
    const float gap = frame.px(kHeadingGap);
    const float title = frame.text_width(frame.fonts.title, view.title);
    const float room = line.right - low.x - gap - std::max(title, frame.px(kLeastTitle));
    const auto formula = fitted_math(frame, view.tex, kFormula, room);
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

}  // namespace attn::ui
