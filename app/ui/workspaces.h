#pragma once

#include <imgui.h>

#include <algorithm>
#include <optional>
#include <span>
#include <string>

#include "app/ui/common/frame.h"
#include "app/view/actions.h"

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
    ImGui::BeginChild(id, box.size());
    draw();
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

/// A few lines in a box of `size`, `thin` wide: no font has such icons.
using Icon = void (*)(view::Painter& painter, view::Point low, float size, view::Color color,
                      float thin);

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
std::string draw_masks_workspace(const view::AppState& state, const WorkArea& area,
                                 const Frame& frame, view::Actions& out);
std::string draw_kinds_workspace(const view::AppState& state, const WorkArea& area,
                                 const Frame& frame, view::Actions& out);
std::string draw_cost_workspace(const view::AppState& state, const WorkArea& area,
                                const Frame& frame, view::Actions& out);
std::string draw_heads_workspace(const view::AppState& state, const WorkArea& area,
                                 const Frame& frame, view::Actions& out);
std::string draw_lookup_workspace(const view::AppState& state, const WorkArea& area,
                                  const Frame& frame, view::Actions& out);
std::string draw_compare_workspace(const view::AppState& state, const WorkArea& area,
                                   const Frame& frame, view::Actions& out);
std::string draw_tensors_workspace(const view::AppState& state, const WorkArea& area,
                                   const Frame& frame, view::Actions& out);
std::string draw_numerics_workspace(const view::AppState& state, const WorkArea& area,
                                    const Frame& frame, view::Actions& out);
std::string draw_learn_workspace(const view::AppState& state, const WorkArea& area,
                                 const Frame& frame, view::Actions& out);
std::string draw_verify_workspace(const view::AppState& state, const WorkArea& area,
                                  const Frame& frame, view::Actions& out);
std::string draw_gradients_workspace(const view::AppState& state, const WorkArea& area,
                                     const Frame& frame, view::Actions& out);
/// What Step shows where its stage is a map, filling the current window: the map that Large has. Returns the cell under
/// the pointer where Step has its number. In large/stage_map.cpp: a room knows no other.
std::optional<view::CellRef> draw_stage_map(const view::AppState& state, const Frame& frame,
                                            view::Actions& out);
void draw_step_icon(view::Painter& painter, view::Point low, float size, view::Color color,
                    float thin);
void draw_saturation_icon(view::Painter& painter, view::Point low, float size, view::Color color,
                          float thin);
void draw_large_icon(view::Painter& painter, view::Point low, float size, view::Color color,
                     float thin);
void draw_masks_icon(view::Painter& painter, view::Point low, float size, view::Color color,
                     float thin);
void draw_kinds_icon(view::Painter& painter, view::Point low, float size, view::Color color,
                     float thin);
void draw_cost_icon(view::Painter& painter, view::Point low, float size, view::Color color,
                    float thin);
void draw_heads_icon(view::Painter& painter, view::Point low, float size, view::Color color,
                     float thin);
void draw_lookup_icon(view::Painter& painter, view::Point low, float size, view::Color color,
                      float thin);
void draw_compare_icon(view::Painter& painter, view::Point low, float size, view::Color color,
                       float thin);
void draw_tensors_icon(view::Painter& painter, view::Point low, float size, view::Color color,
                       float thin);
void draw_learn_icon(view::Painter& painter, view::Point low, float size, view::Color color,
                     float thin);
void draw_verify_icon(view::Painter& painter, view::Point low, float size, view::Color color,
                      float thin);
void draw_gradients_icon(view::Painter& painter, view::Point low, float size, view::Color color,
                         float thin);
void draw_numerics_icon(view::Painter& painter, view::Point low, float size, view::Color color,
                        float thin);

}  // namespace attn::ui
