#include "app/ui/step/layout.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "app/ui/common/draw.h"

namespace attn::ui {
namespace {

using view::GridView;
using view::StepView;

// Design units.
constexpr float kOperator = 40.0F;
constexpr float kNarrowOperator = 20.0F;
constexpr float kNarrow = 640.0F;  // a canvas under this saves room
constexpr float kSmallestCell = 6.0F;
constexpr float kLargestCell = 96.0F;
constexpr float kLowestReadable = 16.0F;  // cells lower than this show no numbers
constexpr float kSoftmaxSides = 128.0F;   // max m and Σ exp beside M
constexpr int kHalvings = 12;             // of the range of cell sizes: to a tenth of a pixel

/// What one matrix takes besides its cells, at cells of one size.
struct Extent {
    Index columns = 0;
    float left = 0.0F;   // row labels
    float right = 0.0F;  // side vectors
    float least = 0.0F;  // of title and colour bar

    float width(float cell) const {
        return left + std::max(static_cast<float>(columns) * cell + right, least);
    }
};

/// Matrices beside each other, and the signs between them.
struct Line {
    std::vector<Extent> matrices;
    float signs = 0.0F;

    float width(float cell) const {
        float sum = signs;
        for (const Extent& matrix : matrices) sum += matrix.width(cell);
        return sum;
    }
};

bool is_query_by_key(const GridView& grid) {
    return grid.row_role == Role::query && grid.column_role == Role::key && !grid.transposed;
}

bool is_narrow(const Frame& frame, float available) { return available < frame.px(kNarrow); }

std::vector<const GridView*> all_grids(const StepView& view) {
    std::vector<const GridView*> grids;
    for (const GridView& operand : view.operands) grids.push_back(&operand);
    grids.push_back(&view.result);
    return grids;
}

Extent extent_of(const GridView& grid, const Frame& frame, float cell) {
    const GridMargins margins = grid_margins(grid, frame, cell);
    return {grid.columns, margins.left, margins.right, margins.width};
}

/// Room for the weights' row sums is kept beside every score matrix.
Extent result_extent(const StepView& view, const Frame& frame, float cell) {
    Extent extent = extent_of(view.result, frame, cell);
    if (!is_query_by_key(view.result)) return extent;
    const view::SideVector sums{"Σ", "", {"1.00"}, Role::weight};
    extent.right = std::max(extent.right, side_width(sums, frame, cell));
    return extent;
}

Line own_line(const StepView& view, const Frame& frame, float available, float cell) {
    Line line;
    for (const GridView& operand : view.operands)
        line.matrices.push_back(extent_of(operand, frame, cell));
    for (const std::string& sign : view.operators)
        line.signs += operator_width(frame, sign, available);
    line.matrices.push_back(result_extent(view, frame, cell));
    return line;
}

/// What every stage with a result [Tq, Tk] has to find room for, so that all of them can put it in
/// the same place: Q × Kᵀ = scores, S ∧ mask = M, and M with its side vectors, softmax → A.
std::vector<Line> score_lines(const StepView& view, const Frame& frame, float available,
                              float cell) {
    const Extent result = result_extent(view, frame, cell);
    const float product = operator_width(frame, "×", available);
    const float softmax = operator_width(frame, "softmax →", available);
    Extent q = result;
    q.right = 0.0F;
    Extent matrix = q;
    q.columns = view.controls.d_k;
    Extent k = matrix;
    k.left = frame.text_width(frame.fonts.body, "00") + frame.px(8);
    Extent m = matrix;
    m.right = frame.px(kSoftmaxSides);
    return {{{q, k, result}, 2 * product},
            {{matrix, matrix, result}, 2 * product},
            {{m, result}, softmax}};
}

/// All lines that must fit when the cells are `cell` wide.
std::vector<Line> lines_of(const StepView& view, const Frame& frame, float available, float cell) {
    std::vector<Line> lines{own_line(view, frame, available, cell)};
    if (!is_query_by_key(view.result)) return lines;
    for (Line& line : score_lines(view, frame, available, cell)) lines.push_back(std::move(line));
    return lines;
}

float widest(const std::vector<Line>& lines, float cell) {
    float width = 0.0F;
    for (const Line& line : lines) width = std::max(width, line.width(cell));
    return width;
}

/// The widest cell with which everything fits, with labels as beside cells `like`.
float fit_cell(const StepView& view, const Frame& frame, float available, float like) {
    const std::vector<Line> lines = lines_of(view, frame, available, like);
    float low = frame.px(kSmallestCell);
    float high = frame.px(kLargestCell);
    if (widest(lines, high) <= available) return high;
    for (int n = 0; n < kHalvings; ++n) {
        const float middle = (low + high) / 2;
        (widest(lines, middle) <= available ? low : high) = middle;
    }
    return low;
}

/// The labels beside roomy cells are larger, so that the cells may have to be fitted once more.
float fit_cell(const StepView& view, const Frame& frame, float available) {
    const float first = fit_cell(view, frame, available, frame.px(kLargestCell));
    return std::min(first, fit_cell(view, frame, available, first));
}

/// The narrowest cell that is worth its room. Of all score matrices the same, not each its own.
float least_readable(const StepView& view, const Frame& frame) {
    if (!is_query_by_key(view.result)) return readable_cell_width(view.result, frame);
    GridView usual;
    usual.decimals = 1;
    usual.cells = {{-0.5, view::CellLook::number, {}, {}, "−0.5"}};
    return readable_cell_width(usual, frame);
}

float tallest(const StepView& view) {
    Index rows = is_query_by_key(view.result) ? std::max(view.result.rows, view.controls.d_k) : 1;
    for (const GridView* grid : all_grids(view)) rows = std::max(rows, grid->rows);
    return static_cast<float>(rows);
}

/// Square cells; flat ones where that keeps numbers readable. Whole pixels while there are enough.
ImVec2 cell_size(const StepView& view, const Frame& frame, float width, float height) {
    const float fitting = std::max(height / tallest(view), frame.px(kSmallestCell));
    const bool readable =
        width >= least_readable(view, frame) && fitting >= frame.px(kLowestReadable);
    const float side = std::min(width, fitting);
    const ImVec2 cell{readable ? width : side, side};
    if (side < frame.px(kLowestReadable)) return cell;
    return {std::floor(cell.x), std::floor(cell.y)};
}

GridMargins tallest_margins(const StepView& view, const Frame& frame, float cell) {
    GridMargins most;
    for (const GridView* grid : all_grids(view)) {
        const GridMargins margins = grid_margins(*grid, frame, cell);
        most.top = std::max(most.top, margins.top);
        most.bottom = std::max(most.bottom, margins.bottom);
    }
    return most;
}

/// Places the matrices from left to right around one middle line.
class Row {
  public:
    Row(const Frame& frame, ImVec2 cell, float left, float middle)
        : frame_(frame), cell_(cell), x_(left), middle_(middle) {}

