#include "app/common/draw/focus.h"
#include "app/common/draw/imgui_compat.h"
#include "app/common/draw/items.h"
#include "app/common/draw/still.h"
#include "app/common/draw/text_fields.h"
#include "app/workspaces/step/actions.h"
#include "app/workspaces/step/draw/canvas.h"

namespace attn::ui {
namespace {

/// The largest font with which a typical number fits a cell of this size, as in the grid.
Font editor_font(ImVec2 cell, const Frame& frame) {
    const Fonts& fonts = frame.fonts;
    const float air = 2 * frame.px(kSpace4);
    for (const Font* font : {&fonts.digits_large, &fonts.digits_medium, &fonts.digits})
        if (frame.text_width(*font, "−0.603") + air <= cell.x && font->px + 2.0F <= cell.y)
            return *font;
    return fonts.digits_small;
}

/// The cell's own place; larger about its middle where that has no room for the number.
struct EditorPlace {
    ImVec2 low, size;
};
EditorPlace editor_place(const std::string& draft, ImVec2 low, ImVec2 cell, const Font& font,
                         const Frame& frame) {
    const float space = frame.text_width(font, draft + "0") + 2 * frame.px(kSpace4);
    const ImVec2 size{std::max(cell.x, space), std::max(cell.y, font.px + 2 * frame.px(kSpace4))};
    const float left = ImGui::GetWindowPos().x;
    return {{std::max(left, std::round(low.x - (size.x - cell.x) / 2)),
             std::round(low.y - (size.y - cell.y) / 2)},
            size};
}

/// The text field with everything selected; "" is a draft like any other.
bool edit_text(std::string& draft, ImVec2 size, const Font& font, const Frame& frame) {
    const float pad = std::max(0.0F, (size.y - font.px) / 2);
    push_font(font);
    const float spare = size.x - frame.text_width(font, draft);
    ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, {std::max(frame.px(kSpace4), spare / 2), pad});
    ImGui::SetNextItemWidth(size.x);
    if (!ImGui::IsAnyItemActive()) ImGui::SetKeyboardFocusHere();
    push_no_tab_stop();
    const bool edited = text_field("##cell editor", draft, {"", ImGuiInputTextFlags_AutoSelectAll});
    pop_no_tab_stop();
    still_field(frame, font, draft);
    ImGui::PopStyleVar();
    pop_font();
    return edited;
}

/// What ends the typing in this frame; the field is the last item. Tab goes on to the next cell.
void end_typing(bool left, const Frame& frame, Actions& out) {
    if (is_pressed(Key::escape)) return out.push_back(CancelCellEdit{});
    if (is_pressed(Key::tab)) {
        release_item();
        if (frame.focus != nullptr) frame.focus->claim(Key::tab);
        return out.push_back(CommitAndMove{ImGui::GetIO().KeyShift ? -1 : 1});
    }
    if (!left) return;
    if (is_pressed(Key::enter)) return out.push_back(CommitCellEdit{});
    out.push_back(LeaveCellEdit{});
}

}  // namespace

void draw_cell_editor(const CellEdit& editing, ImVec2 low, ImVec2 size, const Frame& frame,
                      Actions& out) {
    std::string draft = editing.draft;
    const Font font = editor_font(size, frame);
    const EditorPlace place = editor_place(draft, low, size, font, frame);
    ImGui::SetCursorScreenPos(place.low);
    // a separate window: a click into it does not reach the cells below
    begin_child("cell editor", place.size, ImGuiWindowFlags_NoScrollbar);
    const bool edited = edit_text(draft, place.size, font, frame);
    const bool left = ImGui::IsItemDeactivated();
    const bool held = left || ImGui::IsItemActive();
    frame.painter.outline(ImGui::GetItemRectMin(), ImGui::GetItemRectMax(), frame.theme.accent,
                          frame.px(2), frame.px(2));
    ImGui::EndChild();
    if (edited) out.push_back(DraftCell{draft});
    if (held) end_typing(left, frame, out);
}

}  // namespace attn::ui
