#include <algorithm>

#include "app/ui/common/draw.h"
#include "app/ui/common/imgui_compat.h"
#include "app/ui/common/still.h"
#include "app/ui/step/canvas.h"

namespace attn::ui {
void draw_cell_editor(const view::CellEdit& editing, ImVec2 low, ImVec2 size, const Frame& frame,
                      view::Actions& out) {
    std::string draft = editing.draft;
    const float width = std::max(size.x, frame.px(72));
    const float pad = std::max(0.0F, (size.y - frame.fonts.digits.px) / 2);
    push_font(frame.fonts.digits);
    ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, {frame.px(4), pad});
    ImGui::SetCursorScreenPos(low);
    ImGui::SetNextItemWidth(width);
    if (!ImGui::IsAnyItemActive()) ImGui::SetKeyboardFocusHere();
    const bool edited = ImGui::InputText("##cell editor", &draft);
    const bool left = ImGui::IsItemDeactivated();
    still_field(frame, frame.fonts.digits, draft);
    frame.painter.outline(ImGui::GetItemRectMin(), ImGui::GetItemRectMax(), frame.theme.accent,
                          frame.px(2), frame.px(2));
    ImGui::PopStyleVar();
    pop_font();
    const bool cancelled = is_pressed(view::Key::escape);
    if (cancelled) {
        out.push_back(view::CancelCellEdit{});
        return;
    }
    if (edited) out.push_back(view::DraftCell{draft});
    if (left) out.push_back(view::CommitCellEdit{});
}

}  // namespace attn::ui