    GridPlace add(const GridView& grid, float at_least) {
        const Extent extent = extent_of(grid, frame_, cell_.x);
        const float left = std::max(x_ + extent.left, at_least);
        x_ = left - extent.left + extent.width(cell_.x);
        const float top = middle_ - cell_.y * static_cast<float>(grid.rows) / 2;
        return {{std::round(left), std::round(top)}, cell_};
    }
    /// The sign stands in the middle of the gap before the next matrix.
    void skip(float width) { x_ += width; }
    float x() const { return x_; }

  private:
    const Frame& frame_;
    ImVec2 cell_;
    float x_;
    float middle_;
};

/// Where the cells of a score matrix begin at every stage that has one; 0 for other results.
float score_place(const StepView& view, const std::vector<Line>& lines, float cell) {
    if (!is_query_by_key(view.result)) return 0.0F;
    float left = 0.0F;
    for (const Line& line : lines) {
        const Extent& result = line.matrices.back();
        left = std::max(left, line.width(cell) - result.width(cell) + result.left);
    }
    return left;
}

void place_all(const StepView& view, const Frame& frame, Row& row, float result_left,
               float available, CanvasLayout& layout, float middle) {
    for (std::size_t n = 0; n < view.operands.size(); ++n) {
        layout.operands.push_back(row.add(view.operands[n], 0.0F));
        const bool last = n + 1 == view.operands.size();
        const GridView& next = last ? view.result : view.operands[n + 1];
        const float label = row_label_width(next, frame, layout.operands.back().cell.x);
        const float op = operator_width(frame, view.operators[n], available);
        const float gap = last ? std::max(op, result_left - label - row.x()) : op;
        layout.operators.push_back({row.x() + gap / 2, middle});
        layout.operator_widths.push_back(gap);
        row.skip(gap);
    }
    layout.result = row.add(view.result, result_left);
}

}  // namespace

Font operator_font(const Frame& frame, float available) {
    return is_narrow(frame, available) ? frame.fonts.body : frame.fonts.title;
}

OperatorText operator_text(const std::string& sign) {
    const std::size_t note = sign.find('\n');
    OperatorText text{sign.substr(0, note), note == sign.npos ? "" : sign.substr(note + 1), false};
    text.arrow = text.words.ends_with("→");
    if (text.arrow) text.words.resize(text.words.size() - std::string("→").size());
    while (text.words.ends_with(' ')) text.words.pop_back();
    return text;
}

float operator_width(const Frame& frame, const std::string& sign, float available) {
    const bool narrow = is_narrow(frame, available);
    const OperatorText text = operator_text(sign);
    const float words = frame.text_width(operator_font(frame, available), text.words);
    const float note = narrow ? 0.0F : frame.text_width(frame.fonts.digits_small, text.note);
    return std::max(frame.px(narrow ? kNarrowOperator : kOperator),
                    std::max(words, note) + frame.px(narrow ? 8 : 16));
}

CanvasLayout lay_out_canvas(const StepView& view, const Frame& frame, ImVec2 available) {
    const float width = fit_cell(view, frame, available.x);
    const GridMargins margins = tallest_margins(view, frame, width);
    const ImVec2 cell = cell_size(view, frame, width, available.y - margins.top - margins.bottom);
    const std::vector<Line> lines = lines_of(view, frame, available.x, cell.x);
    const float left = std::max(0.0F, (available.x - widest(lines, cell.x)) / 2);
    const float height = tallest(view) * cell.y;
    const float middle = margins.top + height / 2;
    const float place = score_place(view, lines, cell.x);
    CanvasLayout layout;
    Row row(frame, cell, left, middle);
    place_all(view, frame, row, place > 0.0F ? left + place : 0.0F, available.x, layout, middle);
    layout.left = left;
    layout.size = {row.x(), margins.top + height + margins.bottom};
    return layout;
}

}  // namespace attn::ui
