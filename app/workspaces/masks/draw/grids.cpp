#include "app/common/actions.h"
#include "app/common/document/actions.h"
#include "app/common/draw/grid.h"
#include "app/common/draw/grid_parts.h"
#include "app/common/draw/grid_set.h"
#include "app/common/draw/items.h"
#include "app/common/draw/measured.h"
#include "app/common/map/map_cell.h"
#include "app/workspaces/masks/actions.h"
#include "app/workspaces/masks/draw/parts.h"

namespace attn::ui {
namespace {

// Design units.
constexpr float kLeastMark = 10.0F;  // a smaller cell has no mark of paint
constexpr float kChange = 64.0F,
                kLeastRow = 20.0F;   // bars of a row; the rows below are as high at least
constexpr std::size_t kWeights = 1;  // of the grids

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
void paint(const MasksView& view, const GridView& grid, Pair at, Actions& out) {
    const bool rectangle = ImGui::GetIO().KeyShift;
    const auto shape = rectangle ? PaintShape::rectangle : PaintShape::line;
    const auto stroke = [&](Pair from, bool allowed, std::optional<double> bias) {
        if (bias)
            out.push_back(PaintBias{from.query, from.key, at.query, at.key, shape, *bias});
        else
            out.push_back(PaintMask{from.query, from.key, at.query, at.key, shape, allowed});
    };
    if (ImGui::IsItemActivated()) {
        const bool allowed = grid.at(at.query, at.key).look == CellLook::masked;
        std::optional<double> bias = view.bias_value;
        if (bias)
            bias = view::toggled_bias(
                view.bias[static_cast<std::size_t>(at.query * grid.columns + at.key)], *bias);
        out.push_back(BeginGesture{});
        stroke(at, allowed, bias);
    } else if (ImGui::IsItemActive() && view.brush && !(view.brush->last == at)) {
        stroke(rectangle ? view.brush->first : view.brush->last, view.brush->allowed,
               view.brush->bias);
    }
    if (ImGui::IsItemDeactivated()) out.push_back(EndGesture{});
    if (ImGui::IsItemHovered() && ImGui::IsMouseClicked(ImGuiMouseButton_Right))
        out.push_back(SelectPair{at.query, at.key, rectangle});
}

/// Clear of the pair's neighbours.
void point_at(const MasksView& view, const GridView& grid, const GridPlace& place,
              const Frame& frame, Pair at) {
    if (view.hovered != at) return;  // the words are of the frame before
    const CellView& cell = grid.at(at.query, at.key);
    const ImVec2 low{place.origin.x + place.cell.x * static_cast<float>(at.key - 1),
                     place.origin.y + place.cell.y * static_cast<float>(at.query - 1)};
    tooltip_beside(frame, low, {low.x + 3 * place.cell.x, low.y + 3 * place.cell.y}, Beside::right,
                   view.hover_title + "\n" + grid.title + " " + cell.text, view.hover_text);
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
        const Point corner[] = {low, {low.x + size, low.y}, {low.x, low.y + size}};
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

void draw_one(const MasksView& view, std::size_t n, const GridPlace& place, const Frame& frame,
              Actions& out, std::optional<Pair>& hovered) {
    const GridView& grid = view.grids[n];
    const GridCanvas canvas{grid, place, frame};
    ImGui::SetCursorScreenPos(place.origin);
    invisible_button("pairs", {canvas.end().x - place.origin.x, canvas.end().y - place.origin.y});
    const Pair at = pair_at(grid, place);
    if (ImGui::IsItemHovered() || ImGui::IsItemActive()) hovered = at;
    if (view.paints && n == 0)
        paint(view, grid, at, out);
    else if (ImGui::IsItemActivated())
        out.push_back(SelectPair{at.query, at.key, ImGui::GetIO().KeyShift});
    if (ImGui::IsItemHovered() && !needs_lens(grid, place, frame))
        point_at(view, grid, place, frame, at);
    draw_cells(canvas, {});
    if (n == 0) draw_paint(view, canvas);
    draw_flags(view, canvas);
    draw_rectangle(view, canvas);
    draw_marks(canvas);
    draw_labels(canvas);
    draw_sides(canvas, std::numeric_limits<float>::max());
    draw_own_color_bar(canvas);
}

/// Above the columns of the weights: the row with the mask, and in outline without one, from 0 to 1.
void draw_change(const RowChange& change, const GridPlace& place, float top, const Frame& frame) {
    const Theme& theme = frame.theme;
    const Font& font = frame.fonts.small;
    const float width = place.cell.x * static_cast<float>(change.after.size());
    const Point low{place.origin.x, top + frame.px(kSmallRow)};
    const Point high{low.x + width, top + frame.px(kSmallRow + kChange)};
    record_rect_for_tests(frame.painter, Measuring::Kind::labels, low, high);
    frame.painter.text(font, {low.x, top}, theme.muted,
                       fit_text(frame, font, change.text, std::max(width, frame.px(320))));
    draw_text_in(frame, frame.fonts.digits_small, {low.x - frame.px(kSpace24), low.y},
                 {low.x - frame.px(kSpace4), low.y + frame.px(kSmallRow)}, Align::right,
                 theme.muted, "1");
    for (const float y : {low.y, high.y})
        frame.painter.line({low.x, y}, {high.x, y}, theme.line, frame.px(1));
    const auto top_of = [&](double weight) {
        return high.y - static_cast<float>(within(weight, 0.0, 1.0)) * (high.y - low.y);
    };
    const float air = std::min(frame.px(3), place.cell.x / 4);
    for (std::size_t n = 0; n < change.after.size(); ++n) {
        const float left = low.x + place.cell.x * static_cast<float>(n) + air;
        const float right = left + place.cell.x - 2 * air;
        if (!std::isnan(change.after[n]))
            frame.painter.rect({left, top_of(change.after[n])}, {right, high.y}, theme.weight);
        if (!std::isnan(change.before[n]))
            frame.painter.outline({left, top_of(change.before[n])}, {right, high.y}, theme.text,
                                  frame.px(1));
    }
}

}  // namespace

std::optional<Pair> draw_pair_grids(const MasksView& view, std::size_t first, std::size_t count,
                                    const Box& box, const Frame& frame, Actions& out) {
    std::optional<Pair> hovered;
    if (view.grids.front().rows == 0 || view.grids.front().columns == 0) return hovered;
    const auto grids = std::span(view.grids).subspan(first, count);
    const float change = frame.px(kSmallRow + kChange + kSpace8);
    auto places = place_grids(grids, box.low, box.high, frame);
    const bool in_line = std::ranges::all_of(
        places, [&](const GridPlace& place) { return place.origin.y == places.front().origin.y; });
    const bool has_weights = first <= kWeights && kWeights < first + count;
    if (view.change && has_weights && in_line) {
        auto lower = place_grids(grids, {box.low.x, box.low.y + change}, box.high, frame);
        if (lower.front().cell.y >= frame.px(kLeastRow)) {
            places = std::move(lower);
            draw_change(*view.change, places[kWeights - first], box.low.y, frame);
        }
    }
    for (std::size_t n = 0; n < count; ++n) {
        ImGui::PushID(static_cast<int>(first + n));
        draw_one(view, first + n, places[n], frame, out, hovered);
        ImGui::PopID();
    }
    for (std::size_t n = 0; !frame.quiet && n < count; ++n)
        draw_lens(view.grids[first + n], places[n], frame, box.low, box.high);
    return hovered;
}

std::optional<Pair> draw_pair_maps(const MasksView& view, const MapLook& look, std::size_t first,
                                   std::size_t count, const Box& box, const Frame& frame,
                                   Actions& out) {
    const MapsPointed done =
        draw_maps(std::span(view.maps).subspan(first, count), look, box, frame, out);
    if (done.clicked)
        out.push_back(SelectPair{done.clicked->row, done.clicked->column, ImGui::GetIO().KeyShift});
    if (!done.hovered) return std::nullopt;
    return Pair{done.hovered->row, done.hovered->column};
}

}  // namespace attn::ui
