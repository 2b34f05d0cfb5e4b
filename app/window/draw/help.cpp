#include <fmt/format.h>

#include "app/common/draw/draw.h"
#include "app/common/draw/overlay.h"
#include "app/fonts/fonts.h"
#include "app/window/about.h"
#include "app/window/draw/panels.h"

namespace attn::ui {
namespace {

constexpr float kKeyWidth = 136.0F;  // design units

std::vector<std::string> groups_of(const std::vector<Command>& commands) {
    std::vector<std::string> groups;
    for (const Command& command : commands)
        if (command.chord.key != Key::none && std::ranges::count(groups, command.group) == 0)
            groups.push_back(command.group);
    return groups;
}

void draw_group(const std::string& group, const std::vector<Command>& commands,
                const Frame& frame) {
    words(frame, frame.fonts.strong, frame.theme.text, group);
    for (const Command& command : commands) {
        if (command.group != group || command.chord.key == Key::none) continue;
        const float left = ImGui::GetCursorPosX();
        words(frame, frame.fonts.digits_small, frame.theme.accent, keys_of(command));
        ImGui::SameLine();
        ImGui::SetCursorPosX(left + frame.px(kKeyWidth));  // SameLine counts from the window
        wrapped_words(frame, frame.fonts.body,
                      command.enabled ? frame.theme.text : frame.theme.muted, command.words);
    }
    ImGui::Dummy({0.0F, frame.px(8)});
}

void draw_mouse(std::span<const std::string_view> mouse, const Frame& frame) {
    words(frame, frame.fonts.strong, frame.theme.text, "Mouse");
    for (const std::string_view line : mouse)
        wrapped_words(frame, frame.fonts.body, frame.theme.muted, line);
    wrapped_words(frame, frame.fonts.body, frame.theme.muted,
                  "Drag a number or a slider; double-click it: type a value.");
}

// ---- about

/// Of those that any face looks for, the ones that this machine has.
std::vector<std::string> families_here() {
    std::vector<std::string> names;
    for (std::size_t n = 0; n < view::kFaceCount; ++n)
        for (const fonts::Family& family : fonts::families(static_cast<Face>(n)))
            if (std::string name(family.name);
                std::ranges::count(names, name) == 0 && fonts::find(family))
                names.push_back(std::move(name));
    return names;
}

void draw_about_rows(const char* id, const char* title, const std::vector<AboutRow>& rows,
                     const Frame& frame) {
    ImGui::Dummy({0.0F, frame.px(8)});
    words(frame, frame.fonts.strong, frame.theme.text, title);
    if (!ImGui::BeginTable(id, 4)) return;
    for (const float share : {0.25F, 0.15F, 0.2F, 0.4F})
        ImGui::TableSetupColumn("", ImGuiTableColumnFlags_WidthStretch, share);
    for (const AboutRow& row : rows) {
        for (const std::string* text : {&row.name, &row.version, &row.licence}) {
            ImGui::TableNextColumn();
            wrapped_words(frame, frame.fonts.body, frame.theme.text, *text);
        }
        ImGui::TableNextColumn();
        wrapped_words(frame, frame.fonts.body, frame.theme.muted, row.purpose);
    }
    ImGui::EndTable();
}

}  // namespace

void draw_help(const std::vector<Command>& commands, std::span<const std::string_view> mouse,
               const Frame& frame, Actions& out) {
    const bool beside = begin_overlay("help", frame.px(960), ImGui::GetIO().DisplaySize.y, frame);
    words(frame, frame.fonts.title, frame.theme.text, "Keys and commands");
    wrapped_words(frame, frame.fonts.body, frame.theme.muted,
                  "Ctrl+K finds every command that can be used now. Ctrl+F1: version and licences. "
                  "Escape closes this page.");
    ImGui::Dummy({0.0F, frame.px(8)});
    const std::vector<std::string> groups = groups_of(commands);
    const bool two_columns = ImGui::GetContentRegionAvail().x > frame.px(720);
    if (ImGui::BeginTable("groups", two_columns ? 2 : 1)) {
        for (const std::string& group : groups) {
            ImGui::TableNextColumn();
            draw_group(group, commands, frame);
        }
        ImGui::TableNextColumn();
        draw_mouse(mouse, frame);
        ImGui::EndTable();
    }
    scroll_by_keys(frame);
    end_overlay();
    if (beside || is_pressed(Key::escape)) out.push_back(ShowHelp{false});
}

void draw_about(const Frame& frame, Actions& out) {
    const std::vector<std::string> families = families_here();
    const AboutView about = view::build_about_view(families);
    const bool beside = begin_overlay("about", frame.px(960), ImGui::GetIO().DisplaySize.y, frame);
    words(frame, frame.fonts.title, frame.theme.text, about.version);
    wrapped_words(frame, frame.fonts.body, frame.theme.text, about.what);
    wrapped_words(frame, frame.fonts.body, frame.theme.muted,
                  fmt::format("{} ↑ ↓ scroll, Escape closes this page.", about.licence));
    draw_about_rows("libraries", "Libraries", about.libraries, frame);
    draw_about_rows("fonts", "Fonts", about.fonts, frame);
    scroll_by_keys(frame);
    end_overlay();
    if (beside || is_pressed(Key::escape)) out.push_back(ShowAbout{false});
}

}  // namespace attn::ui
