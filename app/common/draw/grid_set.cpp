#include "app/common/draw/grid_set.h"

#include <algorithm>
#include <cmath>

#include "app/common/draw/lens.h"

namespace attn::ui {
namespace {

using view::GridView;
using Grids = std::span<const GridView>;

// Design units.
constexpr float kGridSetGap = 24.0F;
constexpr float kLargestCell = 180.0F;
constexpr float kWhole = 8.0F;

/// Matrices of one cell size, in so many columns.
struct Layout {
    float cell = 0.0F;
    std::vector<GridPlace> places;
};

/// The room around each: the largest of all.
GridMargins margins_of(Grids grids, float cell, const Frame& frame) {
    GridMargins most;
    for (const GridView& grid : grids) {
        const GridMargins one = grid_margins(grid, frame, cell);
        most.left = std::max(most.left, one.left);
        most.top = std::max(most.top, one.top);
        most.right = std::max(most.right, one.right);
        most.bottom = std::max(most.bottom, one.bottom);
    }
    return most;
}

ImVec2 cells_of(Grids grids) {
    ImVec2 most{1.0F, 1.0F};
    for (const GridView& grid : grids) {
        most.x = std::max(most.x, static_cast<float>(grid.columns));
        most.y = std::max(most.y, static_cast<float>(grid.rows));
    }
    return most;
}

Layout in_columns(Grids grids, int columns, ImVec2 low, ImVec2 high, const Frame& frame) {
    const auto count = static_cast<int>(grids.size());
    const int rows = (count + columns - 1) / columns;
    const ImVec2 cells = cells_of(grids);
    const ImVec2 slot{(high.x - low.x - frame.px(kGridSetGap) * static_cast<float>(columns - 1)) /
                          static_cast<float>(columns),
                      (high.y - low.y - frame.px(kGridSetGap) * static_cast<float>(rows - 1)) /
                          static_cast<float>(rows)};
    Layout at;
    at.cell = frame.px(kLargestCell);
    GridMargins around;
    for (int pass = 0; pass < 4; ++pass) {  // what stands around depends a little on the cell
        around = margins_of(grids, at.cell, frame);
        const float across = (slot.x - around.left - around.right) / cells.x;
        const float down = (slot.y - around.top - around.bottom) / cells.y;
        at.cell = within(std::min(across, down), 1.0F, frame.px(kLargestCell));
    }
    if (at.cell >= frame.px(kWhole)) at.cell = std::floor(at.cell);
    for (int n = 0; n < count; ++n) {
        const auto column = static_cast<float>(n % columns);
        const auto row = static_cast<float>(n / columns);
        const ImVec2 corner{low.x + column * (slot.x + frame.px(kGridSetGap)),
                            low.y + row * (slot.y + frame.px(kGridSetGap))};
        at.places.push_back(
            {{std::round(corner.x + around.left), std::round(corner.y + around.top)},
             {at.cell, at.cell}});
    }
    return at;
}

/// All beside each other, each with the room that it needs itself.
Layout in_one_row(Grids grids, ImVec2 low, ImVec2 high, const Frame& frame) {
    Layout at;
    at.cell = frame.px(kLargestCell);
    const float gaps = frame.px(kGridSetGap) * static_cast<float>(grids.size() - 1);
    for (int pass = 0; pass < 4; ++pass) {  // what stands around depends a little on the cell
        const GridMargins most = margins_of(grids, at.cell, frame);
        float around = gaps;
        float columns = 0.0F;
        for (const GridView& grid : grids) {
            const GridMargins own = grid_margins(grid, frame, at.cell);
            around += own.left + own.right;
            columns += static_cast<float>(grid.columns);
        }
        const float across = (high.x - low.x - around) / std::max(columns, 1.0F);
        const float down = (high.y - low.y - most.top - most.bottom) / cells_of(grids).y;
        at.cell = within(std::min(across, down), 1.0F, frame.px(kLargestCell));
    }
    if (at.cell >= frame.px(kWhole)) at.cell = std::floor(at.cell);
    const float top = std::round(low.y + margins_of(grids, at.cell, frame).top);
    float left = low.x;
    for (const GridView& grid : grids) {
        const GridMargins own = grid_margins(grid, frame, at.cell);
        at.places.push_back({{std::round(left + own.left), top}, {at.cell, at.cell}});
        left += own.left + at.cell * static_cast<float>(grid.columns) + own.right +
                frame.px(kGridSetGap);
    }
    return at;
}

void draw_cursor(const GridView& grid, const GridPlace& place, const large::Cell& at,
                 const Frame& frame) {
    if (at.row >= grid.rows || at.column >= grid.columns) return;
    const auto& [origin, cell] = place;
    const ImVec2 low{origin.x + cell.x * static_cast<float>(at.column),
                     origin.y + cell.y * static_cast<float>(at.row)};
    frame.painter.outline(low, {low.x + cell.x, low.y + cell.y}, frame.theme.text, frame.px(1.5F));
}

}  // namespace

std::vector<GridPlace> place_grids(std::span<const GridView> grids, ImVec2 low, ImVec2 high,
                                   const Frame& frame) {
    if (grids.empty()) return {};
    Layout best = in_one_row(grids, low, high, frame);
    for (int columns = static_cast<int>(grids.size()) - 1; columns >= 1; --columns) {
        Layout at = in_columns(grids, columns, low, high, frame);
        if (at.cell > best.cell) best = std::move(at);
    }
    return best.places;
}

GridSetResult draw_grid_set(std::span<const GridView> grids, ImVec2 low, ImVec2 high,
                            const Frame& frame, const std::optional<large::Cell>& cursor) {
    const std::vector<GridPlace> places = place_grids(grids, low, high, frame);
    GridSetResult result;
    for (std::size_t n = 0; n < grids.size(); ++n) {
        ImGui::PushID(static_cast<int>(n));
        const GridResult one = draw_grid(grids[n], {}, places[n], frame);
        if (one.hovered) result = {one, n};
        ImGui::PopID();
    }
    for (std::size_t n = 0; cursor && n < grids.size(); ++n)
        draw_cursor(grids[n], places[n], *cursor, frame);
    for (std::size_t n = 0; !frame.quiet && n < grids.size(); ++n)
        draw_lens(grids[n], places[n], frame, low, high);
    return result;
}

}  // namespace attn::ui
