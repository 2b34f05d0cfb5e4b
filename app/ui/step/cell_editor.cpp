#include <algorithm>

#include "app/ui/common/draw.h"
#include "app/ui/common/focus.h"
#include "app/ui/common/imgui_compat.h"
#include "app/ui/common/still.h"
#include "app/ui/step/canvas.h"

namespace attn::ui {
namespace {

/// The cell's own size; larger where that shows no number.
ImVec2 editor_size(const std::string& draft, ImVec2 cell, const Frame& frame) {
    const Font& font = frame.fonts.digits;
    const float room = frame.text_width(font, draft + "0") + frame.px(12);
    return {std::max({cell.x, room, frame.px(56)}), std::max(cell.y, font.px + frame.px(4))};
}

/// The text field with everything selected; "" is a draft like any other.
bool edit_text(std::string& draft, ImVec2 size, const Frame& frame) {
    const float pad = std::max(0.0F, (size.y - frame.fonts.digits.px) / 2);
    push_font(frame.fonts.digits);
    const float spare = size.x - frame.text_width(frame.fonts.digits, draft);
    ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, {std::max(frame.px(4), spare / 2), pad});
    ImGui::SetNextItemWidth(size.x);
    if (!ImGui::IsAnyItemActive()) ImGui::SetKeyboardFocusHere();
    push_no_tab_stop();
    const bool edited =
        ImGui::InputText("##cell editor", &draft, ImGuiInputTextFlags_AutoSelectAll);
    pop_no_tab_stop();
    still_field(frame, frame.fonts.digits, draft);
    ImGui::PopStyleVar();
    pop_font();
    return edited;
}

}  // namespace

void draw_cell_editor(const view::CellEdit& editing, ImVec2 low, ImVec2 size, const Frame& frame,
                      view::Actions& out) {
    std::string draft = editing.draft;
    const ImVec2 room = editor_size(draft, size, frame);
    ImGui::SetCursorScreenPos(low);
    // a window of its own: a click into it is none on the cells beneath
    ImGui::BeginChild("cell editor", room, false, ImGuiWindowFlags_NoScrollbar);
    const bool edited = edit_text(draft, room, frame);
    const bool left = ImGui::IsItemDeactivated();
    const bool tab = ImGui::IsItemActive() && is_pressed(view::Key::tab);
    frame.painter.outline(ImGui::GetItemRectMin(), ImGui::GetItemRectMax(), frame.theme.accent,
                          frame.px(2), frame.px(2));
    ImGui::EndChild();
    if (is_pressed(view::Key::escape)) return out.push_back(view::CancelCellEdit{});
    if (edited) out.push_back(view::DraftCell{draft});
    if (tab) release_item();
    if (tab && frame.focus != nullptr) frame.focus->claim(view::Key::tab);
    if (left || tab) out.push_back(view::CommitCellEdit{});
}

}  // namespace attn::ui
