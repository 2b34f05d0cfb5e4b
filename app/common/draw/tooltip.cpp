#include <algorithm>

#include "app/common/draw/draw.h"

namespace attn::ui {
namespace {

// Design units.
constexpr float kWrap = 420.0F;
constexpr float kTooltipGap = 8.0F;  // between the tooltip and what it explains
constexpr float kPointer = 20.0F;    // around the pointer on what is larger than a control
constexpr float kControl = 72.0F;    // the tallest thing that a tooltip stands beneath

struct Text {
    const std::string& heading;
    const std::string& words;
};

ImVec2 padding(const Frame& frame) { return {frame.px(12), frame.px(8)}; }

/// Of the whole tooltip, before it is drawn.
ImVec2 size_of(const Frame& frame, const Text& text) {
    const ImVec2 pad = padding(frame);
    ImVec2 size{0.0F, 0.0F};
    for (const std::string* part : {&text.heading, &text.words}) {
        if (part->empty()) continue;
        const ImVec2 line = ImGui::CalcTextSize(part->c_str(), nullptr, false, frame.px(kWrap));
        const float gap = size.y > 0.0F ? ImGui::GetStyle().ItemSpacing.y : 0.0F;
        size = {std::max(size.x, line.x), size.y + gap + line.y};
    }
    return {size.x + 2 * pad.x, size.y + 2 * pad.y};
}

bool fits(ImVec2 at, ImVec2 size) {
    const ImVec2 display = ImGui::GetIO().DisplaySize;
    return at.x >= 0.0F && at.y >= 0.0F && at.x + size.x <= display.x && at.y + size.y <= display.y;
}

ImVec2 on_screen(ImVec2 at, ImVec2 size) {
    const ImVec2 display = ImGui::GetIO().DisplaySize;
    return {within(at.x, 0.0F, display.x - size.x), within(at.y, 0.0F, display.y - size.y)};
}

/// Beside `low` … `high`: beneath or to the right first, then where there is room.
ImVec2 place(const Frame& frame, ImVec2 low, ImVec2 high, ImVec2 size, Beside first) {
    const float gap = frame.px(kTooltipGap);
    const ImVec2 below{low.x, high.y + gap};
    const ImVec2 above{low.x, low.y - gap - size.y};
    const ImVec2 right{high.x + gap, low.y};
    const ImVec2 left{low.x - gap - size.x, low.y};
    const bool beneath = first == Beside::below;
    const ImVec2 order[] = {beneath ? below : right, beneath ? above : left,
                            beneath ? right : below, beneath ? left : above};
    for (const ImVec2 at : order) {
        const bool vertical = at.y != low.y;
        const ImVec2 inside = on_screen(at, size);
        const ImVec2 slid = vertical ? ImVec2{inside.x, at.y} : ImVec2{at.x, inside.y};
        if (fits(slid, size)) return slid;
    }
    return on_screen(order[0], size);
}

void draw_words(const Frame& frame, const Text& text) {
    ImGui::PushTextWrapPos(frame.px(kWrap) + padding(frame).x);
    if (!text.heading.empty()) ImGui::TextUnformatted(text.heading.c_str());
    ImGui::PushStyleColor(ImGuiCol_Text, to_vec4(frame.theme.muted));
    if (!text.words.empty()) ImGui::TextUnformatted(text.words.c_str());
    ImGui::PopStyleColor();
    ImGui::PopTextWrapPos();
}

void draw_tooltip(const Frame& frame, ImVec2 low, ImVec2 high, Beside first, const Text& text) {
    ImGui::SetNextWindowPos(place(frame, low, high, size_of(frame, text), first));
    ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, padding(frame));
    ImGui::BeginTooltip();
    draw_words(frame, text);
    ImGui::EndTooltip();
    ImGui::PopStyleVar();
}

bool is_wanted(const Frame& frame, const Text& text) {
    if (frame.quiet || (text.heading.empty() && text.words.empty())) return false;
    if (!ImGui::IsItemHovered(ImGuiHoveredFlags_AllowWhenDisabled)) return false;
    return !ImGui::IsItemActive();  // it would cover the value while a slider is pulled
}

}  // namespace

void tooltip_beside(const Frame& frame, ImVec2 low, ImVec2 high, Beside first,
                    const std::string& heading, const std::string& words) {
    const Text text{heading, words};
    if (is_wanted(frame, text)) draw_tooltip(frame, low, high, first, text);
}

void tooltip_at_pointer(const Frame& frame, const std::string& heading, const std::string& words) {
    if (frame.quiet) return;
    const ImVec2 at = ImGui::GetMousePos();
    const float away = frame.px(kPointer);
    draw_tooltip(frame, {at.x - away, at.y - away}, {at.x + away, at.y + away}, Beside::below,
                 {heading, words});
}

void tooltip(const Frame& frame, const std::string& heading, const std::string& words) {
    const ImVec2 low = ImGui::GetItemRectMin();
    const ImVec2 high = ImGui::GetItemRectMax();
    if (high.y - low.y <= frame.px(kControl))
        return tooltip_beside(frame, low, high, Beside::below, heading, words);
    const ImVec2 at = ImGui::GetMousePos();
    const float away = frame.px(kPointer);
    tooltip_beside(frame, {at.x - away, at.y - away}, {at.x + away, at.y + away}, Beside::right,
                   heading, words);
}

}  // namespace attn::ui
