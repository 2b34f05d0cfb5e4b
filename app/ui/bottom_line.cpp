#include "app/ui/draw.h"
#include "app/ui/panels.h"
#include "app/view/wishes.h"

namespace attn::ui {
namespace {

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

void draw_bottom_line(const view::AppState& state, const Frame& frame) {
    ImDrawList& list = *ImGui::GetWindowDrawList();
    const ImVec2 low = ImGui::GetCursorScreenPos();
    const ImVec2 room = ImGui::GetContentRegionAvail();
    const ImVec2 high{low.x + room.x, low.y + room.y};
    const std::string timing = view::computed_words(state);
    const float timing_width = text_size(frame.fonts.small, timing).x + frame.px(24);
    const std::string message =
        fit_text(frame.fonts.body, state.message.words, room.x - timing_width);
    draw_text_in(list, frame.fonts.body, low, high, Align::left,
                 to_u32(color_of(state.message.severity, frame.theme)), message);
    draw_text_in(list, frame.fonts.small, low, high, Align::right, to_u32(frame.theme.muted),
                 timing);
    ImGui::InvisibleButton("message", room);
    tooltip(frame, state.message.words,
            "Right: the backend that computed the numbers on screen, and its time.");
}

}  // namespace attn::ui
