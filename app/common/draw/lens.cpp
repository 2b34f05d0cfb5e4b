#include "app/common/draw/lens.h"

#include <algorithm>

#include "app/common/draw/axis_labels.h"
#include "app/common/draw/grid_parts.h"

namespace attn::ui {
namespace {

using view::GridView;

constexpr Index kCells = 7;  // each way

// Design units.
constexpr float kSmallCell = 16.0F;
constexpr view::Point kCell{52.0F, 26.0F};
constexpr float kPadding = 12.0F;
constexpr float kAway = 20.0F;  // from the pointer

struct LensPart {
    Index first = 0;
    Index count = 0;
};

/// The seven around `middle`, or all.
LensPart around(Index middle, Index all) {
    const Index count = std::min(kCells, all);
    return {within(middle - count / 2, Index{0}, all - count), count};
}

std::vector<std::string> part_of(const std::vector<std::string>& words, LensPart part) {
    const auto first = words.begin() + part.first;
    return {first, first + part.count};
}

GridView part_of(const GridView& grid, LensPart rows, LensPart columns) {
    GridView part = grid;
    part.rows = rows.count;
    part.columns = columns.count;
    part.row_labels = part_of(grid.row_labels, rows);
    part.column_labels = part_of(grid.column_labels, columns);
    part.cells.clear();
    part.lit.clear();
    part.sides.clear();
    part.groups.clear();
    for (Index row = 0; row < rows.count; ++row)
        for (Index column = 0; column < columns.count; ++column)
            part.cells.push_back(grid.at(rows.first + row, columns.first + column));
    part.selected.reset();
    return part;
}

/// Beside the pointer: right of it and below where there is room.
ImVec2 beside_pointer(const Frame& frame, ImVec2 size, ImVec2 low, ImVec2 high) {
    const ImVec2 mouse = ImGui::GetMousePos();
    const float away = frame.px(kAway);
    const float right = mouse.x + away;
    const float below = mouse.y + away;
    const float x = right + size.x <= high.x ? right : mouse.x - away - size.x;
    const float y = below + size.y <= high.y ? below : mouse.y - away - size.y;
    return {std::max(x, low.x), std::max(y, low.y)};
}

void draw_glass(const Frame& frame, const GridView& part, ImVec2 at, ImVec2 size, ImVec2 cells) {
    frame.painter.rect(at, {at.x + size.x, at.y + size.y}, frame.theme.surface, frame.px(6));
    frame.painter.outline(at, {at.x + size.x, at.y + size.y}, frame.theme.accent, frame.px(1),
                          frame.px(6));
    const GridPlace place{cells, {frame.px(kCell.x), frame.px(kCell.y)}};
    const GridCanvas canvas{part, place, frame};
    draw_cells(canvas, {});
    draw_marks(canvas);
    draw_row_labels(canvas, cells.x);
    draw_column_labels(canvas, cells.y);
}

}  // namespace

bool needs_lens(const GridView& grid, const GridPlace& place, const Frame& frame) {
    const bool small = std::min(place.cell.x, place.cell.y) < frame.px(kSmallCell);
    return small && !grid.as_bars && !shows_numbers(grid, place, frame);
}

void draw_lens(const GridView& grid, const GridPlace& place, const Frame& frame, ImVec2 low,
               ImVec2 high) {
    const auto at = ImGui::IsWindowHovered() ? cell_under_pointer(grid, place) : std::nullopt;
    if (!at || !needs_lens(grid, place, frame)) return;
    const LensPart rows = around(at->row, grid.rows);
    const LensPart columns = around(at->column, grid.columns);
    GridView part = part_of(grid, rows, columns);
    part.selected = {at->row - rows.first, at->column - columns.first};
    part.focus_row = part.selected->first;
    part.focus_column = part.selected->second;
    const ImVec2 cell{frame.px(kCell.x), frame.px(kCell.y)};
    const float pad = frame.px(kPadding);
    const float left = row_labels_width({part.row_labels, cell.y, part.row_role, {}, {}}, frame);
    const float top =
        column_labels_height({part.column_labels, cell.x, part.column_role, {}, {}}, frame);
    const ImVec2 size{left + cell.x * static_cast<float>(columns.count) + 2 * pad,
                      top + cell.y * static_cast<float>(rows.count) + 2 * pad};
    const ImVec2 corner = beside_pointer(frame, size, low, high);
    draw_glass(frame, part, corner, size, {corner.x + pad + left, corner.y + pad + top});
}

}  // namespace attn::ui
