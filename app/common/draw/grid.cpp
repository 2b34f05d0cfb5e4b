#include "app/common/draw/grid.h"

#include <algorithm>
#include <limits>
#include <variant>

#include "app/common/draw/grid_parts.h"
#include "app/common/draw/lens.h"
#include "app/common/format.h"

namespace attn::ui {
namespace {

using view::GridView;

struct Place {
    Index row = 0;
    Index column = 0;
};

const char* operand_key(const OperandId& id) {
    return std::visit([](auto which) { return info(which).key.data(); }, id);
}

/// The cell under the pointer; the button over the cells is the last item.
std::optional<Place> pointed_cell(const GridView& grid, const GridPlace& place) {
    if (!ImGui::IsItemHovered()) return std::nullopt;
    const ImVec2 mouse = ImGui::GetMousePos();
    const auto row = static_cast<Index>((mouse.y - place.origin.y) / place.cell.y);
    const auto column = static_cast<Index>((mouse.x - place.origin.x) / place.cell.x);
    if (row < 0 || column < 0 || row >= grid.rows || column >= grid.columns) return std::nullopt;
    return Place{row, column};
}

/// Clear of the cell's neighbours: they are what it is compared with.
void cell_tooltip(const GridView& grid, const GridPlace& place, const Frame& frame, Place at) {
    const std::string& row = grid.row_labels[static_cast<std::size_t>(at.row)];
    const std::string& column = grid.column_labels[static_cast<std::size_t>(at.column)];
    const view::CellView& cell = grid.at(at.row, at.column);
    const bool is_number = cell.look == view::CellLook::number;
    const std::string value = is_number ? view::number(cell.value) : cell.text;
    const char* masked = cell.look == view::CellLook::masked ? " (masked)" : "";
    const ImVec2 step = place.cell;
    const ImVec2 low{place.origin.x + step.x * static_cast<float>(at.column - 1),
                     place.origin.y + step.y * static_cast<float>(at.row - 1)};
    tooltip_beside(frame, low, {low.x + 3 * step.x, low.y + 3 * step.y}, Beside::right,
                   grid.title + "[" + row + ", " + column + "] = " + value + masked, grid.tooltip);
}

GridResult done_at(const GridView& grid, Place at) {
    GridResult result{grid.ref(at.row, at.column)};
    if (ImGui::IsMouseClicked(ImGuiMouseButton_Left)) result.clicked = result.hovered;
    if (ImGui::IsMouseDoubleClicked(ImGuiMouseButton_Left)) result.edited = result.hovered;
    return result;
}

/// The border between lit cells and the rest.
void outline_lit(const GridCanvas& canvas, Place at, view::Color color, float thickness) {
    const GridView& grid = canvas.grid;
    const auto lit = [&](Index row, Index column) {
        return row >= 0 && column >= 0 && row < grid.rows && column < grid.columns &&
               grid.lit[static_cast<std::size_t>(row * grid.columns + column)];
    };
    const ImVec2 a = canvas.corner(at.row, at.column);
    const ImVec2 b = canvas.corner(at.row + 1, at.column + 1);
    const auto edge = [&](Index row, Index column, ImVec2 from, ImVec2 to) {
        if (!lit(row, column)) canvas.frame.painter.line(from, to, color, thickness);
    };
    edge(at.row - 1, at.column, a, {b.x, a.y});
    edge(at.row + 1, at.column, {a.x, b.y}, b);
    edge(at.row, at.column - 1, a, {a.x, b.y});
    edge(at.row, at.column + 1, {b.x, a.y}, b);
}

}  // namespace

void draw_marks(const GridCanvas& canvas) {
    const GridView& grid = canvas.grid;
    const view::Theme& theme = canvas.frame.theme;
    const auto outline_all = [&](view::Color color, float thickness) {
        for (std::size_t n = 0; n < grid.lit.size(); ++n) {
            const auto cell = static_cast<Index>(n);
            if (grid.lit[n])
                outline_lit(canvas, {cell / grid.columns, cell % grid.columns}, color, thickness);
        }
    };
    outline_all(theme.background, canvas.frame.px(3.5F));  // the accent stands out from that one
    outline_all(theme.accent, canvas.frame.px(1.5F));
    draw_group_borders(canvas);
    if (!grid.selected) return;
    const auto [row, column] = *grid.selected;
    const ImVec2 low = canvas.corner(row, column);
    draw_ring(canvas.frame.painter, low,
              {low.x + canvas.place.cell.x - 1, low.y + canvas.place.cell.y - 1}, theme,
              canvas.frame.scale);
}

/// Beneath the cells, at least as wide as its words.
std::optional<bool> draw_own_color_bar(const GridCanvas& canvas) {
    const GridMargins margins = grid_margins(canvas.grid, canvas.frame, canvas.place.cell);
    const ImVec2 low{canvas.place.origin.x, canvas.end().y + canvas.frame.px(kBarGap)};
    return draw_color_bar(canvas, low, std::max(canvas.end().x - low.x, margins.width));
}

GridResult draw_grid(const GridView& grid, const Fade& fade, const GridPlace& place,
                     const Frame& frame, const Dress& dress) {
    if (grid.rows == 0 || grid.columns == 0) return {};
    const GridCanvas canvas{grid, place, frame};
    ImGui::PushID(operand_key(grid.id));
    ImGui::PushID(grid.transposed ? "transposed" : "upright");
    ImGui::SetCursorScreenPos(place.origin);
    ImGui::InvisibleButton("cells",
                           {canvas.end().x - place.origin.x, canvas.end().y - place.origin.y});
    const std::optional<Place> at = pointed_cell(grid, place);
    if (at && !needs_lens(grid, place, frame)) cell_tooltip(grid, place, frame, *at);
    GridResult result = at ? done_at(grid, *at) : GridResult{};
    draw_cells(canvas, fade);
    draw_marks(canvas);
    if (dress.labels) draw_labels(canvas);
    if (dress.sides) draw_sides(canvas, std::numeric_limits<float>::max());
    if (dress.color_bar) result.by_row = draw_own_color_bar(canvas);
    ImGui::PopID();
    ImGui::PopID();
    return result;
}

}  // namespace attn::ui
