#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "app/common/draw/axis_labels.h"
#include "app/common/draw/draw.h"
#include "app/common/draw/grid_parts.h"
#include "app/common/draw/lens.h"
#include "app/common/draw/math.h"
#include "app/workspaces/kinds/draw/parts.h"

namespace attn::ui {
namespace {

using view::GridView;

// Design units.
constexpr float kGap = 20.0F, kFormula = 40.0F;
constexpr float kLow = 440.0F;  // of a lower room the formula stands beside the words
constexpr float kBar = 36.0F;   // colours and their words
constexpr float kLargestCell = 128.0F;

/// One of those that are shown: where it stands.
struct Column {
    std::size_t grid = 0;
    float left = 0.0F;   // of its words and cells
    float width = 0.0F;  // of its cells and what stands beside them
};
struct Layout {
    std::vector<Column> columns;
    float cell = 0.0F;
    float top = 0.0F;      // y of the headings
    float cells = 0.0F;    // y of the cells
    float foot = 0.0F;     // y under the cells
    float formula = 0.0F;  // height of the line of the formulas; 0: beside the words
    GridPlace place(const Column& column) const { return {{column.left, cells}, {cell, cell}}; }
};

/// A, B, B − A.
std::array<const GridView*, 3> grids_of(const view::KindsView& view) {
    return {&view.a.weights, &view.b.weights, &*view.difference};
}

float words_above(const GridView& grid, float cell, const Frame& frame) {
    return column_labels_height({grid.column_labels, cell, grid.column_role, {}, {}}, frame);
}

float beside(const GridView& grid, float cell, const Frame& frame) {
    float width = 0.0F;
    for (const view::SideVector& side : grid.sides) width += side_width(side, frame, cell);
    return width > 0.0F ? width + frame.px(kSpace8) : 0.0F;
}

/// Matrices of one size in `room`: as large as the narrower side lets them be.
Layout make_layout(const view::KindsView& view, std::size_t first, std::size_t count, ImVec2 low,
                   ImVec2 room, const Frame& frame) {
    const GridView& grid = view.a.weights;
    const auto grids = grids_of(view);
    const auto rows = static_cast<float>(grid.rows);
    const auto keys = static_cast<float>(grid.columns);
    const auto shown = static_cast<float>(count);
    Layout at;
    at.top = low.y;
    at.formula = room.y < frame.px(kLow) ? 0.0F : frame.px(kFormula);
    float cell = frame.px(kLargestCell);
    float labels = 0.0F, sides = 0.0F;
    for (int pass = 0; pass < 3; ++pass) {  // what stands around depends a little on the cell
        labels = row_labels_width({grid.row_labels, cell, grid.row_role, {}, {}}, frame);
        sides = 0.0F;
        for (std::size_t n = first; n < first + count; ++n) sides += beside(*grids[n], cell, frame);
        const float across =
            (room.x - labels - (shown - 1.0F) * frame.px(kGap) - sides) / (shown * keys);
        const float down =
            (room.y - frame.px(kTitleRow + kBar) - at.formula - words_above(grid, cell, frame)) /
            rows;
        cell = within(std::min(across, down), 1.0F, frame.px(kLargestCell));
    }
    at.cell = cell >= frame.px(8) ? std::floor(cell) : cell;
    const float width = at.cell * keys;
    const float spare = std::max(room.x - labels - shown * width - sides, 0.0F);
    const float gap = within(spare / (shown + 1.0F), frame.px(kGap), frame.px(6 * kGap));
    float left = low.x + labels + std::max(spare - gap * (shown - 1.0F), 0.0F) / 2;
    for (std::size_t n = first; n < first + count; ++n) {
        const float whole = width + beside(*grids[n], at.cell, frame);
        at.columns.push_back({n, left, whole});
        left += whole + gap;
    }
    at.cells = low.y + frame.px(kTitleRow) + at.formula + words_above(grid, at.cell, frame);
    at.foot = at.cells + at.cell * rows;
    return at;
}

void draw_matrix(const GridView& grid, const char* id, const GridPlace& place, const Frame& frame,
                 view::Actions& out) {
    ImGui::PushID(id);
    const Dress bare{.labels = false, .color_bar = false, .sides = false};
    const auto clicked = draw_grid(grid, {}, place, frame, bare).clicked;
    const GridCanvas canvas{grid, place, frame};
    draw_column_labels(canvas, place.origin.y);
    draw_sides(canvas, std::numeric_limits<float>::max());
    ImGui::PopID();
    if (clicked) out.push_back(view::SelectKindsPair{clicked->row, clicked->column});
}

/// "A  scaled dot product" and what its scores are.
struct SideHeading {
    const std::string& letter;
    const std::string& words;
    const std::string& tex;
    view::Color color;
    float left, right;
};

/// Beside the words where there is no line for it, and where it fits.
void draw_heading_formula(const SideHeading& heading, float after, const Layout& at,
                          const Frame& frame) {
    if (heading.tex.empty()) return;
    const bool beside_words = at.formula == 0.0F;
    const float left = beside_words ? after + frame.px(kGap) : heading.left;
    const auto box = fitted_math(frame, heading.tex, kSmallFormula, heading.right - left);
    if (!box || left + box->width > heading.right) return;
    const float height = beside_words ? frame.px(kTitleRow) : at.formula;
    if (box->ascent + box->descent > height) return;
    const float top = beside_words ? at.top : at.top + frame.px(kTitleRow);
    const float slack = (height - box->ascent - box->descent) / 2;
    draw_formula(frame, *box, {left, top + slack + box->ascent});
}

void draw_heading(const SideHeading& heading, const Layout& at, const Frame& frame) {
    const Font& font = frame.fonts.strong;
    const ImVec2 low{heading.left, at.top};
    const ImVec2 high{heading.right, at.top + frame.px(kTitleRow)};
    draw_text_in(frame, font, low, high, Align::left, heading.color, heading.letter);
    const float after = heading.left + frame.text_width(font, heading.letter) + frame.px(kSpace8);
    const std::string words =
        fit_text(frame, frame.fonts.body, heading.words, heading.right - after);
    draw_text_in(frame, frame.fonts.body, {after, low.y}, high, Align::left, frame.theme.text,
                 words);
    draw_heading_formula(heading, after + frame.text_width(frame.fonts.body, words), at, frame);
}

/// The largest difference: a ring of its own, around the cell.
void draw_largest(const std::pair<Index, Index>& cell, const Column& column, const Layout& at,
                  const Frame& frame) {
    const float inset = frame.px(2);
    const float x = column.left + static_cast<float>(cell.second) * at.cell;
    const float y = at.cells + static_cast<float>(cell.first) * at.cell;
    const view::Point low{x - inset, y - inset};
    const view::Point high{x + at.cell + inset - 1, y + at.cell + inset - 1};
    frame.painter.outline({low.x - 1, low.y - 1}, {high.x + 1, high.y + 1}, frame.theme.background,
                          frame.px(4), frame.px(4));
    frame.painter.outline(low, high, frame.theme.accent, frame.px(2), frame.px(4));
}

/// Over the n-th column, up to `right`.
void draw_heading_of(const view::KindsView& view, const Column& column, float right,
                     const Layout& at, const Frame& frame) {
    const view::Color weight = frame.theme.role(Role::weight);
    if (column.grid < 2) {
        const view::KindSideView& side = column.grid == 0 ? view.a : view.b;
        return draw_heading(
            SideHeading{side.letter, side.words, side.tex, weight, column.left, right}, at, frame);
    }
    const std::string ringed = view.largest ? "largest ringed" : "no pair differs";
    draw_heading(
        SideHeading{
            view.difference->title, ringed, {}, frame.theme.role(Role::score), column.left, right},
        at, frame);
}

}  // namespace

void draw_kinds(const view::KindsView& view, std::size_t first, std::size_t count, const Box& box,
                const Frame& frame, view::Actions& out) {
    const Layout at = make_layout(view, first, count, box.low, box.size(), frame);
    const auto grids = grids_of(view);
    draw_row_labels(GridCanvas{*grids[first], at.place(at.columns[0]), frame}, at.columns[0].left);
    for (std::size_t n = 0; n < at.columns.size(); ++n) {
        const Column& column = at.columns[n];
        const GridView& grid = *grids[column.grid];
        const GridPlace place = at.place(column);
        const bool last = n + 1 == at.columns.size();
        draw_heading_of(view, column,
                        last ? box.high.x : at.columns[n + 1].left - frame.px(kSpace8), at, frame);
        draw_matrix(grid, ("matrix " + std::to_string(column.grid)).c_str(), place, frame, out);
        draw_color_bar(GridCanvas{grid, place, frame},
                       {place.origin.x, at.foot + frame.px(kBarGap)},
                       at.cell * static_cast<float>(grid.columns));
        if (column.grid == 2 && view.largest) draw_largest(*view.largest, column, at, frame);
    }
    for (const Column& column : at.columns)
        draw_lens(*grids[column.grid], at.place(column), frame, box.low, box.high);
}

void draw_kinds_maps(const view::KindsView& view, const view::MapLook& look, std::size_t first,
                     std::size_t count, const Box& box, const Frame& frame, view::Actions& out) {
    const MapsPointed done =
        draw_maps(std::span(view.maps).subspan(first, count), look, box, frame, out);
    if (done.clicked) out.push_back(view::SelectKindsPair{done.clicked->row, done.clicked->column});
}

}  // namespace attn::ui
