#include "app/common/draw/widgets.h"

#include <algorithm>
#include <cmath>

#include "app/common/draw/draw.h"
#include "app/common/draw/focus.h"
#include "app/common/draw/imgui_compat.h"

namespace attn::ui {
namespace {

using view::Key;

constexpr float kControlHeight = 28.0F;

void draw_switch(const Frame& frame, ImVec2 at, ImVec2 size, bool on, bool hovered) {
    const view::Theme& theme = frame.theme;
    const float radius = size.y / 2;
    const view::Color track = on ? theme.accent : hovered ? theme.muted : theme.control;
    frame.painter.rect(at, {at.x + size.x, at.y + size.y}, track, radius);
    const float x = on ? at.x + size.x - radius : at.x + radius;
    frame.painter.circle({x, at.y + radius}, radius - frame.px(2),
                         on ? theme.on_accent : theme.background);
}

/// A box with words in it; how it looks depends on the mouse.
bool plain_button(const Frame& frame, const char* id, const std::string& words, view::Color color) {
    const ImVec2 low = ImGui::GetCursorScreenPos();
    const ImVec2 size{button_width(frame, words), ImGui::GetFrameHeight()};
    const ImVec2 high{low.x + size.x, low.y + size.y};
    const bool clicked = ImGui::InvisibleButton(id, size);
    const view::Theme& theme = frame.theme;
    const bool hovered = ImGui::IsItemHovered();
    const view::Color fill = ImGui::IsItemActive() ? view::blend(theme.line, theme.accent, 0.4)
                             : hovered             ? theme.line
                                                   : theme.raised;
    draw_box(frame, low, high, fill);
    draw_text_in(frame, frame.fonts.body, low, high, Align::center, color, words);
    return clicked;
}

}  // namespace

float toggle_width(const Frame& frame, const std::string& words) {
    return frame.px(28 + 8) + frame.text_width(frame.fonts.body, words);
}

float button_width(const Frame& frame, const std::string& words) {
    return frame.text_width(frame.fonts.body, words) + 2 * ImGui::GetStyle().FramePadding.x;
}

std::optional<bool> toggle(const Frame& frame, const char* id, const std::string& words, bool on,
                           const Tip& tip) {
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float height = frame.px(kControlHeight);
    const bool clicked = ImGui::InvisibleButton(id, {toggle_width(frame, words), height});
    const bool pressed = pressed_by_key(frame);
    const bool hovered = ImGui::IsItemHovered();
    const ImVec2 size{frame.px(28), frame.px(16)};
    draw_switch(frame, {at.x, at.y + (height - size.y) / 2}, size, on, hovered);
    const float x = at.x + size.x + frame.px(8);
    draw_text_in(frame, frame.fonts.body, {x, at.y}, {x, at.y + height}, Align::left,
                 on ? frame.theme.text : frame.theme.muted, words);
    tooltip(frame, tip.heading, tip.words);
    if (!clicked && !pressed) return std::nullopt;
    return !on;
}

bool button(const Frame& frame, const char* id, const std::string& words, const Tip& tip) {
    const bool clicked = plain_button(frame, id, words, frame.theme.text);
    const bool pressed = pressed_by_key(frame);
    tooltip(frame, tip.heading, tip.words);
    return clicked || pressed;
}

namespace {

/// Arrow keys go from one to the next, Enter and Space around.
std::optional<int> chosen_by_key(const Frame& frame, int count, int current) {
    int next = current + list_steps(frame);
    if (take_key(frame, Key::enter) || take_key(frame, Key::space)) next = (current + 1) % count;
    if (next == current || next < 0 || next >= count) return std::nullopt;
    return next;
}

}  // namespace

std::optional<int> choice(const Frame& frame, const char* id, const std::vector<std::string>& words,
                          int current, const Tip& tip) {
    const int count = static_cast<int>(words.size());
    const ImVec2 low = ImGui::GetCursorScreenPos();
    std::optional<int> clicked;
    ImGui::PushID(id);
    ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {frame.px(2), frame.px(8)});
    for (int n = 0; n < count; ++n) {
        if (n > 0) ImGui::SameLine();
        const view::Color color = n == current ? frame.theme.accent : frame.theme.muted;
        ImGui::PushID(n);
        const std::string& name = words[static_cast<std::size_t>(n)];
        if (plain_button(frame, "button", name, color) && n != current) clicked = n;
        ImGui::PopID();
        tooltip(frame, tip.heading, tip.words);
    }
    if (focus_stop(frame, ImGui::GetID("choice"), low, ImGui::GetItemRectMax()) && !clicked)
        clicked = chosen_by_key(frame, count, current);
    ImGui::PopStyleVar();
    ImGui::PopID();
    return clicked;
}

void flow(const Frame& frame, float width) {
    ImGui::SameLine(0.0F, frame.px(16));
    if (ImGui::GetContentRegionAvail().x < width) ImGui::NewLine();
}

}  // namespace attn::ui
