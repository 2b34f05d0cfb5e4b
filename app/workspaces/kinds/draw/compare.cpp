#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

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
constexpr float kOutputTitle = 48.0F;  // with the numbers of the columns
constexpr float kLeastHero = 0.62F;    // of the height: lower, and the canvas scrolls

/// One of the three: where it stands.
struct Column {
    float left = 0.0F;   // of its words and cells
    float width = 0.0F;  // of its cells and what stands beside them
};
struct Layout {
    Column columns[3];  // A, B, B − A
    float cell = 0.0F;
    float labels = 0.0F;   // width of the rows' words
    float top = 0.0F;      // y of the headings
    float cells = 0.0F;    // y of the cells
    float foot = 0.0F;     // y under the cells
    float formula = 0.0F;  // height of the line of the formulas; 0: beside the words
    GridPlace place(std::size_t n) const { return {{columns[n].left, cells}, {cell, cell}}; }
};

float words_above(const GridView& grid, float cell, const Frame& frame) {
    return column_labels_height({grid.column_labels, cell, grid.column_role, {}, {}}, frame);
}

float beside(const GridView& grid, float cell, const Frame& frame) {
    float width = 0.0F;
    for (const view::SideVector& side : grid.sides) width += side_width(side, frame, cell);
    return width > 0.0F ? width + frame.px(kSpace8) : 0.0F;
}

