#include "core/train/packed.h"

#include <algorithm>

#include "core/kernels/fused_forward.h"
#include "core/kernels/staged_tiles.h"
#include "core/train/plan.h"

namespace attn::train {

MatrixView<float> Rows::make(Index rows, Index columns) {
    const Index stride = round_up(columns, panel_width());
    const Index count = (rows + kMostTileRows) * stride;  // tiles of 6 rows pass a multiple of 8
    float* const floats = floats_.at_least(count);
    if (count > allocated_ || stride != view_.stride || columns != view_.columns)
        std::fill_n(floats, std::max(count, allocated_), 0.0F);
    allocated_ = std::max(allocated_, count);
    view_ = {floats, rows, columns, stride};
    return view_;
}

MatrixView<float> Rows::scratch(Index rows, Index columns) {
    const Index stride = round_up(columns, panel_width());
    const Index count = (rows + kMostTileRows) * stride;
    view_ = {floats_.at_least(count), rows, columns, stride};
    allocated_ = std::max(allocated_, count);
    return view_;
}

Index panel_floats(Index depth, Index columns) {
    return panel_count(columns) * panel_width() * depth;
}

Packed::Packed(const Plan& plan) : matrices_(plan.matrices.size()) {}

void Packed::pack(const Plan& plan, std::size_t m, const float* weights) {
    const Matrix& matrix = plan.matrices[m];
    if (m == plan.embedding || m == plan.positions) return;  // read by rows
    Entry& entry = matrices_[m];
    const MatrixView<const float> view{weights + matrix.offset, matrix.rows, matrix.columns,
                                       matrix.columns};
    const Index columns = Carve::rounded(panel_floats(matrix.rows, matrix.columns));
    const Index rows = matrix.decays ? panel_floats(matrix.columns, matrix.rows) : 0;
    entry.columns = entry.floats.at_least(columns + rows);
    entry.rows = entry.columns + columns;
    pack_columns(view, entry.columns);
    if (matrix.decays) pack_rows(view, entry.rows);
}

void product(MatrixView<const float> a, const float* panels, Index columns, MatrixView<float> out,
             Into into) {
    multiply_panels(a, panels, panel_count(columns), out, into);
}

void transpose_into(MatrixView<const float> from, MatrixView<float> to) {
    thread_local std::vector<float> ones;
    if (ones.size() < static_cast<std::size_t>(from.columns)) ones.assign(from.columns, 1.0F);
    transpose(from, ones.data(), to);
}

}  // namespace attn::train
