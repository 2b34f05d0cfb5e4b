#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "app/common/draw/axis_labels.h"
#include "app/common/draw/grid_parts.h"
#include "app/common/draw/lens.h"
#include "app/workspaces/masks/draw/parts.h"

namespace attn::ui {
namespace {

using view::GridView, view::MasksView, view::Pair;

// Design units.
constexpr float kGap = 28.0F;   // between matrices
constexpr float kFoot = 36.0F;  // colours and their words
constexpr float kMostLabels = 176.0F, kWidestCell = 200.0F, kHighestCell = 150.0F,
                kWholePixels = 16.0F;
constexpr float kMostAspect = 1.5F;  // of a cell: height to width
constexpr float kLowAspect = 2.5F;   // and width to height
constexpr float kLeastMark = 10.0F;  // a smaller cell has no mark of paint

/// Where the matrices stand: cells of one size, rows in one line.
struct Layout {
    ImVec2 cell;
    float labels = 0.0F, head = 0.0F;
    std::vector<GridPlace> places;
};

AxisLabels rows_of(const GridView& grid, float pitch) {
    return {grid.row_labels, pitch, grid.row_role, {}, {}};
}
AxisLabels columns_of(const GridView& grid, float pitch) {
    return {grid.column_labels, pitch, grid.column_role, {}, {}};
}

/// What stands right of a matrix.
float sides_width(const GridView& grid, const Frame& frame, float cell) {
    float width = 0.0F;
    for (const view::SideVector& side : grid.sides) width += side_width(side, frame, cell);
    return width > 0.0F ? width + frame.px(kSpace8) : 0.0F;
}

/// Cells as large as the room allows; figures ask for width.
ImVec2 cell_in(ImVec2 room, const GridView& grid, std::size_t count, const Frame& frame) {
    const float columns = static_cast<float>(grid.columns) * static_cast<float>(count);
    const float width = within(room.x / columns, 0.5F, frame.px(kWidestCell));
    const float height =
        within(room.y / static_cast<float>(grid.rows), 0.5F, frame.px(kHighestCell));
    const ImVec2 cell{std::min(width, std::max(height * kLowAspect, frame.px(kWholePixels))),
                      std::min(height, width * kMostAspect)};
    const auto whole = [&](float size) {
        return size < frame.px(kWholePixels) ? size : std::floor(size);
    };
    return {whole(cell.x), whole(cell.y)};
}

Layout lay_out(std::span<const GridView> grids, ImVec2 low, ImVec2 high, const Frame& frame) {
    const auto count = static_cast<float>(grids.size());
    Layout layout;
    layout.cell = {frame.px(kWidestCell), frame.px(kHighestCell)};
    float sides = 0.0F;
    for (int pass = 0; pass < 4; ++pass) {  // labels depend on the cells, and they on the labels
        layout.labels = std::min(row_labels_width(rows_of(grids[0], layout.cell.y), frame),
                                 frame.px(kMostLabels));
        const float names = column_labels_height(columns_of(grids[0], layout.cell.x), frame);
        layout.head = std::max(pass < 2 ? 0.0F : layout.head, names + frame.px(kTitleRow));
        sides = 0.0F;
        for (const GridView& grid : grids) sides += sides_width(grid, frame, layout.cell.y);
        const ImVec2 room{high.x - low.x - layout.labels - sides - frame.px(kGap) * (count - 1),
                          high.y - low.y - layout.head - frame.px(kFoot)};
        layout.cell = cell_in({std::max(room.x, 1.0F), std::max(room.y, 1.0F)}, grids[0],
                              grids.size(), frame);
    }
    const float width = layout.cell.x * static_cast<float>(grids[0].columns);
    const float all = layout.labels + sides + count * width + frame.px(kGap) * (count - 1);
    const float spare = std::max(high.x - low.x - all, 0.0F);
    const float gap = frame.px(kGap) + std::min(spare / (count + 1), frame.px(64));
    float x =
        low.x + layout.labels + std::max(spare - (count - 1) * (gap - frame.px(kGap)), 0.0F) / 2;
    for (const GridView& grid : grids) {
        layout.places.push_back({{std::round(x), std::round(low.y + layout.head)}, layout.cell});
        x += width + sides_width(grid, frame, layout.cell.y) + gap;
    }
    return layout;
}

/// The pair under the pointer, inside the matrix also where the pointer is not.
Pair pair_at(const GridView& grid, const GridPlace& place) {
    const ImVec2 mouse = ImGui::GetMousePos();
    const auto cell = [](float distance, float size, Index count) {
        return within<Index>(static_cast<Index>(std::floor(distance / size)), 0, count - 1);
    };
    return {cell(mouse.y - place.origin.y, place.cell.y, grid.rows),
            cell(mouse.x - place.origin.x, place.cell.x, grid.columns)};
}

/// The button over the mask is the last item. What was painted first decides: from then on the brush holds.
void paint(const MasksView& view, const GridView& grid, Pair at, view::Actions& out) {
    const bool rectangle = ImGui::GetIO().KeyShift;
    const auto shape = rectangle ? view::PaintShape::rectangle : view::PaintShape::line;
    if (ImGui::IsItemActivated()) {
        const bool allowed = grid.at(at.query, at.key).look == view::CellLook::masked;
        out.push_back(view::BeginGesture{});
        out.push_back(view::PaintMask{at.query, at.key, at.query, at.key, shape, allowed});
    } else if (ImGui::IsItemActive() && view.brush && !(view.brush->last == at)) {
        const Pair from = rectangle ? view.brush->first : view.brush->last;
        out.push_back(
            view::PaintMask{from.query, from.key, at.query, at.key, shape, view.brush->allowed});
    }
    if (ImGui::IsItemDeactivated()) out.push_back(view::EndGesture{});
    if (ImGui::IsItemHovered() && ImGui::IsMouseClicked(ImGuiMouseButton_Right))
        out.push_back(view::SelectPair{at.query, at.key, rectangle});
}

/// Clear of the pair's neighbours.
void point_at(const MasksView& view, const GridView& grid, const GridPlace& place,
              const Frame& frame, Pair at) {
    if (view.hovered != at) return;  // the words are of the frame before
    const view::CellView& cell = grid.at(at.query, at.key);
    const ImVec2 low{place.origin.x + place.cell.x * static_cast<float>(at.key - 1),
                     place.origin.y + place.cell.y * static_cast<float>(at.query - 1)};
    tooltip_beside(frame, low, {low.x + 3 * place.cell.x, low.y + 3 * place.cell.y}, Beside::right,
                   view.hover_title + "\n" + grid.title + " " + cell.text, view.hover_words);
}

/// Around the rows that are left no key.
void draw_flags(const MasksView& view, const GridCanvas& canvas) {
    const Frame& frame = canvas.frame;
    for (std::size_t row = 0; row < view.flagged.size(); ++row) {
        if (!view.flagged[row]) continue;
        const ImVec2 low = canvas.corner(static_cast<Index>(row), 0);
        const ImVec2 high = canvas.corner(static_cast<Index>(row) + 1, canvas.grid.columns);
        frame.painter.outline({low.x - frame.px(1), low.y - frame.px(1)},
                              {high.x + frame.px(1), high.y}, frame.theme.warning, frame.px(2));
    }
}

/// A corner of the cells that were painted.
void draw_paint(const MasksView& view, const GridCanvas& canvas) {
    const float least = std::min(canvas.place.cell.x, canvas.place.cell.y);
    if (least < canvas.frame.px(kLeastMark)) return;
    const float size = within(least * 0.22F, canvas.frame.px(3), canvas.frame.px(12));
    for (std::size_t n = 0; n < view.painted.size(); ++n) {
        if (view.painted[n] == 0) continue;
        const auto at = static_cast<Index>(n);
        const ImVec2 low = canvas.corner(at / canvas.grid.columns, at % canvas.grid.columns);
        const view::Point corner[] = {low, {low.x + size, low.y}, {low.x, low.y + size}};
        canvas.frame.painter.polygon(corner, canvas.frame.theme.accent);
    }
}

/// From the other corner of the selected rectangle to the selected pair.
void draw_rectangle(const MasksView& view, const GridCanvas& canvas) {
    if (!view.corner || !canvas.grid.selected) return;
    const auto [row, column] = *canvas.grid.selected;
    const auto [top, bottom] = std::minmax(view.corner->query, row);
    const auto [left, right] = std::minmax(view.corner->key, column);
    const ImVec2 low = canvas.corner(top, left);
    const ImVec2 high = canvas.corner(bottom + 1, right + 1);
    canvas.frame.painter.outline(low, high, canvas.frame.theme.background, canvas.frame.px(4));
    canvas.frame.painter.outline(low, high, canvas.frame.theme.accent, canvas.frame.px(2));
}

void draw_title(const GridCanvas& canvas, float head) {
    const Frame& frame = canvas.frame;
    const ImVec2 low{canvas.place.origin.x, canvas.place.origin.y - head};
    const float room = canvas.end().x - low.x;
    const std::string title = fit_text(frame, frame.fonts.strong, canvas.grid.title, room);
    frame.painter.text(frame.fonts.strong, low, frame.theme.role(canvas.grid.role), title);
    const float x = low.x + frame.text_width(frame.fonts.strong, title) + frame.px(8);
    if (x + frame.text_width(frame.fonts.small, canvas.grid.shape) > canvas.end().x) return;
    frame.painter.text(frame.fonts.small, {x, low.y + frame.px(2)}, frame.theme.muted,
                       canvas.grid.shape);
}

/// `first`: the rows are named beside it.
void draw_one(const MasksView& view, std::size_t n, const Layout& layout, const GridPlace& place,
              bool first, const Frame& frame, view::Actions& out, std::optional<Pair>& hovered) {
    const GridView& grid = view.grids[n];
    const GridCanvas canvas{grid, place, frame};
    ImGui::SetCursorScreenPos(place.origin);
    ImGui::InvisibleButton("pairs",
                           {canvas.end().x - place.origin.x, canvas.end().y - place.origin.y});
    const Pair at = pair_at(grid, place);
    if (ImGui::IsItemHovered() || ImGui::IsItemActive()) hovered = at;
    if (view.paints && n == 0)
        paint(view, grid, at, out);
    else if (ImGui::IsItemActivated())
        out.push_back(view::SelectPair{at.query, at.key, ImGui::GetIO().KeyShift});
    if (ImGui::IsItemHovered() && !needs_lens(grid, place, frame))
        point_at(view, grid, place, frame, at);
    draw_cells(canvas, {});
    if (n == 0) draw_paint(view, canvas);
    draw_flags(view, canvas);
    draw_rectangle(view, canvas);
    draw_marks(canvas);
    draw_title(canvas, layout.head);
    if (first) draw_row_labels(canvas, place.origin.x);
    draw_column_labels(canvas, place.origin.y);
    draw_sides(canvas, std::numeric_limits<float>::max());
    draw_color_bar(canvas, {place.origin.x, canvas.end().y + frame.px(kBarGap)},
                   canvas.end().x - place.origin.x);
}

}  // namespace

void draw_pair_grids(const MasksView& view, std::size_t first, std::size_t count, const Box& box,
                     const Frame& frame, view::Actions& out) {
    if (view.grids.empty() || view.grids.front().rows == 0 || view.grids.front().columns == 0)
        return;
    const Layout layout =
        lay_out(std::span(view.grids).subspan(first, count), box.low, box.high, frame);
    std::optional<Pair> hovered;
    for (std::size_t n = first; n < first + count; ++n) {
        ImGui::PushID(static_cast<int>(n));
        draw_one(view, n, layout, layout.places[n - first], n == first, frame, out, hovered);
        ImGui::PopID();
    }
    if (!frame.quiet)
        for (std::size_t n = first; n < first + count; ++n)
            draw_lens(view.grids[n], layout.places[n - first], frame, box.low, box.high);
    if (hovered != view.hovered) out.push_back(view::HoverPair{hovered});
}

void draw_pair_maps(const MasksView& view, const view::MapLook& look, std::size_t first,
                    std::size_t count, const Box& box, const Frame& frame, view::Actions& out) {
    const MapsPointed done =
        draw_maps(std::span(view.maps).subspan(first, count), look, box, frame, out);
    if (done.clicked)
        out.push_back(
            view::SelectPair{done.clicked->row, done.clicked->column, ImGui::GetIO().KeyShift});
    std::optional<Pair> hovered;
    if (done.hovered) hovered = Pair{done.hovered->row, done.hovered->column};
    if (hovered != view.hovered) out.push_back(view::HoverPair{hovered});
}

}  // namespace attn::ui
