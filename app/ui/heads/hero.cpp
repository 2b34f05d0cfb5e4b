#include <algorithm>
#include <cmath>
#include <vector>

#include "app/ui/common/draw.h"
#include "app/ui/common/grid.h"
#include "app/ui/common/lens.h"
#include "app/ui/heads/parts.h"

namespace attn::ui {
namespace {

using view::AllHeadsView;
using view::GridView;

// Design units.
constexpr float kGap = 24.0F;
constexpr float kLargestCell = 180.0F;
constexpr float kWhole = 8.0F;

/// Matrices of one cell size, in so many columns.
struct Layout {
    float cell = 0.0F;
    std::vector<GridPlace> places;
};

/// The room around each: the largest of all.
GridMargins margins_of(const AllHeadsView& view, float cell, const Frame& frame) {
    GridMargins most;
    for (const GridView& grid : view.grids) {
        const GridMargins one = grid_margins(grid, frame, cell);
        most.left = std::max(most.left, one.left);
        most.top = std::max(most.top, one.top);
        most.right = std::max(most.right, one.right);
        most.bottom = std::max(most.bottom, one.bottom);
    }
    return most;
}

ImVec2 cells_of(const AllHeadsView& view) {
    ImVec2 most{1.0F, 1.0F};
    for (const GridView& grid : view.grids) {
        most.x = std::max(most.x, static_cast<float>(grid.columns));
        most.y = std::max(most.y, static_cast<float>(grid.rows));
    }
    return most;
}

Layout in_columns(const AllHeadsView& view, int columns, const Box& box, const Frame& frame) {
    const auto count = static_cast<int>(view.grids.size());
    const int rows = (count + columns - 1) / columns;
    const ImVec2 cells = cells_of(view);
    const ImVec2 slot{
        (box.size().x - frame.px(kGap) * static_cast<float>(columns - 1)) /
            static_cast<float>(columns),
        (box.size().y - frame.px(kGap) * static_cast<float>(rows - 1)) / static_cast<float>(rows)};
    Layout at;
    at.cell = frame.px(kLargestCell);
    GridMargins around;
    for (int pass = 0; pass < 4; ++pass) {  // what stands around depends a little on the cell
        around = margins_of(view, at.cell, frame);
        const float across = (slot.x - around.left - around.right) / cells.x;
        const float down = (slot.y - around.top - around.bottom) / cells.y;
        at.cell = std::clamp(std::min(across, down), 1.0F, frame.px(kLargestCell));
    }
    if (at.cell >= frame.px(kWhole)) at.cell = std::floor(at.cell);
    for (int n = 0; n < count; ++n) {
        const auto column = static_cast<float>(n % columns);
        const auto row = static_cast<float>(n / columns);
        const ImVec2 low{box.low.x + column * (slot.x + frame.px(kGap)),
                         box.low.y + row * (slot.y + frame.px(kGap))};
        at.places.push_back({{std::round(low.x + around.left), std::round(low.y + around.top)},
                             {at.cell, at.cell}});
    }
    return at;
}

/// In as many columns as give the largest cells.
Layout lay_out(const AllHeadsView& view, const Box& box, const Frame& frame) {
    Layout best;
    for (int columns = static_cast<int>(view.grids.size()); columns >= 1; --columns) {
        Layout at = in_columns(view, columns, box, frame);
        if (at.cell > best.cell) best = std::move(at);
    }
    return best;
}

/// A click chooses the pair that all workspaces share.
void follow_clicks(const view::Actions& drawn, view::Actions& out) {
    for (const view::Action& action : drawn)
        if (const auto* select = std::get_if<view::SelectCell>(&action))
            out.push_back(view::SelectHeadsPair{select->cell.row, select->cell.column});
}

/// The pointed pair in every matrix.
void draw_cursor(const AllHeadsView& view, const Layout& at, const Frame& frame) {
    if (!view.hovered_pair) return;
    for (std::size_t n = 0; n < view.grids.size(); ++n) {
        const GridView& grid = view.grids[n];
        if (view.hovered_pair->row >= grid.rows || view.hovered_pair->column >= grid.columns)
            continue;
        const ImVec2 low{
            at.places[n].origin.x + at.cell * static_cast<float>(view.hovered_pair->column),
            at.places[n].origin.y + at.cell * static_cast<float>(view.hovered_pair->row)};
        frame.painter.outline(low, {low.x + at.cell, low.y + at.cell}, frame.theme.text,
                              frame.px(1.5F));
    }
}

}  // namespace

void draw_head_grids(const AllHeadsView& view, const Box& box, const Frame& frame,
                     view::Actions& out) {
    if (view.grids.empty()) return;
    const Layout at = lay_out(view, box, frame);
    std::optional<large::Cell> hovered;
    view::Actions drawn;
    for (std::size_t n = 0; n < view.grids.size(); ++n) {
        ImGui::PushID(static_cast<int>(n));
        if (const auto cell = draw_grid(view.grids[n], {}, at.places[n], frame, drawn))
            hovered = large::Cell{cell->row, cell->column};
        ImGui::PopID();
    }
    follow_clicks(drawn, out);
    draw_cursor(view, at, frame);
    if (!frame.quiet)
        for (std::size_t n = 0; n < view.grids.size(); ++n)
            draw_lens(view.grids[n], at.places[n], frame, box.low, box.high);
    if (hovered != view.hovered_pair) out.push_back(view::HoverHeadsPair{hovered});
}

}  // namespace attn::ui
