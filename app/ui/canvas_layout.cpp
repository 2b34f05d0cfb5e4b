#include "app/ui/canvas_layout.h"

#include <algorithm>

namespace attn::ui {
namespace {

using view::GridView;
using view::StepView;

// Design units.
constexpr float kOperator = 40.0F;
constexpr float kNarrowOperator = 24.0F;
constexpr float kSmallestCell = 6.0F;
constexpr float kWidestCell = 72.0F;
constexpr float kTallestCell = 40.0F;
constexpr float kLowestReadable = 16.0F;  // cells lower than this show no numbers
constexpr float kFlat = 0.62F;            // height of a readable cell to its width
constexpr float kNumberLabel = 24.0F;     // row labels of a transposed key matrix: "1", "2", …

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

float operator_width(const Frame& frame, float available) {
    return frame.px(available < frame.px(640) ? kNarrowOperator : kOperator);
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

Budget actual_budget(const StepView& view, const Frame& frame, float op) {
    Budget budget{0.0F, op * static_cast<float>(view.operands.size())};
    for (const GridView* grid : all_grids(view)) {
        budget.columns += static_cast<float>(grid->columns);
        budget.fixed += row_label_width(*grid, frame) + sides_width(*grid, frame);
    }
    return budget;
}

/// Q × Kᵀ = scores: the widest of the stages whose result is [Tq, Tk].
Budget scores_budget(const StepView& view, const Frame& frame, float op) {
    return {static_cast<float>(view.controls.d_k + 2 * view.result.columns),
            2 * row_label_width(view.result, frame) + frame.px(kNumberLabel) + 2 * op};
}

struct Fit {
    float cell_width;
    float result_left;  // 0: the result follows its operands
};

Fit fit_width(const StepView& view, const Frame& frame, float available, float op) {
    const float least = frame.px(kSmallestCell);
    const float most = frame.px(kWidestCell);
    const Budget actual = actual_budget(view, frame, op);
    if (!is_query_by_key(view.result))
        return {std::clamp(actual.cell(available), least, most), 0.0F};
    const Budget scores = scores_budget(view, frame, op);
    const float cell =
        std::clamp(std::min(actual.cell(available), scores.cell(available)), least, most);
    const float result_width = cell * static_cast<float>(view.result.columns);
    const float right =
        std::max(scores.width(cell), actual.width(cell) - sides_width(view.result, frame));
    return {cell, right - result_width};
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

void place_all(const StepView& view, const Frame& frame, Row& row, const Fit& fit, float op,
               float middle, CanvasLayout& layout) {
    for (std::size_t n = 0; n < view.operands.size(); ++n) {
        layout.operands.push_back(row.add(view.operands[n], 0.0F));
        const bool last = n + 1 == view.operands.size();
        const GridView& next = last ? view.result : view.operands[n + 1];
        const float label = row_label_width(next, frame);
        const float gap = last ? std::max(op, fit.result_left - label - row.x()) : op;
        layout.operators.push_back({row.x() + gap / 2, middle});
        layout.operator_widths.push_back(gap);
        row.skip(gap);
    }
    layout.result = row.add(view.result, fit.result_left);
}

}  // namespace

CanvasLayout lay_out_canvas(const StepView& view, const Frame& frame, ImVec2 available) {
    const float op = operator_width(frame, available.x);
    Fit fit = fit_width(view, frame, available.x, op);
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
    place_all(view, frame, row, fit, op, middle, layout);
    layout.size = {row.x(), margins.top + height + margins.bottom};
    return layout;
}

}  // namespace attn::ui
