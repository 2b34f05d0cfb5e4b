#include <vector>

#include "app/common/draw/draw.h"
#include "app/common/draw/grid_set.h"
#include "app/common/draw/lens.h"
#include "app/workspaces/heads/draw/parts.h"
#include "app/workspaces/step/actions.h"

namespace attn::ui {
namespace {

using view::AllHeadsView;
using view::GridView;

/// A click chooses the pair that all workspaces share.
void follow_clicks(const view::Actions& drawn, view::Actions& out) {
    for (const view::Action& action : drawn)
        if (const auto* select = action.as<view::SelectCell>())
            out.push_back(view::SelectHeadsPair{select->cell.row, select->cell.column});
}

/// The pointed pair in every matrix.
void draw_cursor(const AllHeadsView& view, const std::vector<GridPlace>& places,
                 const Frame& frame) {
    if (!view.hovered_pair) return;
    for (std::size_t n = 0; n < view.grids.size(); ++n) {
        const GridView& grid = view.grids[n];
        if (view.hovered_pair->row >= grid.rows || view.hovered_pair->column >= grid.columns)
            continue;
        const auto& [origin, cell] = places[n];
        const ImVec2 low{origin.x + cell.x * static_cast<float>(view.hovered_pair->column),
                         origin.y + cell.y * static_cast<float>(view.hovered_pair->row)};
        frame.painter.outline(low, {low.x + cell.x, low.y + cell.y}, frame.theme.text,
                              frame.px(1.5F));
    }
}

}  // namespace

void draw_head_grids(const AllHeadsView& view, const Box& box, const Frame& frame,
                     view::Actions& out) {
    if (view.grids.empty()) return;
    const std::vector<GridPlace> places = place_grids(view.grids, box.low, box.high, frame);
    std::optional<large::Cell> hovered;
    view::Actions drawn;
    for (std::size_t n = 0; n < view.grids.size(); ++n) {
        ImGui::PushID(static_cast<int>(n));
        if (const auto cell = draw_grid(view.grids[n], {}, places[n], frame, drawn))
            hovered = large::Cell{cell->row, cell->column};
        ImGui::PopID();
    }
    follow_clicks(drawn, out);
    draw_cursor(view, places, frame);
    if (!frame.quiet)
        for (std::size_t n = 0; n < view.grids.size(); ++n)
            draw_lens(view.grids[n], places[n], frame, box.low, box.high);
    if (hovered != view.hovered_pair) out.push_back(view::HoverHeadsPair{hovered});
}

}  // namespace attn::ui
