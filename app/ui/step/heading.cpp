#include "app/ui/step/heading.h"

#include <imgui.h>

#include <algorithm>

#include "app/ui/common/draw.h"

namespace attn::ui {
namespace {

using view::StepView;

// Design units.
constexpr float kLowCanvas = 380.0F;  // below this one line of words is kept
constexpr float kOneLine = 900.0F;    // wide enough for every stage's sentence
constexpr float kTwoLines = 640.0F;

/// What fits of "toy weights, not trained: how they came about": from the end, part by part; two
/// letters of it would say nothing.
std::string shortened(const Frame& frame, const Font& font, const std::string& badge, float room) {
    if (frame.text_width(font, badge) <= room) return badge;
    for (const char* end : {":", ","}) {
        const std::string part = badge.substr(0, badge.find(end));
        if (frame.text_width(font, part) <= room) return part;
    }
    return "";
}

/// The title's line: it is taken from `low` on for `taken` pixels.
struct TitleLine {
    ImVec2 low;
    float taken = 0.0F;
};

/// Ends at `right` in the title's line, as much of it as fits.
void draw_badge(const StepView& view, const Frame& frame, const TitleLine& line, float right) {
    const Font& font = frame.fonts.small;
    const std::string badge =
        shortened(frame, font, view.controls.badge, right - line.low.x - line.taken - frame.px(24));
    const ImVec2 at{right - frame.text_width(font, badge), line.low.y + frame.px(8)};
    const view::Color color = view.controls.toy ? frame.theme.warning : frame.theme.muted;
    frame.painter.text(font, at, color, badge);
    if (badge != view.controls.badge && ImGui::IsMouseHoveringRect(at, {right, at.y + font.px}))
        ImGui::SetTooltip("%s", view.controls.badge.c_str());
}

/// Every stage's heading is at least as high as its title and the lines that may wrap under it, so
/// that the matrices do not move from stage to stage.
void keep_heading_height(const Frame& frame, float top, float room) {
    const bool low = ImGui::GetContentRegionAvail().y < frame.px(kLowCanvas);
    const float lines = low                          ? 1.0F
                        : room < frame.px(kTwoLines) ? 3.0F
                        : room < frame.px(kOneLine)  ? 2.0F
                                                     : 1.0F;
    const float gap = ImGui::GetStyle().ItemSpacing.y;
    const float height =
        frame.fonts.title.px + gap + lines * (frame.fonts.body.px + gap) + frame.px(8);
    const ImVec2 at = ImGui::GetCursorScreenPos();
    ImGui::SetCursorScreenPos({at.x, std::max(at.y, top + height)});
}

TitleLine draw_words(const StepView& view, const Frame& frame) {
    const view::Theme& theme = frame.theme;
    const ImVec2 line = ImGui::GetCursorScreenPos();
    const float room = ImGui::GetContentRegionAvail().x;
    const float title = frame.text_width(frame.fonts.title, view.title);
    const float both = title + frame.px(24) + frame.text_width(frame.fonts.digits, view.formula);
    words(frame, frame.fonts.title, theme.text, view.title);
    if (both <= room) {
        ImGui::SameLine(0.0F, frame.px(24));
        const float drop = (frame.fonts.title.px - frame.fonts.digits.px) * 0.75F;
        ImGui::SetCursorPosY(ImGui::GetCursorPosY() + drop);
    }
    wrapped_words(frame, frame.fonts.digits, theme.role(view.result.role), view.formula);
    wrapped_words(frame, frame.fonts.body, theme.muted, view.words);
    keep_heading_height(frame, line.y, room);
    return {line, both <= room ? both : title};
}

}  // namespace

void draw_heading(const StepView& view, const Frame& frame) {
    const float right = ImGui::GetCursorScreenPos().x + ImGui::GetContentRegionAvail().x;
    draw_badge(view, frame, draw_words(view, frame), right);
}

}  // namespace attn::ui
