#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <optional>

#include "app/ui/common/grid_parts.h"

namespace attn::ui {
namespace {

using view::GridView;

float widest(const Frame& frame, const std::vector<std::string>& words, const view::Font& font,
             std::size_t most = std::string::npos) {
    float width = 0.0F;
    for (const std::string& word : words)
        width = std::max(width, frame.text_width(font, middle_ellipsis(word, most)));
    return width;
}

/// Every how many rows (or columns) a label fits.
Index label_stride(float cell, float needed) {
    return std::max<Index>(1, static_cast<Index>(std::ceil(needed / cell)));
}

/// Every `stride`-th place gets a label and the selected one always: what is too near to it has none.
template <class Draw>
void draw_each(Index count, Index stride, std::optional<Index> selected, Draw draw) {
    for (Index n = 0; n < count; n += stride)
        if (!selected || std::abs(n - *selected) >= stride) draw(n);
    if (selected && *selected >= 0 && *selected < count) draw(*selected);
}

bool are_numbers(const std::vector<std::string>& labels) {
    const auto is_number = [](const std::string& label) {
        return std::ranges::all_of(label, [](char c) { return c >= '0' && c <= '9'; });
    };
    return std::ranges::all_of(labels, is_number);
}

view::Color label_color(const GridCanvas& canvas, Role role, bool selected) {
    const view::Theme& theme = canvas.frame.theme;
    return selected ? theme.accent : theme.role(role);
}

void draw_title(const GridCanvas& canvas) {
    const Frame& frame = canvas.frame;
    const GridMargins margins = grid_margins(canvas.grid, frame, canvas.place.cell.x);
    const float y = canvas.place.origin.y - margins.top;
    const ImVec2 at{canvas.place.origin.x, y};
    frame.painter.text(frame.fonts.strong, at, frame.theme.role(canvas.grid.role),
                       canvas.grid.title);
    const float after = frame.text_width(frame.fonts.strong, canvas.grid.title) + frame.px(8);
    const float drop = frame.fonts.strong.px - frame.fonts.small.px;
    frame.painter.text(frame.fonts.small, {at.x + after, y + drop}, frame.theme.muted,
                       canvas.grid.shape);
}

void draw_row_labels(const GridCanvas& canvas) {
    const Frame& frame = canvas.frame;
    const Font font = label_font(frame, canvas.place.cell.x);
    const float width = row_label_width(canvas.grid, frame, canvas.place.cell.x);
    const Index stride = label_stride(canvas.place.cell.y, font.px + frame.px(1));
    std::optional<Index> selected;
    if (canvas.grid.selected) selected = canvas.grid.selected->first;
    draw_each(canvas.grid.rows, stride, selected, [&](Index row) {
        const ImVec2 low = canvas.corner(row, 0);
        draw_text_in(frame, font, {low.x - width, low.y},
                     {low.x - frame.px(kLabelGap), low.y + canvas.place.cell.y}, Align::right,
                     label_color(canvas, canvas.grid.row_role, selected == row),
                     middle_ellipsis(canvas.grid.row_labels[static_cast<std::size_t>(row)],
                                     kLongestRowLabel));
    });
}

void draw_column_label(const GridCanvas& canvas, Index column, bool turned) {
    const Frame& frame = canvas.frame;
    const Font font = label_font(frame, canvas.place.cell.x);
    const ImVec2 low = canvas.corner(0, column);
    const bool selected = canvas.grid.selected && canvas.grid.selected->second == column;
    const view::Color color = label_color(canvas, canvas.grid.column_role, selected);
    const std::string label = middle_ellipsis(
        canvas.grid.column_labels[static_cast<std::size_t>(column)], kLongestColumnLabel);
    if (turned) {
        const ImVec2 foot{low.x + canvas.place.cell.x / 2, low.y - frame.px(8)};
        draw_rotated_text(frame, font, foot, kTurnDegrees, color, label);
        return;
    }
    draw_text_in(frame, font, {low.x, low.y - frame.px(kLabelHeight)},
                 {low.x + canvas.place.cell.x, low.y}, Align::center, color, label);
}

void draw_column_labels(const GridCanvas& canvas) {
    const Frame& frame = canvas.frame;
    const float cell = canvas.place.cell.x;
    const Font font = label_font(frame, cell);
    const bool turned = has_turned_labels(canvas.grid, frame, cell);
    const float needed = turned ? font.px * 1.3F + frame.px(1)
                                : widest(frame, canvas.grid.column_labels, font) + frame.px(1);
    std::optional<Index> selected;
    if (canvas.grid.selected) selected = canvas.grid.selected->second;
    draw_each(canvas.grid.columns, label_stride(cell, needed), selected,
              [&](Index column) { draw_column_label(canvas, column, turned); });
}

float column_label_height(const GridView& grid, const Frame& frame, float cell_width) {
    if (!has_turned_labels(grid, frame, cell_width)) return frame.px(kLabelHeight);
    const Font font = label_font(frame, cell_width);
    const float longest = widest(frame, grid.column_labels, font, kLongestColumnLabel) + font.px;
    return longest * std::sin(-kTurnDegrees * std::numbers::pi_v<float> / 180.0F) + frame.px(8);
}

const Font& side_font(const Frame& frame, float cell_width) {
    return cell_width >= frame.px(kRoomyCell) ? frame.fonts.digits : frame.fonts.digits_small;
}

/// What stands below the cells: the ends of the colour bar, or the legend.
float foot_width(const GridView& grid, const Frame& frame) {
    const Font& font = frame.fonts.digits_small;
    if (!grid.legend.empty()) return widest(frame, grid.legend, font);
    return frame.text_width(font, grid.low_label) + frame.text_width(font, grid.high_label) +
           frame.px(8);
}

}  // namespace

bool has_turned_labels(const GridView& grid, const Frame& frame, float cell_width) {
    return !are_numbers(grid.column_labels) &&
           widest(frame, grid.column_labels, label_font(frame, cell_width)) >
               cell_width - frame.px(1);
}

Font label_font(const Frame& frame, float cell_width) {
    return cell_width >= frame.px(kRoomyCell) ? frame.fonts.body : frame.fonts.small;
}

float row_label_width(const GridView& grid, const Frame& frame, float cell_width) {
    return widest(frame, grid.row_labels, label_font(frame, cell_width), kLongestRowLabel) +
           frame.px(kLabelGap);
}

float side_width(const view::SideVector& side, const Frame& frame, float cell_width) {
    return std::max(widest(frame, side.cells, side_font(frame, cell_width)),
                    frame.text_width(label_font(frame, cell_width), side.title)) +
           frame.px(16);
}

GridMargins grid_margins(const GridView& grid, const Frame& frame, float cell_width) {
    GridMargins margins;
    margins.left = row_label_width(grid, frame, cell_width);
    margins.top = frame.px(kTitleHeight) + column_label_height(grid, frame, cell_width);
    for (const view::SideVector& side : grid.sides)
        margins.right += side_width(side, frame, cell_width);
    margins.bottom = frame.px(kBarGap * 2 + kBarHeight) + frame.fonts.digits_small.px * 1.5F;
    const float title = frame.text_width(frame.fonts.strong, grid.title) + frame.px(8) +
                        frame.text_width(frame.fonts.small, grid.shape);
    margins.width = std::max(title, foot_width(grid, frame));
    return margins;
}

void draw_labels(const GridCanvas& canvas) {
    draw_title(canvas);
    draw_row_labels(canvas);
    draw_column_labels(canvas);
}

void draw_sides(const GridCanvas& canvas) {
    const Frame& frame = canvas.frame;
    if (canvas.place.cell.y < frame.fonts.digits_small.px) return;
    const float cell = canvas.place.cell.x;
    float x = canvas.end().x;
    for (const view::SideVector& side : canvas.grid.sides) {
        const float right = x + side_width(side, frame, cell);
        const view::Color color = frame.theme.role(side.role);
        draw_text_in(frame, label_font(frame, cell),
                     {x, canvas.place.origin.y - frame.px(kLabelHeight)},
                     {right, canvas.place.origin.y}, Align::right, color, side.title);
        for (std::size_t row = 0; row < side.cells.size(); ++row) {
            const float y = canvas.corner(static_cast<Index>(row), 0).y;
            draw_text_in(frame, side_font(frame, cell), {x, y}, {right, y + canvas.place.cell.y},
                         Align::right, frame.theme.text, side.cells[row]);
        }
        x = right;
    }
}

}  // namespace attn::ui
