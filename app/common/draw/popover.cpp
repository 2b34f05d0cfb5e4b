#include "app/common/draw/popover.h"

#include "app/common/actions.h"
#include "app/common/draw/focus.h"
#include "app/common/draw/imgui_compat.h"
#include "app/common/state.h"

namespace attn::ui {
namespace {

constexpr float kUnderButton = 6.0F;  // design units

constexpr ImGuiWindowFlags kPopover =
    ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoSavedSettings |
    ImGuiWindowFlags_NoBackground | ImGuiWindowFlags_NoFocusOnAppearing;

bool is_left(const PopoverButton& button, ImVec2 low, ImVec2 high, const Frame& frame,
             Actions& out) {
    if (frame.focus == nullptr) return false;
    const Hands& hands = frame.focus->hands();
    if (hands.overlay || hands.list) return false;
    const bool clicked = ImGui::IsMouseClicked(ImGuiMouseButton_Left) &&
                         !ImGui::IsMouseHoveringRect(low, high, false) &&
                         !ImGui::IsMouseHoveringRect(button.low, button.high, false);
    const bool escape = !hands.typing && take_key(frame, Key::escape);
    if (escape && frame.focus->focus().control != 0) out.push_back(FocusControl{button.control});
    return clicked || escape;
}

}  // namespace

PopoverButton popover_button(const Frame& frame, const char* id, const std::string& text,
                             const Tip& tip) {
    const bool pressed = button(frame, id, text, tip);
    return {ImGui::GetItemRectMin(), ImGui::GetItemRectMax(), last_item_id(), pressed};
}

float popover_space(const PopoverButton& button, const Frame& frame) {
    return ImGui::GetIO().DisplaySize.y - button.high.y - frame.px(kUnderButton + 2 * kSpace16);
}

bool draw_popover(const char* id, const PopoverButton& button, ImVec2 size, const Frame& frame,
                  Actions& out, const std::function<void(ImVec2 low)>& draw) {
    const float pad = frame.px(kSpace16);
    const float space = popover_space(button, frame);
    const ImVec2 whole{2 * pad + size.x, 2 * pad + std::min(size.y, space)};
    const float edge = ImGui::GetStyle().DisplaySafeAreaPadding.x;
    const float right = std::min(button.high.x, ImGui::GetIO().DisplaySize.x - edge);
    const ImVec2 low{std::max(0.0F, right - whole.x), button.high.y + frame.px(kUnderButton)};
    const ImVec2 high{low.x + whole.x, low.y + whole.y};
    ImGui::SetNextWindowPos(low);
    ImGui::SetNextWindowSize({std::max(whole.x, 1.0F), std::max(whole.y, 1.0F)});
    ImGui::Begin(id, nullptr, size.y > space ? kPopover & ~ImGuiWindowFlags_NoScrollbar : kPopover);
    ImGui::PushClipRect(low, high, false);  // the window's padding cuts nothing
    frame.painter.rect(low, high, frame.theme.surface, frame.px(8));
    frame.painter.outline(low, high, frame.theme.muted, frame.px(1), frame.px(8));
    if (frame.focus != nullptr) frame.focus->keep_inside();
    draw({low.x + pad, low.y + pad - ImGui::GetScrollY()});
    ImGui::PopClipRect();
    close_placing();
    ImGui::End();
    return is_left(button, low, high, frame, out);
}

}  // namespace attn::ui
