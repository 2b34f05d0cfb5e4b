#pragma once

#include <imgui.h>

#include <algorithm>
#include <string>
#include <vector>

#include "app/common/dialogs.h"
#include "app/common/draw/focus.h"
#include "app/common/draw/frame.h"
#include "app/common/draw/workspace.h"
#include "app/window/commands.h"
#include "app/window/tour.h"

namespace attn::ui {

// The panels around the canvas. Each fills the current window.

/// Workspaces by group, search, help and theme. In a narrow or low window the workspaces of the shown group alone.
void draw_rail(const AppState& state, const Frame& frame, Actions& out);
float rail_width(const Frame& frame);
/// What just happened, and at the right end, quietly, what stands behind the picture.
void draw_bottom_line(const Message& message, const std::string& aside, const Frame& frame);

/// The F1 page: every command with its keys, and what the mouse does.
void draw_help(const std::vector<Command>& commands, std::span<const std::string_view> mouse,
               const Frame& frame, Actions& out);
/// Version, licence, and the libraries and fonts with theirs.
void draw_about(const Frame& frame, Actions& out);
/// Ctrl+K: type, choose with the arrows, Enter.
void draw_palette(const AppState& state, const std::vector<Command>& found, const Frame& frame,
                  Actions& out);

/// G: type, choose a term with the arrows, Enter goes where it is seen.
void draw_glossary(const AppState& state, const Frame& frame, Actions& out);

/// A page of a tour: what it says, its question, and what was seen. `page`: its number, from 0.
void draw_tour(const TourView& tour, Index page, const Frame& frame, Actions& out);
/// How high that is at this width.
float tour_height(const TourView& tour, float width, const Frame& frame);

/// A field as wide as the window, which always has the keyboard. `early`: what came before it has it; emptied as it opens.
void wide_field(const char* id, const char* hint, std::string& text, ImGuiInputTextFlags flags,
                const Frame& frame, std::string* early = nullptr);
/// A row of a list: shaded where it is current or pointed at; the remark stands at its right end.
struct ListRow {
    const char* id;
    float height;  // design units
    bool current;
    std::string text, remark;
    bool enabled = true;
};
/// True when it was clicked.
bool draw_list_row(const ListRow& row, const Frame& frame);

/// Draws the rows around the current one, so that the list needs no scrolling.
template <class Draw>
void draw_list(std::size_t current, std::size_t count, std::size_t rows, Draw draw) {
    const bool all = count <= rows || current < rows / 2;
    const std::size_t first = all ? 0 : std::min(current - rows / 2, count - rows);
    ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {0.0F, 0.0F});
    for (std::size_t n = first; n < std::min(first + rows, count); ++n) {
        ImGui::PushID(static_cast<int>(n));
        draw(n);
        ImGui::PopID();
    }
    ImGui::PopStyleVar();
}

/// Asks for a path: type it, Enter. Says what it is for, when a file of that name is there already, and what went wrong with
/// the path. Of a figure: how wide it is, and what it looks like; else what lies there, to choose from.
void draw_prompt(const AppState& state, const Frame& frame, Actions& out);

/// Changes are not saved; `file`: where they would be, "" where a path is asked for first.
void draw_quit(const UnsavedWork& work, const std::string& file, const Frame& frame, Actions& out);
/// Offers what a program that was ended left.
void draw_recovery(const Recovery& recovery, const Frame& frame, Actions& out);

}  // namespace attn::ui
