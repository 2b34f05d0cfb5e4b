#include "app/ui/canvas_layout.h"

#include <algorithm>
#include <string>

#include "app/ui/draw.h"

namespace attn::ui {
namespace {

using view::GridView;
using view::StepView;

// Design units.
constexpr float kOperator = 40.0F;
constexpr float kNarrowOperator = 20.0F;
constexpr float kNarrow = 640.0F;  // a canvas under this saves room
constexpr float kSmallestCell = 6.0F;
constexpr float kWidestCell = 80.0F;
constexpr float kTallestCell = 48.0F;
constexpr float kLowestReadable = 16.0F;  // cells lower than this show no numbers
constexpr float kFlat = 0.62F;            // height of a readable cell to its width
constexpr float kMostScroll = 1.35F;      // of the room, before cells give up their numbers
constexpr float kRowSums = 56.0F;         // kept free beside every score matrix for the weights' Σ

/// What one row of matrices needs in width: `columns` cells and `fixed` pixels.
struct Budget {
    float columns = 0.0F;
    float fixed = 0.0F;
    float cell(float available) const { return (available - fixed) / std::max(columns, 1.0F); }
    float width(float cell_width) const { return columns * cell_width + fixed; }
};

bool is_query_by_key(const GridView& grid) {
    return grid.row_role == Role::query && grid.column_role == Role::key && !grid.transposed;
}

bool is_narrow(const Frame& frame, float available) { return available < frame.px(kNarrow); }

/// Room for a sign between two matrices.
float operator_width(const Frame& frame, const std::string& sign, float available) {
    const bool narrow = is_narrow(frame, available);
    const float text = text_size(operator_font(frame, available), sign).x;
    return std::max(frame.px(narrow ? kNarrowOperator : kOperator),
                    text + frame.px(narrow ? 8 : 16));
}

float sides_width(const GridView& grid, const Frame& frame) {
    return grid_margins(grid, frame, 1.0F).right;
}

std::vector<const GridView*> all_grids(const StepView& view) {
    std::vector<const GridView*> grids;
    for (const GridView& operand : view.operands) grids.push_back(&operand);
    grids.push_back(&view.result);
    return grids;
}

/// One matrix: its cells, or what its title and colour bar need where that is more.
void add_matrix(Budget& budget, Index columns, float least_width, float guess) {
    const auto count = static_cast<float>(columns);
    if (count * guess < least_width)
        budget.fixed += least_width;
    else
        budget.columns += count;
}

/// `guess`: about how wide a cell will be.
Budget actual_budget(const StepView& view, const Frame& frame, float available, float guess) {
    Budget budget;
    for (const std::string& sign : view.operators)
        budget.fixed += operator_width(frame, sign, available);
    for (const GridView* grid : all_grids(view)) {
        const GridMargins margins = grid_margins(*grid, frame, guess);
        budget.fixed += margins.left + margins.right;
        add_matrix(budget, grid->columns, margins.width - margins.right, guess);
    }
    return budget;
}

/// Room for every stage whose result is [Tq, Tk]: Q × Kᵀ = scores and S ∧ mask = M.
Budget scores_budget(const StepView& view, const Frame& frame, float available, float guess) {
    const float op = operator_width(frame, "×", available);
    const float least_width = grid_margins(view.result, frame, guess).width;
    Budget budget{0.0F, 3 * row_label_width(view.result, frame) + 2 * op};
    add_matrix(budget, std::max(view.controls.d_k, view.result.columns), least_width, guess);
    add_matrix(budget, view.result.columns, least_width, guess);
    add_matrix(budget, view.result.columns, least_width, guess);
    return budget;
}

struct Fit {
    float cell_width;
    float result_left;  // 0: the result follows its operands
};

/// As wide as fits; numbers stay readable as long as little has to be scrolled for it.
float fit_cell(const Budget& budget, const StepView& view, const Frame& frame, float available) {
    const float readable = readable_cell_width(view.result, frame);
    const float cell = budget.cell(available);
    if (cell < readable && budget.width(readable) <= kMostScroll * available) return readable;
    return std::clamp(cell, frame.px(kSmallestCell), frame.px(kWidestCell));
}

Fit fit_width(const StepView& view, const Frame& frame, float available, float guess) {
    const Budget actual = actual_budget(view, frame, available, guess);
    const float own = fit_cell(actual, view, frame, available);
    if (!is_query_by_key(view.result)) return {own, 0.0F};
    const float spare = is_narrow(frame, available) ? 0.0F : frame.px(kRowSums);
    const Budget scores = scores_budget(view, frame, available - spare, guess);
    const float cell = std::min(own, fit_cell(scores, view, frame, available - spare));
    const float result_width = cell * static_cast<float>(view.result.columns);
    const float right =
        std::max(scores.width(cell), actual.width(cell) - sides_width(view.result, frame));
    return {cell, right - result_width};
}

/// Twice: which matrices are narrower than their titles depends on the cells.
Fit fit_width(const StepView& view, const Frame& frame, float available) {
    const Fit first = fit_width(view, frame, available, frame.px(kWidestCell));
    return fit_width(view, frame, available, first.cell_width);
}

float tallest(const StepView& view) {
    Index rows = is_query_by_key(view.result) ? std::max(view.result.rows, view.controls.d_k) : 1;
    for (const GridView* grid : all_grids(view)) rows = std::max(rows, grid->rows);
    return static_cast<float>(rows);
}

/// Flat cells while they show numbers, square ones below.
ImVec2 cell_size(const StepView& view, const Frame& frame, float width, float height) {
    const float least = frame.px(kSmallestCell);
    const float fitting = std::clamp(height / tallest(view), least, frame.px(kTallestCell));
    const bool readable =
        width >= readable_cell_width(view.result, frame) && fitting >= frame.px(kLowestReadable);
    if (readable)
        return {width, std::min(fitting, std::max(width * kFlat, frame.px(kLowestReadable)))};
    const float side = std::min(width, fitting);
    return {side, side};
}

GridMargins tallest_margins(const StepView& view, const Frame& frame, float cell_width) {
    GridMargins most;
    for (const GridView* grid : all_grids(view)) {
        const GridMargins margins = grid_margins(*grid, frame, cell_width);
        most.top = std::max(most.top, margins.top);
        most.bottom = std::max(most.bottom, margins.bottom);
    }
    return most;
}

/// Places the matrices from left to right around one middle line.
class Row {
  public:
    Row(const Frame& frame, ImVec2 cell, float middle)
        : frame_(frame), cell_(cell), middle_(middle) {}