/// Three matrices of one size in `room`: as large as the narrower side lets them be.
Layout make_layout(const view::KindsView& view, ImVec2 low, ImVec2 room, const Frame& frame) {
    const GridView& grid = view.a.weights;
    const auto rows = static_cast<float>(grid.rows);
    const auto keys = static_cast<float>(grid.columns);
    Layout at;
    at.top = low.y;
    at.formula = room.y < frame.px(kLow) ? 0.0F : frame.px(kFormula);
    float cell = frame.px(kLargestCell);
    for (int pass = 0; pass < 3; ++pass) {  // what stands around depends a little on the cell
        at.labels = row_labels_width({grid.row_labels, cell, grid.row_role, {}, {}}, frame);
        const float sides = 2 * beside(grid, cell, frame);
        const float across = (room.x - at.labels - 2 * frame.px(kGap) - sides) / (3 * keys);
        const float down =
            (room.y - frame.px(kTitleRow + kBar) - at.formula - words_above(grid, cell, frame)) /
            rows;
        cell = within(std::min(across, down), 1.0F, frame.px(kLargestCell));
    }
    at.cell = cell >= frame.px(8) ? std::floor(cell) : cell;
    const float width = at.cell * keys;
    const float side = beside(grid, at.cell, frame);
    const float spare = room.x - at.labels - 3 * width - 2 * side;
    const float gap = within(spare / 2, frame.px(kGap), frame.px(6 * kGap));
    at.columns[0] = {low.x + at.labels, width + side};
    at.columns[1] = {at.columns[0].left + at.columns[0].width + gap, width + side};
    at.columns[2] = {at.columns[1].left + at.columns[1].width + gap, width};
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
struct Heading {
    const std::string& letter;
    const std::string& words;
    const std::string& tex;
    view::Color color;
    float left, right;
};

/// Beside the words where there is no line for it, and where it fits.
void draw_heading_formula(const Heading& heading, float after, const Layout& at,
                          const Frame& frame) {
    if (heading.tex.empty()) return;
    const bool beside_words = at.formula == 0.0F;
    const float left = beside_words ? after + frame.px(kGap) : heading.left;
    const auto box = fitted_math(frame, heading.tex, kSmallFormula, heading.right - left);
    if (!box || left + box->width > heading.right) return;
    const float height = beside_words ? frame.px(kTitleRow) : at.formula;
    const float top = beside_words ? at.top : at.top + frame.px(kTitleRow);
    const float slack = (height - box->ascent - box->descent) / 2;
    draw_formula(frame, *box, {left, top + slack + box->ascent});
}

void draw_heading(const Heading& heading, const Layout& at, const Frame& frame) {
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

void draw_headings(const view::KindsView& view, const Layout& at, const Frame& frame) {
    const view::Color weight = frame.theme.role(Role::weight);
    const float gap = frame.px(kSpace8);
    const auto& [a, b, change] = at.columns;
    draw_heading({view.a.letter, view.a.words, view.a.tex, weight, a.left, b.left - gap}, at,
                 frame);
    draw_heading({view.b.letter, view.b.words, view.b.tex, weight, b.left, change.left - gap}, at,
                 frame);
    const std::string ringed = view.largest ? "the largest is ringed" : "no pair differs";
    draw_heading({view.difference->title,
                  ringed,
                  {},
                  frame.theme.role(Role::score),
                  change.left,
                  change.left + change.width},
                 at, frame);
}

/// A, B, B − A.
std::array<const GridView*, 3> grids_of(const view::KindsView& view) {
    return {&view.a.weights, &view.b.weights, &*view.difference};
}

void draw_hero(const view::KindsView& view, const Layout& at, const Frame& frame,
               view::Actions& out) {
    draw_headings(view, at, frame);
    const GridPlace first = at.place(0);
    draw_row_labels(GridCanvas{view.a.weights, first, frame}, at.columns[0].left);
    const auto grids = grids_of(view);
    constexpr const char* kIds[] = {"A", "B", "difference"};
    for (std::size_t n = 0; n < grids.size(); ++n)
        draw_matrix(*grids[n], kIds[n], at.place(n), frame, out);
    for (std::size_t n = 0; n < grids.size(); ++n) {
        const GridPlace place = at.place(n);
        draw_color_bar(GridCanvas{*grids[n], place, frame},
                       {place.origin.x, at.foot + frame.px(kBarGap)},
                       at.cell * static_cast<float>(grids[n]->columns));
    }
    if (view.largest) draw_largest(*view.largest, at.columns[2], at, frame);
}

/// Settings of A and of B side by side; returns where they end.
float draw_settings(const view::KindsView& view, ImVec2 low, float width, const Frame& frame,
                    view::Actions& out) {
    const float gap = frame.px(2 * kGap);
    const float half = (width - gap) / 2;
    float height = 0.0F;
    for (const view::KindSideView* side : {&view.a, &view.b}) {
        const float x = side == &view.a ? low.x : low.x + half + gap;
        const float after = frame.text_width(frame.fonts.strong, "A") + frame.px(kSpace8);
        draw_text_in(frame, frame.fonts.strong, {x, low.y}, {x + after, low.y + frame.px(28)},
                     Align::left, frame.theme.role(Role::weight), side->letter);
        ImGui::SetCursorScreenPos({x + after, low.y});
        height = std::max(height, draw_kind_settings(*side, half - after, frame, out));
    }
    return low.y + height;
}

}  // namespace

void draw_comparison(const view::KindsView& view, bool chrome, const Frame& frame,
                     view::Actions& out) {
    const ImVec2 low = ImGui::GetCursorScreenPos();
    const ImVec2 room = ImGui::GetContentRegionAvail();
    const ImVec2 high{low.x + room.x, low.y + room.y};
    float top = chrome ? draw_settings(view, low, room.x, around(frame), out) : low.y;
    ImGui::SetCursorScreenPos({low.x, top + frame.px(4)});
    wrapped_words(frame, frame.fonts.title, frame.theme.text, view.sentence);
    wrapped_words(frame, frame.fonts.small, frame.theme.muted, view.note);
    if (!view.difference) return;
    top = ImGui::GetCursorScreenPos().y + frame.px(kSpace8);
    const float table = kinds_table_height(view.rows, room.x, frame);
    const float rest = high.y - top - table - frame.px(kSpace8);
    const Layout at =
        make_layout(view, {low.x, top}, {room.x, std::max(rest, room.y * kLeastHero)}, frame);
    draw_hero(view, at, frame, out);
    const float below = at.foot + frame.px(kBar + kSpace8);
    draw_kinds_table(view.rows, {low.x, below}, room.x, frame);
    const float outputs = below + table + frame.px(kGap);  // where there is room under the table
    const float row = (high.y - outputs - frame.px(kOutputTitle + kSpace8)) / 3;
    if (view.outputs && row >= frame.px(kTableRow))
        draw_vectors(*view.outputs, "outputs", {low.x, outputs}, high.x - low.x,
                     std::min(row, frame.px(kControlRow)), frame);
    const auto grids = grids_of(view);
    for (std::size_t n = 0; n < grids.size(); ++n)
        draw_lens(*grids[n], at.place(n), frame, low, high);
}

}  // namespace attn::ui
