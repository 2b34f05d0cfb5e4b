#pragma once

#include "app/common/actions.h"
#include "app/common/document/actions.h"
#include "app/common/draw/frame.h"
#include "app/workspaces/kinds/actions.h"
#include "app/workspaces/kinds/online.h"
#include "app/workspaces/kinds/view.h"

namespace attn::ui {

// The parts of the Kinds workspace; each fills the current window.

/// One row: comparison or online softmax, and what belongs to what is shown.
void draw_kinds_top(const view::KindsView& view, const view::OnlineView& online, bool is_online,
                    const Frame& frame, view::Actions& out);
/// The settings of one side, in a box `width` wide at the cursor. Returns its height.
float draw_kind_settings(const view::KindSideView& side, float width, const Frame& frame,
                         view::Actions& out);

/// Both sides' settings where there is `chrome`, weights of A and of B, their difference, the table.
void draw_comparison(const view::KindsView& view, bool chrome, const Frame& frame,
                     view::Actions& out);
/// What A and B cost and how far apart they are: one line each, in two columns where there is room.
float kinds_table_height(const std::vector<view::KindRow>& rows, float width, const Frame& frame);
void draw_kinds_table(const std::vector<view::KindRow>& rows, ImVec2 low, float width,
                      const Frame& frame);

/// A few rows of numbers under their title, `row_height` pixels each; returns where they end.
float draw_vectors(const view::GridView& grid, const char* id, ImVec2 low, float width,
                   float row_height, const Frame& frame);

/// The online softmax at its present step.
void draw_online(const view::OnlineView& view, const Frame& frame);

}  // namespace attn::ui
