#pragma once

#include <imgui.h>

#include <span>
#include <string>

#include "app/ui/common/frame.h"
#include "app/view/actions.h"

namespace attn::ui {

/// The room of a workspace: all between rail and bottom line, in pixels.
struct WorkArea {
    ImVec2 low, high;
    float margin = 0.0F;
    float inspector = 0.0F;  // width of a panel at the right
};

/// Icons are a few lines in a box of `size`: no font has them.
using Icon = void (*)(ImDrawList& list, ImVec2 low, float size, ImU32 color, float thin);

/// THE twin of a workspace's row in app/view/workspaces.h: what it looks like.
struct WorkspacePanel {
    view::Workspace id;
    Icon icon;
    /// Draws it within `area`. Returns what stands at the right end of the bottom line.
    std::string (*draw)(const view::AppState& state, const WorkArea& area, const Frame& frame,
                        view::Actions& out);
};
using PanelList = std::span<const WorkspacePanel>;
/// In the order of view::workspaces().
PanelList workspace_panels();

// Each in workspace.cpp of its folder.
std::string draw_step_workspace(const view::AppState& state, const WorkArea& area,
                                const Frame& frame, view::Actions& out);
std::string draw_saturation_workspace(const view::AppState& state, const WorkArea& area,
                                      const Frame& frame, view::Actions& out);
std::string draw_large_workspace(const view::AppState& state, const WorkArea& area,
                                 const Frame& frame, view::Actions& out);
void draw_step_icon(ImDrawList& list, ImVec2 low, float size, ImU32 color, float thin);
void draw_saturation_icon(ImDrawList& list, ImVec2 low, float size, ImU32 color, float thin);
void draw_large_icon(ImDrawList& list, ImVec2 low, float size, ImU32 color, float thin);

}  // namespace attn::ui
