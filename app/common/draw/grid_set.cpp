#include "app/common/draw/grid_set.h"

#include "app/common/draw/axis_labels.h"
#include "app/common/draw/grid_parts.h"
#include "app/common/draw/heading.h"

namespace attn::ui {
namespace {

using Grids = std::span<const GridView>;

// Design units.
constexpr float kLargestCell = 180.0F, kWhole = 8.0F;
constexpr float kLargestShare = 0.25F;  // of the shorter side of the space, where that is more
constexpr float kMostAspect = 2.0F, kLeastAspect = 0.8F;  // of a cell: its width over its height

/// Matrices of one cell size, in so many columns.
struct Layout {
    GridPlace each;  // but for where it stands
    std::vector<GridPlace> places = {};

    void place(float x, float y) { places.push_back({{x, y}, each.cell, each.corner}); }
};

/// At most: few cells fill a large window, and a single one does not.
float largest_cell(ImVec2 low, ImVec2 high, const Frame& frame) {
    const float side = std::min(high.x - low.x, high.y - low.y);
    return std::max(frame.px(kLargestCell), std::floor(side * kLargestShare));
}

/// As large as the room for one lets it be, a little higher than wide at most.
ImVec2 cell_in(float across, float down, float most, const Frame& frame) {
    const float height = within(std::min(across / kLeastAspect, down), 1.0F, most);
    const float width = std::max(std::min({across, kMostAspect * height, most}), 1.0F);
    const auto whole = [&](float size) {
        return size < frame.px(kWhole) ? size : std::floor(size);
    };
    return {whole(width), whole(height)};
}

// The margins depend on the cell, and the cell on them. Of two cells that take turns the smaller one stays.
constexpr int kPasses = 6;
ImVec2 next_cell(ImVec2 now, ImVec2 fitting, int pass) {
    if (pass < kPasses / 2) return fitting;
    return {std::min(now.x, fitting.x), std::min(now.y, fitting.y)};
}

/// With what turned labels and the title reach past the last column.
GridMargins margins_of(const GridView& grid, const GridPlace& at, const Frame& frame) {
    const ImVec2 cell = at.cell;
    GridMargins margins = grid_margins(grid, frame, cell, at.corner);
    const float labels =
        column_labels_overhang({grid.column_labels, cell.x, grid.column_role, {}, {}}, frame);
    const float title =
        at.corner ? 0.0F : margins.width - cell.x * static_cast<float>(grid.columns);
    margins.right = std::max({margins.right, labels, title});
    return margins;
}

/// The room around each: the largest of all.
GridMargins margins_of(Grids grids, const GridPlace& at, const Frame& frame) {
    GridMargins most;
    for (const GridView& grid : grids) {
        const GridMargins one = margins_of(grid, at, frame);
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

Layout in_columns(Grids grids, bool corner, int columns, ImVec2 low, ImVec2 high,
                  const Frame& frame) {
    const auto count = static_cast<int>(grids.size());
    const int rows = (count + columns - 1) / columns;
    const ImVec2 cells = cells_of(grids);
    const ImVec2 slot{(high.x - low.x - frame.px(kSpace24) * static_cast<float>(columns - 1)) /
                          static_cast<float>(columns),
                      (high.y - low.y - frame.px(kSpace24) * static_cast<float>(rows - 1)) /
                          static_cast<float>(rows)};
    const float most_cell = largest_cell(low, high, frame);
    Layout at{{{}, {most_cell, most_cell}, corner}};
    GridMargins around;
    for (int pass = 0; pass < kPasses; ++pass) {
        around = margins_of(grids, at.each, frame);
        const float across = (slot.x - around.left - around.right) / cells.x;
        const float down = (slot.y - around.top - around.bottom) / cells.y;
        at.each.cell = next_cell(at.each.cell, cell_in(across, down, most_cell, frame), pass);
    }
    for (int n = 0; n < count; ++n) {
        const auto column = static_cast<float>(n % columns);
        const auto row = static_cast<float>(n / columns);
        const ImVec2 from{low.x + column * (slot.x + frame.px(kSpace24)),
                          low.y + row * (slot.y + frame.px(kSpace24))};
        at.place(std::round(from.x + around.left), std::round(from.y + around.top));
    }
    return at;
}

/// All beside each other, each with the room that it needs itself.
Layout in_one_row(Grids grids, bool corner, ImVec2 low, ImVec2 high, const Frame& frame) {
    const float most_cell = largest_cell(low, high, frame);
    Layout at{{{}, {most_cell, most_cell}, corner}};
    const float gaps = frame.px(kSpace24) * static_cast<float>(grids.size() - 1);
    for (int pass = 0; pass < kPasses; ++pass) {
        const GridMargins most = margins_of(grids, at.each, frame);
        float around = gaps;
        float columns = 0.0F;
        for (const GridView& grid : grids) {
            const GridMargins own = margins_of(grid, at.each, frame);
            around += own.left + own.right;
            columns += static_cast<float>(grid.columns);
        }
        const float across = (high.x - low.x - around) / std::max(columns, 1.0F);
        const float down = (high.y - low.y - most.top - most.bottom) / cells_of(grids).y;
        at.each.cell = next_cell(at.each.cell, cell_in(across, down, most_cell, frame), pass);
    }
    const float top = std::round(low.y + margins_of(grids, at.each, frame).top);
    float left = low.x;
    for (const GridView& grid : grids) {
        const GridMargins own = margins_of(grid, at.each, frame);
        at.place(std::round(left + own.left), top);
        left += own.left + at.each.cell.x * static_cast<float>(grid.columns) + own.right +
                frame.px(kSpace24);
    }
    return at;
}

void draw_cursor(const GridView& grid, const GridPlace& place, const large::Cell& at,
                 const Frame& frame) {
    if (at.row >= grid.rows || at.column >= grid.columns) return;
    const ImVec2 low = GridCanvas{grid, place, frame}.corner(at.row, at.column);
    frame.painter.outline(low, {low.x + place.cell.x, low.y + place.cell.y}, frame.theme.text,
                          frame.px(1.5F));
}

// ---- the lens

constexpr Index kCells = 7;  // each way

// Design units.
constexpr float kSmallCell = 16.0F;
constexpr Point kCell{52.0F, 26.0F};
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

std::vector<std::string> part_of(const std::vector<std::string>& items, LensPart part) {
    const auto first = items.begin() + part.first;
    return {first, first + part.count};
}

GridView part_of(const GridView& grid, LensPart rows, LensPart columns) {
    GridView part = grid;
    part.rows = rows.count;
    part.columns = columns.count;
    part.row_labels = part_of(grid.row_labels, rows);
    part.column_labels = part_of(grid.column_labels, columns);
    part.cells.clear();
    part.highlighted.clear();
    part.sides.clear();
    part.groups.clear();
    for (const auto [row, column] : each_cell(rows.count, columns.count))
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

std::vector<GridPlace> place_grids(std::span<const GridView> grids, ImVec2 low, ImVec2 high,
                                   const Frame& frame) {
    if (grids.empty()) return {};
    Layout best = in_one_row(grids, false, low, high, frame);
    const auto take = [&](Layout at) {
        const auto side = [](const Layout& of) { return std::min(of.each.cell.x, of.each.cell.y); };
        if (side(at) > side(best)) best = std::move(at);
    };
    for (const bool corner : {false, true}) {
        if (corner && !is_lower_than(kLowestWindow, frame)) break;
        if (corner) take(in_one_row(grids, true, low, high, frame));
        for (int columns = static_cast<int>(grids.size()) - 1; columns >= 1; --columns)
            take(in_columns(grids, corner, columns, low, high, frame));
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
    const float pad = frame.px(kSpace12);
    const float left = row_labels_width({part.row_labels, cell.y, part.row_role, {}, {}}, frame);
    const float top =
        column_labels_height({part.column_labels, cell.x, part.column_role, {}, {}}, frame);
    const ImVec2 size{left + cell.x * static_cast<float>(columns.count) + 2 * pad,
                      top + cell.y * static_cast<float>(rows.count) + 2 * pad};
    const ImVec2 corner = beside_pointer(frame, size, low, high);
    draw_glass(frame, part, corner, size, {corner.x + pad + left, corner.y + pad + top});
}

}  // namespace attn::ui
