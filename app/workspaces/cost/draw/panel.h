#pragma once

#include <imgui.h>

#include "app/common/draw/frame.h"
#include "app/workspaces/cost/view.h"

namespace attn::ui {

enum class CostToolbar { shown, hidden };
/// The Cost workspace but for its inspector, in what is left of the current window: sizes, the curves over T, a card for
/// each way of holding the weights, the table of stages, and what was measured.
void draw_cost_panel(const view::CostView& view, const Frame& frame, view::Actions& out,
                     CostToolbar toolbar);

struct CostBox {
    ImVec2 low, high;
    float width() const { return high.x - low.x; }
};
float cost_table_height(const view::CostView& view, const Frame& frame);
void draw_cost_table(const view::CostView& view, const CostBox& at, const Frame& frame,
                     view::Actions& out);
void draw_cost_times(const view::CostView& view, const CostBox& at, const Frame& frame,
                     view::Actions& out);

}  // namespace attn::ui
