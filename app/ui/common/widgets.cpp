#include "app/ui/common/widgets.h"

#include <algorithm>
#include <cmath>

#include "app/ui/common/draw.h"
#include "app/ui/common/imgui_compat.h"
#include "app/ui/common/still.h"

namespace attn::ui {
namespace {

constexpr float kControlHeight = 28.0F;
constexpr float kStepButton = 22.0F;
constexpr float kLeastTrack = 64.0F;
constexpr float kGrab = 6.0F;  // radius
constexpr ImGuiSliderFlags kLogarithmic =
    ImGuiSliderFlags_Logarithmic | ImGuiSliderFlags_AlwaysClamp;

void end_gesture(view::Actions& out) {
    if (ImGui::IsItemDeactivatedAfterEdit()) out.push_back(view::EndGesture{});
}

int to_int(Index value) { return static_cast<int>(value); }

void draw_switch(const Frame& frame, ImVec2 at, ImVec2 size, bool on, bool hovered) {
    const view::Theme& theme = frame.theme;
    const float radius = size.y / 2;
    const view::Color track = on ? theme.accent : hovered ? theme.muted : theme.line;
    frame.painter.rect(at, {at.x + size.x, at.y + size.y}, track, radius);
    const float x = on ? at.x + size.x - radius : at.x + radius;
    frame.painter.circle({x, at.y + radius}, radius - frame.px(2),
                         on ? theme.on_accent : theme.text);
}

/// The toolkit's field without its box: the widget draws its own.
void push_bare_frame() {
    for (const ImGuiCol color : {ImGuiCol_FrameBg, ImGuiCol_FrameBgHovered, ImGuiCol_FrameBgActive})
        ImGui::PushStyleColor(color, {0.0F, 0.0F, 0.0F, 0.0F});
}
void pop_bare_frame() { ImGui::PopStyleColor(3); }

/// − or +; each click is an edit of its own.
bool step_button(const Frame& frame, const char* sign, ImVec2 size, bool possible,
                 view::Actions& out) {
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const bool clicked = ImGui::InvisibleButton(sign, size) && possible;
    const bool hovered = ImGui::IsItemHovered() && possible;
    const view::Theme& theme = frame.theme;
    const view::Color color =
        view::translucent(hovered ? theme.accent : theme.muted, possible ? 1.0 : 0.35);
    const ImVec2 middle{std::round(at.x + size.x / 2), std::round(at.y + size.y / 2)};
    const float arm = frame.px(3.5F);
    frame.painter.line({middle.x - arm, middle.y}, {middle.x + arm, middle.y}, color, frame.px(1));
    if (*sign == '+')
        frame.painter.line({middle.x, middle.y - arm}, {middle.x, middle.y + arm}, color,
                           frame.px(1));
    if (clicked) out.push_back(view::EndGesture{});
    return clicked;
}

/// How far along a log track a value stands, 0…1.
template <class Number>
float log_share(Number value, Number low, Number high) {
    const double from = std::log(static_cast<double>(low));
    const double to = std::log(static_cast<double>(high));
    const double at = std::log(static_cast<double>(value));
    return static_cast<float>(std::clamp((at - from) / (to - from), 0.0, 1.0));
}

struct Track {
    const SliderWords& words;
    float width;  // of label, track and value
    float share;  // where the grab stands
};

void draw_track(const Frame& frame, ImVec2 low, ImVec2 high, float share) {
    const view::Theme& theme = frame.theme;
    const float radius = frame.px(kGrab);
    const float y = (low.y + high.y) / 2;
    const float x = low.x + radius + (high.x - low.x - 2 * radius) * share;
    const bool busy = ImGui::IsItemActive() || ImGui::IsItemHovered();
    const view::Color grab = busy ? theme.accent : theme.text;
    frame.painter.line({low.x, y}, {high.x, y}, theme.line, frame.px(3));
    frame.painter.line({low.x, y}, {x, y}, theme.muted, frame.px(3));
    frame.painter.circle({x, y}, radius, grab);
}

float slider_text_width(const Frame& frame, const SliderWords& words) {
    return frame.text_width(frame.fonts.body, words.label) +
           frame.text_width(frame.fonts.digits, words.widest) + frame.px(16);
}

/// Label, track, value. The toolkit's own slider lies unseen over the track, so that dragging,
/// Ctrl+click and Tab work as everywhere; while it is typed into it is seen instead of the track.
template <class Slider>
bool draw_slider(const Frame& frame, const char* id, const Track& track, Slider slider) {
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float height = ImGui::GetFrameHeight();
    const float length = track.width - slider_text_width(frame, track.words);
    const float left = at.x + frame.text_width(frame.fonts.body, track.words.label) + frame.px(8);
    draw_text_in(frame, frame.fonts.body, at, {left, at.y + height}, Align::left, frame.theme.text,
                 track.words.label);
    draw_text_in(frame, frame.fonts.digits, {left, at.y}, {at.x + track.width, at.y + height},
                 Align::right, frame.theme.text, track.words.value);
    ImGui::BeginGroup();
    ImGui::SetCursorScreenPos({left, at.y});
    ImGui::SetNextItemWidth(length);
    const bool typing = is_typed_into(id);
    if (!typing) ImGui::PushStyleVar(ImGuiStyleVar_Alpha, 0.0F);
    const bool changed = slider();
    if (!typing) ImGui::PopStyleVar();
    if (!typing) draw_track(frame, {left, at.y}, {left + length, at.y + height}, track.share);
    ImGui::SetCursorScreenPos({left + length, at.y});
    ImGui::Dummy({at.x + track.width - left - length, height});
    ImGui::EndGroup();
    return changed;
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
    const bool hovered = ImGui::IsItemHovered();
    const ImVec2 size{frame.px(28), frame.px(16)};
    draw_switch(frame, {at.x, at.y + (height - size.y) / 2}, size, on, hovered);
    const float x = at.x + size.x + frame.px(8);
    draw_text_in(frame, frame.fonts.body, {x, at.y}, {x, at.y + height}, Align::left,
                 on ? frame.theme.text : frame.theme.muted, words);
    tooltip(frame, tip.heading, tip.words);
    if (!clicked) return std::nullopt;
    return !on;
}

float number_width(const Frame& frame, const std::string& words, Index high) {
    const std::string text = words + "  " + std::to_string(high);
    return frame.text_width(frame.fonts.body, text) + frame.px(2 * kStepButton + 4);
}

std::optional<Index> number_field(const Frame& frame, const char* id, const char* words,
                                  Index value, Index low, Index high, float width, const Tip& tip,
                                  view::Actions& out) {
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float height = ImGui::GetFrameHeight();
    const float step = frame.px(kStepButton);
    frame.painter.rect(at, {at.x + width, at.y + height}, frame.theme.raised, frame.px(4));
    ImGui::PushID(id);
    Index chosen = value;
    if (step_button(frame, "-", {step, height}, value > low, out)) chosen = value - 1;
    ImGui::SameLine(0.0F, 0.0F);
    int number = to_int(value);
    push_bare_frame();
    ImGui::SetNextItemWidth(width - 2 * step);
    if (ImGui::DragInt("##number", &number, 0.1F, to_int(low), to_int(high),
                       (std::string(words) + "  %d").c_str(), ImGuiSliderFlags_AlwaysClamp))
        chosen = number;
    pop_bare_frame();
    if (frame.still)
        draw_text_in(frame, frame.fonts.body, ImGui::GetItemRectMin(), ImGui::GetItemRectMax(),
                     Align::center, frame.theme.text,
                     std::string(words) + "  " + std::to_string(value));
    end_gesture(out);
    if (ImGui::IsItemHovered()) ImGui::SetMouseCursor(ImGuiMouseCursor_ResizeEW);
    tooltip(frame, tip.heading, tip.words);
    ImGui::SameLine(0.0F, 0.0F);
    if (step_button(frame, "+", {step, height}, value < high, out)) chosen = value + 1;
    ImGui::PopID();
    if (chosen == value) return std::nullopt;
    return chosen;
}

float slider_width(const Frame& frame, const SliderWords& words) {
    return frame.px(kLeastTrack) + slider_text_width(frame, words);
}

std::optional<Index> log_slider(const Frame& frame, const char* id, const SliderWords& words,
                                Index value, Index low, Index high, float width, const Tip& tip,
                                view::Actions& out) {
    int number = to_int(value);
    const auto draw = [&] {
        return ImGui::SliderInt(id, &number, to_int(low), to_int(high), "%d", kLogarithmic);
    };
    const Track track{words, width, log_share(value, low, high)};
    const bool changed = draw_slider(frame, id, track, draw);
    end_gesture(out);
    tooltip(frame, tip.heading, tip.words);
    if (!changed || number == to_int(value)) return std::nullopt;
    return number;
}

std::optional<double> real_slider(const Frame& frame, const char* id, const SliderWords& words,
                                  double value, double low, double high, float width,
                                  const Tip& tip, view::Actions& out) {
    double number = value;
    const auto draw = [&] {
        return ImGui::SliderScalar(id, ImGuiDataType_Double, &number, &low, &high, "%.2f",
                                   kLogarithmic);
    };
    const Track track{words, width, log_share(value, low, high)};
    const bool changed = draw_slider(frame, id, track, draw);
    end_gesture(out);
    tooltip(frame, tip.heading, tip.words);
    if (!changed || number == value) return std::nullopt;
    return number;
}

bool button(const Frame& frame, const char* id, const std::string& words, const Tip& tip) {
    const bool clicked = ImGui::Button((words + "###" + id).c_str());
    still_button(frame, frame.theme.text, words);
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
        still_button(frame, color, words[static_cast<std::size_t>(n)]);
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

}  // namespace attn::ui
