#include "app/common/draw/list_field.h"

#include <algorithm>

#include "app/common/draw/draw.h"
#include "app/common/draw/focus.h"
#include "app/common/draw/typing.h"

namespace attn::ui {
namespace {

// Design units.
constexpr float kLeast = 200.0F;
constexpr float kMost = 420.0F;

void draw_closed(const Frame& frame, const char* id, ImVec2 low, ImVec2 high,
                 const std::string& text, const Tip& tip, view::Actions& out) {
    ImGui::InvisibleButton(id, {high.x - low.x, high.y - low.y});
    const bool hovered = ImGui::IsItemHovered();
    if (ImGui::IsItemActivated()) begin_typing(ImGui::GetID(id), text, out);
    frame.painter.rect(low, high, frame.theme.raised, frame.px(4));
    if (hovered) ImGui::SetMouseCursor(ImGuiMouseCursor_TextInput);
    if (hovered) frame.painter.outline(low, high, frame.theme.muted, frame.px(1), frame.px(4));
    const float pad = frame.px(8);
    draw_text_in(frame, frame.fonts.digits, {low.x + pad, low.y}, high, Align::left,
                 frame.theme.text,
                 fit_text(frame, frame.fonts.digits, text, high.x - low.x - 2 * pad));
    tooltip(frame, tip.heading, tip.words);
}

}  // namespace

std::optional<std::string> list_field(const Frame& frame, const char* id, const char* label,
                                      const std::string& text, const Tip& tip, view::Actions& out) {
    const float words = frame.text_width(frame.fonts.body, label) + frame.px(8);
    const float wanted = frame.text_width(frame.fonts.digits, text) + frame.px(16);
    const float width = within(wanted, frame.px(kLeast), frame.px(kMost));
    flow(frame, words + width);
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const ImVec2 low{at.x + words, at.y};
    const ImVec2 high{low.x + width, at.y + ImGui::GetFrameHeight()};
    draw_text_in(frame, frame.fonts.body, at, {low.x, high.y}, Align::left, frame.theme.muted,
                 label);
    std::optional<std::string> typed;
    ImGui::BeginGroup();
    ImGui::SetCursorScreenPos(low);
    const ImGuiID control = ImGui::GetID(id);
    if (is_typed_into(frame, control))
        typed = type_in_place(frame, control, low, high, out);
    else
        draw_closed(frame, id, low, high, text, tip, out);
    ImGui::EndGroup();
    if (focus_stop(frame, control, low, high)) begin_typing_by_key(frame, control, text, out);
    return typed;
}

}  // namespace attn::ui
