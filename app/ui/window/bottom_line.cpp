#include "app/ui/common/draw.h"
#include "app/ui/window/panels.h"

namespace attn::ui {
namespace {

constexpr float kAside = 0.55F;  // of the line, at most

view::Color color_of(view::Severity severity, const view::Theme& theme) {
    switch (severity) {
        case view::Severity::info:
            return theme.text;
        case view::Severity::warning:
            return theme.warning;
        case view::Severity::error:
            return theme.bad;
    }
    return theme.text;
}

}  // namespace

void draw_bottom_line(const view::Message& said, const std::string& aside, const Frame& frame) {
    const ImVec2 low = ImGui::GetCursorScreenPos();
    const ImVec2 room = ImGui::GetContentRegionAvail();
    const ImVec2 high{low.x + room.x, low.y + room.y};
    const std::string quiet = fit_text(frame, frame.fonts.small, aside, room.x * kAside);
    const float quiet_width = frame.text_width(frame.fonts.small, quiet) + frame.px(24);
    const std::string message = fit_text(frame, frame.fonts.body, said.words, room.x - quiet_width);
    draw_text_in(frame, frame.fonts.body, low, high, Align::left,
                 color_of(said.severity, frame.theme), message);
    draw_text_in(frame, frame.fonts.small, low, high, Align::right, frame.theme.muted, quiet);
    ImGui::InvisibleButton("message", room);
    tooltip(frame, said.words, aside);
}

}  // namespace attn::ui
