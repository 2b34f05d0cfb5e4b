#include <fmt/format.h>

#include "app/ui/draw.h"
#include "app/ui/panels.h"

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

/// "staged · float32 · 0.04 ms"; a picture without a clock has no time to tell.
std::string computed_words(const view::AppState& state) {
    const char* numbers = state.backend_used == "reference" ? "float64" : "float32";
    const std::string words = state.backend_used + " · " + numbers;
    return state.trace_ms > 0.0 ? fmt::format("{} · {:.2f} ms", words, state.trace_ms) : words;
}

}  // namespace

void draw_bottom_line(const view::AppState& state, const Frame& frame) {
    ImDrawList& list = *ImGui::GetWindowDrawList();
    const ImVec2 low = ImGui::GetCursorScreenPos();
    const ImVec2 room = ImGui::GetContentRegionAvail();
    const ImVec2 high{low.x + room.x, low.y + room.y};
    const std::string timing = computed_words(state);
    const float timing_width = text_size(frame.fonts.small, timing).x + frame.px(24);
    const std::string message =
        fit_text(frame.fonts.body, state.message.words, room.x - timing_width);
    draw_text_in(list, frame.fonts.body, low, high, Align::left,
                 to_u32(color_of(state.message.severity, frame.theme)), message);
    draw_text_in(list, frame.fonts.small, low, high, Align::right, to_u32(frame.theme.muted),
                 timing);
    ImGui::InvisibleButton("message", room);
    tooltip(frame, state.message.words,
            "Time of the last computation and the backend that did it.");
}

}  // namespace attn::ui