    GridPlace add(const GridView& grid, float at_least) {
        const GridMargins margins = grid_margins(grid, frame_, cell_.x);
        const float left = std::max(x_ + margins.left, at_least);
        const float cells = cell_.x * static_cast<float>(grid.columns);
        x_ = left + std::max(cells + margins.right, margins.width);
        const float top = middle_ - cell_.y * static_cast<float>(grid.rows) / 2;
        return {{left, top}, cell_};
    }
    /// The sign stands in the middle of the gap before the next matrix.
    void skip(float width) { x_ += width; }
    float x() const { return x_; }

  private:
    const Frame& frame_;
    ImVec2 cell_;
    float middle_;
    float x_ = 0.0F;
};

void place_all(const StepView& view, const Frame& frame, Row& row, const Fit& fit, float available,
               float middle, CanvasLayout& layout) {
    for (std::size_t n = 0; n < view.operands.size(); ++n) {
        layout.operands.push_back(row.add(view.operands[n], 0.0F));
        const bool last = n + 1 == view.operands.size();
        const GridView& next = last ? view.result : view.operands[n + 1];
        const float label = row_label_width(next, frame);
        const float op = operator_width(frame, view.operators[n], available);
        const float gap = last ? std::max(op, fit.result_left - label - row.x()) : op;
        layout.operators.push_back({row.x() + gap / 2, middle});
        layout.operator_widths.push_back(gap);
        row.skip(gap);
    }
    layout.result = row.add(view.result, fit.result_left);
}

}  // namespace

Font operator_font(const Frame& frame, float available) {
    return is_narrow(frame, available) ? frame.fonts.body : frame.fonts.title;
}

CanvasLayout lay_out_canvas(const StepView& view, const Frame& frame, ImVec2 available) {
    Fit fit = fit_width(view, frame, available.x);
    const GridMargins margins = tallest_margins(view, frame, fit.cell_width);
    const ImVec2 cell =
        cell_size(view, frame, fit.cell_width, available.y - margins.top - margins.bottom);
    if (fit.result_left > 0.0F && cell.x < fit.cell_width)
        fit.result_left -=
            (fit.cell_width - cell.x) * static_cast<float>(view.controls.d_k + view.result.columns);
    const float height = tallest(view) * cell.y;
    const float middle = margins.top + height / 2;
    CanvasLayout layout;
    Row row(frame, cell, middle);
    place_all(view, frame, row, fit, available.x, middle, layout);
    layout.size = {row.x(), margins.top + height + margins.bottom};
    return layout;
}

}  // namespace attn::ui
