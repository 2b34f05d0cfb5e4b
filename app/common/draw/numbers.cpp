#include <algorithm>
#include <cmath>
#include <limits>

#include "app/common/draw/draw.h"
#include "app/common/draw/focus.h"
#include "app/common/draw/imgui_compat.h"
#include "app/common/draw/typing.h"
#include "app/common/draw/widgets.h"
#include "app/common/typed.h"

namespace attn::ui {
namespace {

using view::Key;

// Design units.
constexpr float kStepButton = 22.0F;
constexpr float kPad = 4.0F;        // beside the words of a number field
constexpr float kDragStep = 8.0F;   // of the mouse for a step of 1
constexpr std::int64_t kFast = 10;  // times as fast with Shift
constexpr std::size_t kSeedDigits = 6;

/// − or +.
bool step_button(const Frame& frame, const char* sign, ImVec2 size, bool possible) {
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const bool clicked = ImGui::InvisibleButton(sign, size) && possible;
    const bool hovered = ImGui::IsItemHovered() && possible;
    const view::Theme& theme = frame.theme;
    const view::Color color = !possible ? theme.control : hovered ? theme.accent : theme.text;
    const ImVec2 middle{std::round(at.x + size.x / 2), std::round(at.y + size.y / 2)};
    const float arm = frame.px(3.5F);
    frame.painter.line({middle.x - arm, middle.y}, {middle.x + arm, middle.y}, color, frame.px(1));
    if (*sign == '+')
        frame.painter.line({middle.x, middle.y - arm}, {middle.x, middle.y + arm}, color,
                           frame.px(1));
    return clicked;
}

/// A whole number with its limits: an Index, or a seed up to 2^64 - 1.
template <class Whole>
struct Number {
    const char* words;
    Whole value, low, high;

    /// So many steps on, no further than the limits.
    Whole moved(std::int64_t steps) const {
        using Wide = std::uint64_t;
        const Wide up = value < high ? static_cast<Wide>(high) - static_cast<Wide>(value) : 0;
        const Wide down = value > low ? static_cast<Wide>(value) - static_cast<Wide>(low) : 0;
        const auto size = static_cast<Wide>(std::abs(steps));
        if (steps >= 0) return static_cast<Whole>(static_cast<Wide>(value) + std::min(size, up));
        return static_cast<Whole>(static_cast<Wide>(value) - std::min(size, down));
    }
};

/// Steps that the mouse went in this frame while it holds the last item: what it went in all now,
/// less what it had gone before.
std::int64_t dragged_steps(const Frame& frame) {
    if (!ImGui::IsItemActive() || ImGui::IsItemActivated()) return 0;
    const float step = frame.px(kDragStep);
    const float now = ImGui::GetMouseDragDelta(ImGuiMouseButton_Left, 0.0F).x;
    const float before = now - ImGui::GetIO().MouseDelta.x;
    const auto steps =
        static_cast<std::int64_t>(std::trunc(now / step) - std::trunc(before / step));
    return ImGui::GetIO().KeyShift ? kFast * steps : steps;
}

std::optional<Index> typed_as(const std::string& text, Index) { return view::typed_whole(text); }
std::optional<std::uint64_t> typed_as(const std::string& text, std::uint64_t) {
    return view::typed_seed(text);
}

void draw_number(const Frame& frame, ImVec2 low, ImVec2 high, const char* words,
                 const std::string& value) {
    const float pad = frame.px(kPad);
    const ImVec2 from{low.x + pad, low.y};
    const ImVec2 to{high.x - pad, high.y};
    const view::Color color =
        ImGui::IsItemActive() || ImGui::IsItemHovered() ? frame.theme.accent : frame.theme.text;
    draw_text_in(frame, frame.fonts.body, from, to, Align::left, frame.theme.muted, words);
    draw_text_in(frame, frame.fonts.digits, from, to, Align::right, color, value);
}

/// The middle of a number field: words and value, dragged, or the field that is typed into.
template <class Whole>
Whole draw_middle(const Frame& frame, ImGuiID control, const Number<Whole>& number, ImVec2 size,
                  const Tip& tip, view::Actions& out) {
    const ImVec2 low = ImGui::GetCursorScreenPos();
    const ImVec2 high{low.x + size.x, low.y + size.y};
    const std::string value = std::to_string(number.value);
    if (is_typed_into(frame, control)) {
        const auto text = type_in_place(frame, control, low, high, out);
        if (!text) return number.value;
        const auto typed = typed_as(*text, number.value);
        if (!typed) refuse(*text, "a whole number", number.words, value, out);
        return typed.value_or(number.value);
    }
    ImGui::InvisibleButton("number", size);
    const bool opened = opens_typing();
    say_gesture(opened, out);
    if (opened) begin_typing(control, value, out);
    draw_number(frame, low, high, number.words, value);
    if (ImGui::IsItemHovered()) ImGui::SetMouseCursor(ImGuiMouseCursor_ResizeEW);
    tooltip(frame, tip.heading, tip.words);
    return opened ? number.value : number.moved(dragged_steps(frame) + wheel_steps());
}

template <class Whole>
std::optional<Whole> draw_field(const Frame& frame, const char* id, const Number<Whole>& number,
                                float width, const Tip& tip, view::Actions& out) {
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const ImVec2 button{frame.px(kStepButton), ImGui::GetFrameHeight()};
    const ImVec2 end{at.x + width, at.y + button.y};
    draw_box(frame, at, end, frame.theme.raised);
    ImGui::PushID(id);
    const ImGuiID control = ImGui::GetID("number");
    Whole chosen = number.value;
    if (step_button(frame, "-", button, number.value > number.low)) chosen = number.moved(-1);
    ImGui::SameLine(0.0F, 0.0F);
    const Whole middle =
        draw_middle(frame, control, number, {width - 2 * button.x, button.y}, tip, out);
    if (middle != number.value) chosen = middle;
    ImGui::SameLine(0.0F, 0.0F);
    if (step_button(frame, "+", button, number.value < number.high)) chosen = number.moved(1);
    if (focus_stop(frame, control, at, end)) {
        if (const int steps = arrow_steps(frame)) chosen = number.moved(steps);
        begin_typing_by_key(frame, control, std::to_string(number.value), out);
    }
    ImGui::PopID();
    if (chosen == number.value) return std::nullopt;
    return chosen;
}

float field_width(const Frame& frame, const std::string& words, std::size_t digits) {
    return frame.text_width(frame.fonts.body, words) +
           frame.text_width(frame.fonts.digits, std::string(digits, '0')) +
           frame.px(2 * kStepButton + 2 * kPad + 8);
}

}  // namespace

float number_width(const Frame& frame, const std::string& words, Index high) {
    return field_width(frame, words, std::to_string(high).size());
}

float seed_width(const Frame& frame, std::uint64_t seed) {
    return field_width(frame, "seed", std::max(kSeedDigits, std::to_string(seed).size()));
}

std::optional<Index> number_field(const Frame& frame, const char* id, const char* words,
                                  Index value, Index low, Index high, float width, const Tip& tip,
                                  view::Actions& out) {
    return draw_field(frame, id, Number<Index>{words, value, low, high}, width, tip, out);
}

std::optional<std::uint64_t> seed_field(const Frame& frame, const char* id, std::uint64_t value,
                                        float width, const Tip& tip, view::Actions& out) {
    constexpr std::uint64_t kLast = std::numeric_limits<std::uint64_t>::max();
    return draw_field(frame, id, Number<std::uint64_t>{"seed", value, 0, kLast}, width, tip, out);
}

}  // namespace attn::ui
