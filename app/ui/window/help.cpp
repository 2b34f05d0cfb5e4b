#include <algorithm>

#include "app/ui/common/draw.h"
#include "app/ui/common/imgui_compat.h"
#include "app/ui/common/overlay.h"
#include "app/ui/common/widgets.h"
#include "app/ui/window/panels.h"

namespace attn::ui {
namespace {

using view::Command;

constexpr float kKeyWidth = 136.0F;  // design units

std::vector<std::string> groups_of(const std::vector<Command>& commands) {
    std::vector<std::string> groups;
    for (const Command& command : commands)
        if (command.chord.key != view::Key::none && std::ranges::count(groups, command.group) == 0)
            groups.push_back(command.group);
    return groups;
}

void draw_group(const std::string& group, const std::vector<Command>& commands,
                const Frame& frame) {
    words(frame, frame.fonts.strong, frame.theme.text, group);
    for (const Command& command : commands) {
        if (command.group != group || command.chord.key == view::Key::none) continue;
        const float left = ImGui::GetCursorPosX();
        words(frame, frame.fonts.digits_small, frame.theme.accent, keys_of(command));
        ImGui::SameLine();
        ImGui::SetCursorPosX(left + frame.px(kKeyWidth));  // SameLine counts from the window
        wrapped_words(frame, frame.fonts.body,
                      command.enabled ? frame.theme.text : frame.theme.muted, command.words);
    }
    ImGui::Dummy({0.0F, frame.px(8)});
}

void draw_mouse(const Frame& frame) {
    words(frame, frame.fonts.strong, frame.theme.text, "Mouse");
    for (const char* line :
         {"Point at a cell: its sources light up in the operands.",
          "Click a cell: the inspector writes out its arithmetic.",
          "Double-click a number of X or W, or press Enter on it: type another one.",
          "Click a number in the inspector: go to the cell it came from.",
          "On a large matrix: the wheel zooms about the pointer, dragging pans."})
        wrapped_words(frame, frame.fonts.body, frame.theme.muted, line);
}

}  // namespace

void draw_help(const std::vector<Command>& commands, const Frame& frame, view::Actions& out) {
    const bool beside = begin_overlay("help", frame.px(960), frame.px(720), frame);
    words(frame, frame.fonts.title, frame.theme.text, "Keys and commands");
    wrapped_words(frame, frame.fonts.body, frame.theme.muted,
                  "Ctrl+K finds these and every other command by name. Escape closes this page.");
    ImGui::Dummy({0.0F, frame.px(8)});
    const std::vector<std::string> groups = groups_of(commands);
    const bool two_columns = ImGui::GetContentRegionAvail().x > frame.px(720);
    if (ImGui::BeginTable("groups", two_columns ? 2 : 1)) {
        for (const std::string& group : groups) {
            ImGui::TableNextColumn();
            draw_group(group, commands, frame);
        }
        ImGui::TableNextColumn();
        draw_mouse(frame);
        ImGui::EndTable();
    }
    scroll_by_keys(frame);
    end_overlay();
    if (beside || is_pressed(view::Key::escape)) out.push_back(view::ShowHelp{false});
}

}  // namespace attn::ui
