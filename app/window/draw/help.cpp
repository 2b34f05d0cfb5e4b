#include <fmt/format.h>

#include "app/common/actions.h"
#include "app/common/draw/draw.h"
#include "app/common/draw/items.h"
#include "app/common/draw/overlay.h"
#include "app/fonts/fonts.h"
#include "app/window/about.h"
#include "app/window/draw/panels.h"

namespace attn::ui {
namespace {

constexpr float kKeyWidth = 136.0F;    // design units
constexpr std::size_t kTitleRows = 2;  // what a title takes, and the gap after its group
constexpr std::size_t kLeastRows = 3;  // of a group that goes on in the next column, in either

struct KeyGroup {
    std::string title;
    std::vector<const Command*> commands;
    std::size_t rows() const { return commands.size() + kTitleRows; }
};

std::vector<KeyGroup> groups_of(const std::vector<Command>& commands) {
    std::vector<KeyGroup> groups;
    for (const Command& command : commands) {
        if (command.chord.key == Key::none) continue;
        auto group = std::ranges::find(groups, command.group, &KeyGroup::title);
        if (group == groups.end()) group = groups.insert(groups.end(), {command.group, {}});
        group->commands.push_back(&command);
    }
    return groups;
}

/// As high as each other, with so many rows after the last: a group that has no room goes on in the next column.
std::vector<std::vector<KeyGroup>> columns_of(const std::vector<KeyGroup>& groups,
                                              std::size_t columns, std::size_t after) {
    std::size_t all = after;
    for (const KeyGroup& group : groups) all += group.rows();
    const std::size_t most = (all + columns - 1) / columns;
    std::vector<std::vector<KeyGroup>> made(1);
    std::size_t used = 0;
    for (KeyGroup group : groups) {
        const std::size_t space = most - std::min(used + kTitleRows, most);
        const std::size_t count = group.commands.size();
        if (count > space && made.size() < columns) {
            const bool parts = space >= kLeastRows && count - space >= kLeastRows;
            const auto end = group.commands.begin() + (parts ? space : 0);
            if (parts) made.back().push_back({group.title, {group.commands.begin(), end}});
            group.commands.erase(group.commands.begin(), end);
            made.emplace_back();
            used = 0;
        }
        used += group.rows();
        made.back().push_back(std::move(group));
    }
    return made;
}

void draw_group(const KeyGroup& group, const Frame& frame) {
    put_text(frame, frame.fonts.strong, frame.theme.text, group.title);
    for (const Command* const command : group.commands) {
        const float left = ImGui::GetCursorPosX();
        put_text(frame, frame.fonts.digits_small, frame.theme.accent, keys_of(*command));
        ImGui::SameLine();
        ImGui::SetCursorPosX(left + frame.px(kKeyWidth));  // SameLine counts from the window
        wrapped_text(frame, frame.fonts.body,
                     command->enabled ? frame.theme.text : frame.theme.muted, command->text);
    }
    leave_space({0.0F, frame.px(8)});
}

void draw_mouse(std::span<const std::string_view> mouse, const Frame& frame) {
    put_text(frame, frame.fonts.strong, frame.theme.text, "Mouse");
    for (const std::string_view line : mouse)
        wrapped_text(frame, frame.fonts.body, frame.theme.muted, line);
    wrapped_text(frame, frame.fonts.body, frame.theme.muted,
                 "Drag a number or a slider. Double-click it to type a value.");
}

// ---- about

/// Of those that any face looks for, the ones that this machine has.
std::vector<std::string> families_here() {
    std::vector<std::string> names;
    for (std::size_t n = 0; n < kFaceCount; ++n)
        for (const fonts::Family& family : fonts::families(static_cast<Face>(n)))
            if (std::string name(family.name);
                std::ranges::count(names, name) == 0 && fonts::find(family))
                names.push_back(std::move(name));
    return names;
}

void draw_about_rows(const char* id, const char* title, const std::vector<AboutRow>& rows,
                     const Frame& frame) {
    leave_space({0.0F, frame.px(8)});
    put_text(frame, frame.fonts.strong, frame.theme.text, title);
    if (!ImGui::BeginTable(id, 3)) return;
    for (const float share : {0.4F, 0.25F, 0.35F})
        ImGui::TableSetupColumn("", ImGuiTableColumnFlags_WidthStretch, share);
    for (const AboutRow& row : rows) {
        for (const std::string* text : {&row.name, &row.version, &row.licence}) {
            ImGui::TableNextColumn();
            wrapped_text(frame, frame.fonts.body, frame.theme.text, *text);
        }
    }
    ImGui::EndTable();
}

}  // namespace

void draw_help(const std::vector<Command>& commands, std::span<const std::string_view> mouse,
               const Frame& frame, Actions& out) {
    const bool beside = begin_overlay("help", frame.px(960), ImGui::GetIO().DisplaySize.y, frame);
    put_text(frame, frame.fonts.title, frame.theme.text, "Keys and commands");
    wrapped_text(
        frame, frame.fonts.body, frame.theme.muted,
        "Ctrl+K finds every available command. Shift+G opens the glossary. Ctrl+F1 shows version "
        "and licences. Escape closes this page.");
    leave_space({0.0F, frame.px(8)});
    const bool two = ImGui::GetContentRegionAvail().x > frame.px(720);
    const auto columns = columns_of(groups_of(commands), two ? 2 : 1, mouse.size() + kTitleRows);
    if (ImGui::BeginTable("groups", two ? 2 : 1)) {
        for (const std::vector<KeyGroup>& column : columns) {
            ImGui::TableNextColumn();
            for (const KeyGroup& group : column) draw_group(group, frame);
        }
        draw_mouse(mouse, frame);
        ImGui::EndTable();
    }
    scroll_by_keys(frame);
    end_overlay();
    if (beside || is_pressed(Key::escape)) out.push_back(ShowHelp{false});
}

void draw_about(const Frame& frame, Actions& out) {
    const std::vector<std::string> families = families_here();
    const AboutView about = build_about_view(families);
    const bool beside = begin_overlay("about", frame.px(960), ImGui::GetIO().DisplaySize.y, frame);
    put_text(frame, frame.fonts.title, frame.theme.text, about.version);
    wrapped_text(frame, frame.fonts.body, frame.theme.text, about.what);
    wrapped_text(frame, frame.fonts.body, frame.theme.muted,
                 fmt::format("{} ↑ ↓ scroll, Escape closes this page.", about.licence));
    draw_about_rows("libraries", "Libraries", about.libraries, frame);
    draw_about_rows("fonts", "Fonts", about.fonts, frame);
    scroll_by_keys(frame);
    end_overlay();
    if (beside || is_pressed(Key::escape)) out.push_back(ShowAbout{false});
}

}  // namespace attn::ui
