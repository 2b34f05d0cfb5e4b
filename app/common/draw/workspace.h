#pragma once

#include <imgui.h>

#include <algorithm>
#include <span>
#include <string>

#include "app/common/draw/frame.h"
#include "app/common/draw/imgui_compat.h"
#include "app/common/draw/items.h"

namespace attn::ui {

/// A rectangle of the window, in pixels.
struct Box {
    ImVec2 low, high;
    ImVec2 size() const { return {std::max(1.0F, high.x - low.x), std::max(1.0F, high.y - low.y)}; }
};
/// A child window at an exact place; `draw` fills it.
template <class Draw>
void panel(const char* id, const Box& box, Draw draw) {
    ImGui::SetCursorScreenPos(box.low);
    begin_child(id, box.size());
    draw();
    close_placing();
    ImGui::EndChild();
}

/// The room of a workspace: all between rail and bottom line, without the strip of the inspector's handle.
struct WorkArea {
    Box work;
    float margin = 0.0F;
    float inspector = 0.0F;  // width of a panel at the right; 0: it is hidden, or a drawer
    float drawer = 0.0F;     // width of that panel over the canvas; 0: it is none
    bool chrome = true;      // false: presenting, the canvas alone

    /// Whether the panel is drawn: as the last thing, for it may cover the canvas.
    bool has_side() const { return inspector > 0.0F || drawer > 0.0F; }
    /// Where it stands, from `top` on.
    Box side(float top) const {
        return {{std::max(work.low.x, work.high.x - std::max(inspector, drawer)), top}, work.high};
    }
};
/// Fills the box of the panel: a drawer has an edge towards what it covers.
void fill_side(const WorkArea& area, float top, const Frame& frame);

/// The twin of a workspace's row (app/common/workspace.h): what it looks like.
struct WorkspacePanel {
    std::string_view key;
    /// Draws it within `area`. Returns what stands at the right end of the bottom line.
    std::string (*draw)(const AppState& state, const WorkArea& area, const Frame& frame,
                        Actions& out);
};
using PanelList = std::span<const WorkspacePanel* const>;
/// In the order of view::workspaces().
PanelList workspace_panels();

}  // namespace attn::ui
