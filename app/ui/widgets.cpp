#include "app/ui/widgets.h"

#include <algorithm>
#include <cmath>

#include "app/ui/draw.h"
#include "app/ui/imgui_compat.h"

namespace attn::ui {
namespace {

constexpr float kControlHeight = 28.0F;
constexpr ImGuiSliderFlags kLogarithmic =
    ImGuiSliderFlags_Logarithmic | ImGuiSliderFlags_AlwaysClamp;

void end_gesture(view::Actions& out) {
    if (ImGui::IsItemDeactivatedAfterEdit()) out.push_back(view::EndGesture{});
}

/// The words before the number are part of ImGui's format: "d_k %d".
std::string with_number(const char* words, const char* format) {
    return std::string(words) + "  " + format;
}

int to_int(Index value) { return static_cast<int>(value); }

void draw_switch(const Frame& frame, ImVec2 at, ImVec2 size, bool on, bool hovered) {
    ImDrawList& list = *ImGui::GetWindowDrawList();
    const view::Theme& theme = frame.theme;
    const float radius = size.y / 2;
    const view::Color track = on ? theme.accent : hovered ? theme.muted : theme.line;
    list.AddRectFilled(at, {at.x + size.x, at.y + size.y}, to_u32(track), radius);
    const float x = on ? at.x + size.x - radius : at.x + radius;
    list.AddCircleFilled({x, at.y + radius}, radius - frame.px(2),
                         to_u32(on ? theme.on_accent : theme.text), 16);
}

}  // namespace

float toggle_width(const Frame& frame, const std::string& words) {
    return frame.px(28 + 8) + text_size(frame.fonts.body, words).x;
}

float button_width(const Frame& frame, const std::string& words) {
    return text_size(frame.fonts.body, words).x + 2 * ImGui::GetStyle().FramePadding.x;
}

std::optional<bool> toggle(const Frame& frame, const char* id, const std::string& words, bool on,
                           const Tip& tip) {
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float height = frame.px(kControlHeight);
    const bool clicked = ImGui::InvisibleButton(id, {toggle_width(frame, words), height});
    const bool hovered = ImGui::IsItemHovered();
    const ImVec2 size{frame.px(28), frame.px(16)};
    draw_switch(frame, {at.x, at.y + (height - size.y) / 2}, size, on, hovered);
    const float x = at.x + size.x + frame.px(8);
    draw_text_in(*ImGui::GetWindowDrawList(), frame.fonts.body, {x, at.y}, {x, at.y + height},
                 Align::left, to_u32(on ? frame.theme.text : frame.theme.muted), words);
    tooltip(frame, tip.heading, tip.words);
    if (!clicked) return std::nullopt;
    return !on;
}

std::optional<Index> number_field(const Frame& frame, const char* id, const char* words,
                                  Index value, Index low, Index high, float width, const Tip& tip,
                                  view::Actions& out) {
    int number = to_int(value);
    ImGui::SetNextItemWidth(width);
    const bool changed =
        ImGui::DragInt(id, &number, 0.1F, to_int(low), to_int(high),
                       with_number(words, "%d").c_str(), ImGuiSliderFlags_AlwaysClamp);
    end_gesture(out);
    if (ImGui::IsItemHovered()) ImGui::SetMouseCursor(ImGuiMouseCursor_ResizeEW);
    tooltip(frame, tip.heading, tip.words);
    if (!changed || number == to_int(value)) return std::nullopt;
    return number;
}

std::optional<Index> log_slider(const Frame& frame, const char* id, const char* words, Index value,
                                Index low, Index high, float width, const Tip& tip,
                                view::Actions& out) {
    int number = to_int(value);
    ImGui::SetNextItemWidth(width);
    const bool changed = ImGui::SliderInt(id, &number, to_int(low), to_int(high),
                                          with_number(words, "%d").c_str(), kLogarithmic);
    end_gesture(out);
    tooltip(frame, tip.heading, tip.words);
    if (!changed || number == to_int(value)) return std::nullopt;
    return number;
}

std::optional<double> real_slider(const Frame& frame, const char* id, const char* format,
                                  double value, double low, double high, float width,
                                  const Tip& tip, view::Actions& out) {
    double number = value;
    ImGui::SetNextItemWidth(width);
    const bool changed =
        ImGui::SliderScalar(id, ImGuiDataType_Double, &number, &low, &high, format, kLogarithmic);
    end_gesture(out);
    tooltip(frame, tip.heading, tip.words);
    if (!changed || number == value) return std::nullopt;
    return number;
}

bool button(const Frame& frame, const char* id, const std::string& words, const Tip& tip) {
    const bool clicked = ImGui::Button((words + "###" + id).c_str());
    tooltip(frame, tip.heading, tip.words);
    return clicked;
}

std::optional<int> choice(const Frame& frame, const char* id, const std::vector<std::string>& words,
                          int current, const Tip& tip) {
    std::optional<int> clicked;
    ImGui::PushID(id);
    ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {frame.px(2), frame.px(8)});
    for (int n = 0; n < static_cast<int>(words.size()); ++n) {
        if (n > 0) ImGui::SameLine();
        const view::Color color = n == current ? frame.theme.accent : frame.theme.muted;
        ImGui::PushID(n);
        ImGui::PushStyleColor(ImGuiCol_Text, to_vec4(color));
        if (ImGui::Button(words[static_cast<std::size_t>(n)].c_str()) && n != current) clicked = n;
        ImGui::PopStyleColor();
        ImGui::PopID();
        tooltip(frame, tip.heading, tip.words);
    }
    ImGui::PopStyleVar();
    ImGui::PopID();
    return clicked;
}

void flow(const Frame& frame, float width) {
    ImGui::SameLine(0.0F, frame.px(16));
    if (ImGui::GetContentRegionAvail().x < width) ImGui::NewLine();
}

void words(const Font& font, view::Color color, const std::string& text) {
    push_font(font);
    ImGui::PushStyleColor(ImGuiCol_Text, to_vec4(color));
    ImGui::TextUnformatted(text.c_str());
    ImGui::PopStyleColor();
    pop_font();
}

void wrapped_words(const Font& font, view::Color color, const std::string& text) {
    if (text.empty()) return;
    ImGui::PushTextWrapPos(0.0F);
    words(font, color, text);
    ImGui::PopTextWrapPos();
}

}  // namespace attn::ui
