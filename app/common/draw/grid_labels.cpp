#include <algorithm>

#include "app/common/draw/axis_labels.h"
#include "app/common/draw/grid_parts.h"

namespace attn::ui {
namespace {

constexpr float kBeforeSides = 8;   // between a grid and the first column at its right
constexpr float kBetweenSides = 4;  // between these columns

using view::GridView;

float widest(const Frame& frame, const std::vector<std::string>& words, const view::Font& font) {
    float width = 0.0F;
    for (const std::string& word : words) width = std::max(width, frame.text_width(font, word));
    return width;
}

void draw_title(const GridCanvas& canvas) {
    const Frame& frame = canvas.frame;
    const GridMargins margins = grid_margins(canvas.grid, frame, canvas.place.cell);
    const float y = canvas.place.origin.y - margins.top;
    const ImVec2 at{canvas.place.origin.x, y};
    frame.painter.text(frame.fonts.strong, at, frame.theme.role(canvas.grid.role),
                       canvas.grid.title);
    const float after = frame.text_width(frame.fonts.strong, canvas.grid.title) + frame.px(8);
    const float drop = frame.fonts.strong.px - frame.fonts.small.px;
    frame.painter.text(frame.fonts.small, {at.x + after, y + drop}, frame.theme.muted,
                       canvas.grid.shape);
}

const Font& side_font(const Frame& frame, float cell_height) {
    return cell_height >= frame.px(kRoomyCell) ? frame.fonts.digits : frame.fonts.digits_small;
}

/// What stands below the cells: the ends of the colour bar, or the legend.
float foot_width(const GridView& grid, const Frame& frame) {
    const Font& font = frame.fonts.digits_small;
    if (!grid.legend.empty()) return widest(frame, grid.legend, font);
    return frame.text_width(font, grid.low_label) + frame.text_width(font, grid.high_label) +
           frame.px(8);
}

/// One number and, behind it, its bar.
void draw_side_cell(const GridCanvas& canvas, const view::SideVector& side, std::size_t row,
                    ImVec2 low, ImVec2 high) {
    const Frame& frame = canvas.frame;
    if (row < side.bars.size() && side.bars[row] > 0.0) {
        const float inset = std::max(1.0F, (high.y - low.y) * 0.15F);
        const auto share = static_cast<float>(std::min(side.bars[row], 1.0));
        frame.painter.rect({low.x, low.y + inset},
                           {low.x + (high.x - low.x) * share, high.y - inset},
                           view::translucent(frame.theme.role(side.role), 0.35), frame.px(2));
    }
    const Font& font = side_font(frame, canvas.place.cell.y);
    if (font.px > canvas.place.cell.y) return;
    draw_text_in(frame, font, low, {high.x - frame.px(4), high.y}, Align::right, frame.theme.text,
                 side.cells[row]);
}

void point_at_side(const GridCanvas& canvas, const view::SideVector& side, ImVec2 low,
                   ImVec2 high) {
    ImGui::SetCursorScreenPos({low.x, low.y - canvas.frame.px(kLabelHeight)});
    ImGui::PushID(side.title.c_str());
    ImGui::InvisibleButton("side",
                           {high.x - low.x, high.y - low.y + canvas.frame.px(kLabelHeight)});
    const float y = ImGui::GetMousePos().y;
    const auto row = static_cast<std::ptrdiff_t>((y - low.y) / canvas.place.cell.y);
    const bool on_row = y >= low.y && row < std::ssize(side.cell_tips);
    tooltip(canvas.frame, side.title,
            on_row ? side.cell_tips[static_cast<std::size_t>(row)] : side.tooltip);
    ImGui::PopID();
}

AxisLabels rows_of(const GridView& grid, float pitch) {
    AxisLabels labels{grid.row_labels, pitch, grid.row_role, {}, grid.focus_row};
    if (grid.selected) labels.selected = grid.selected->first;
    return labels;
}

AxisLabels columns_of(const GridView& grid, float pitch) {
    AxisLabels labels{grid.column_labels, pitch, grid.column_role, {}, grid.focus_column};
    if (grid.selected) labels.selected = grid.selected->second;
    return labels;
}

}  // namespace

void draw_row_labels(const GridCanvas& canvas, float right) {
    draw_row_labels(rows_of(canvas.grid, canvas.place.cell.y), canvas.frame, right,
                    canvas.place.origin.y);
}

void draw_column_labels(const GridCanvas& canvas, float foot) {
    if (!canvas.grid.groups.empty()) return draw_group_labels(canvas, foot);
    draw_column_labels(columns_of(canvas.grid, canvas.place.cell.x), canvas.frame,
                       canvas.place.origin.x, foot);
}

float side_width(const view::SideVector& side, const Frame& frame, float cell_height) {
    return std::max(widest(frame, side.cells, side_font(frame, cell_height)),
                    frame.text_width(frame.fonts.small, side.title)) +
           frame.px(12);
}

GridMargins grid_margins(const GridView& grid, const Frame& frame, ImVec2 cell) {
    GridMargins margins;
    margins.left = row_labels_width(rows_of(grid, cell.y), frame);
    margins.top = frame.px(kTitleHeight) + column_labels_height(columns_of(grid, cell.x), frame);
    for (const view::SideVector& side : grid.sides)
        margins.right += side_width(side, frame, cell.y) +
                         frame.px(margins.right == 0.0F ? kBeforeSides : kBetweenSides);
    margins.bottom = frame.px(kBarGap * 2 + kBarHeight) + frame.fonts.digits_small.px * 1.5F;
    const float title = frame.text_width(frame.fonts.strong, grid.title) + frame.px(8) +
                        frame.text_width(frame.fonts.small, grid.shape);
    margins.width = std::max(title, foot_width(grid, frame));
    return margins;
}

void draw_labels(const GridCanvas& canvas) {
    draw_title(canvas);
    draw_row_labels(canvas, canvas.place.origin.x);
    draw_column_labels(canvas, canvas.place.origin.y);
}

void draw_sides(const GridCanvas& canvas, float room) {
    const Frame& frame = canvas.frame;
    const float head = frame.px(kLabelHeight);
    const float end = canvas.end().x + room;
    float x = canvas.end().x + frame.px(kBeforeSides);
    const bool readable = side_font(frame, canvas.place.cell.y).px <= canvas.place.cell.y;
    for (const view::SideVector& side : canvas.grid.sides) {
        if (side.bars.empty() && !readable)
            continue;  // no room for its numbers, and it has nothing else
        const float right = x + side_width(side, frame, canvas.place.cell.y);
        if (right > end) return;
        const float top = canvas.place.origin.y;
        draw_text_in(frame, frame.fonts.small, {x, top - head}, {right - frame.px(4), top},
                     Align::right, frame.theme.role(side.role), side.title);
        for (std::size_t row = 0; row < side.cells.size(); ++row) {
            const float y = canvas.corner(static_cast<Index>(row), 0).y;
            draw_side_cell(canvas, side, row, {x, y}, {right, y + canvas.place.cell.y});
        }
        point_at_side(canvas, side, {x, top}, {right, canvas.end().y});
        x = right + frame.px(kBetweenSides);
    }
}

}  // namespace attn::ui
