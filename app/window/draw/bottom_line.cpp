#include "app/common/draw/draw.h"
#include "app/window/draw/panels.h"

namespace attn::ui {
namespace {

constexpr float kLeastAside = 0.6F;  // of the quiet words: less of them says nothing

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

/// The quiet words in `width`: all of them, else what stands before the first semicolon, else most of
/// them, else none.
std::string fit_aside(const std::string& aside, float width, const Frame& frame) {
    const Font& font = frame.fonts.small;
    if (width <= 0.0F) return {};
    const std::string brief = aside.substr(0, aside.find(';'));
    for (const std::string& words : {aside, brief})
        if (frame.text_width(font, words) <= width) return words;
    const bool most = frame.text_width(font, brief) * kLeastAside <= width;
    return most ? fit_text(frame, font, brief, width) : std::string();
}

}  // namespace

void draw_bottom_line(const view::Message& said, const std::string& aside, const Frame& frame) {
    const ImVec2 low = ImGui::GetCursorScreenPos();
    const ImVec2 room = ImGui::GetContentRegionAvail();
    const ImVec2 high{low.x + room.x, low.y + room.y};
    const std::string message = fit_text(frame, frame.fonts.body, said.words, room.x);
    const float left = room.x - frame.text_width(frame.fonts.body, message) - frame.px(24);
    draw_text_in(frame, frame.fonts.body, low, high, Align::left,
                 color_of(said.severity, frame.theme), message);
    draw_text_in(frame, frame.fonts.small, low, high, Align::right, frame.theme.muted,
                 fit_aside(aside, left, frame));
    ImGui::InvisibleButton("message", room);
    tooltip(frame, said.words, aside);
}

}  // namespace attn::ui
