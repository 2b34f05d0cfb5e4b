#include "app/common/draw/overlay.h"

#include "app/common/draw/draw.h"
#include "app/common/draw/imgui_compat.h"
#include "app/common/draw/items.h"

namespace attn::ui {
namespace {

constexpr ImGuiWindowFlags kCovering = ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove |
                                       ImGuiWindowFlags_NoSavedSettings |
                                       ImGuiWindowFlags_NoScrollWithMouse;

}  // namespace

bool begin_overlay(const char* id, float width, float height, const Frame& frame) {
    const ImVec2 display = ImGui::GetIO().DisplaySize;
    const float margin = frame.px(24);
    const ImVec2 size{std::min(width, display.x - 2 * margin),
                      std::min(height, display.y - 2 * margin)};
    const ImVec2 low{(display.x - size.x) / 2, std::max(margin, (display.y - size.y) * 0.35F)};
    ImGui::SetNextWindowPos({0.0F, 0.0F});
    ImGui::SetNextWindowSize(display);
    const Color dim = view::translucent(frame.theme.background, 0.72);
    ImGui::PushStyleColor(ImGuiCol_WindowBg, to_vec4(dim));
    ImGui::PushStyleVar(ImGuiStyleVar_WindowRounding, 0.0F);
    ImGui::Begin(id, nullptr, kCovering);
    ImGui::PopStyleVar();
    ImGui::PopStyleColor();
    const ImVec2 high{low.x + size.x, low.y + size.y};
    if (frame.still) frame.painter.rect({0.0F, 0.0F}, display, dim);
    frame.painter.rect(low, high, frame.theme.surface, frame.px(8));
    frame.painter.outline(low, high, frame.theme.line, frame.px(1), frame.px(8));
    const bool beside = ImGui::IsMouseClicked(ImGuiMouseButton_Left) &&
                        !ImGui::IsMouseHoveringRect(low, high) && !ImGui::IsWindowAppearing();
    const float inset = frame.px(24);
    ImGui::SetCursorScreenPos({low.x + inset, low.y + inset});
    begin_child("panel", {size.x - 2 * inset, size.y - 2 * inset});
    return beside;
}

void end_overlay() {
    close_placing();
    ImGui::EndChild();
    ImGui::End();
}

void scroll_by_keys(const Frame& frame) {
    const auto pressed = [](Key key) { return is_pressed(key, true) ? 1.0F : 0.0F; };
    const float lines = pressed(Key::down) - pressed(Key::up);
    const float pages = pressed(Key::page_down) - pressed(Key::page_up);
    const float distance = lines * frame.px(40) + pages * ImGui::GetWindowHeight() * 0.9F;
    if (distance != 0.0F)
        ImGui::SetScrollY(within(ImGui::GetScrollY() + distance, 0.0F, ImGui::GetScrollMaxY()));
}

}  // namespace attn::ui
