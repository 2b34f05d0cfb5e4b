#pragma once

#include <optional>
#include <span>

#include "core/block_code.h"
#include "core/kernels/digit_dot.h"
#include "core/matrix_view.h"

namespace attn {

/// Rows and columns of a stored matrix of blocks.
struct BlockView {
    const BlockMatrix* matrix = nullptr;
    Index row = 0, rows = 0, column = 0, columns = 0;

    BlockView row_block(Index first, Index count) const {
        return {matrix, row + first, count, column, columns};
    }
    /// No block is cut.
    bool whole() const {
        return column % matrix->code->items == 0 && columns % matrix->code->items == 0;
    }
    BlockView column_block(Index first, Index count) const {
        return {matrix, row, rows, column + first, count};
    }
};

/// to[i, j] = part[i, j] in float32.
void widen_view(const BlockView& part, const MatrixView<float>& to);

/// A row that is multiplied with many rows of blocks.
struct RowFactor {
    std::span<const float> numbers;
    std::optional<DigitRow> digits;  // where B's code and the processor multiply them
};
RowFactor row_factor(std::span<const float> a, const BlockView& b);

/// out[n] (+)= Σ_k a[k] B[n, k] of the rows of B, in float32. Sums are taken in the order of k, one for each lane of a few
/// vectors: the same in every run on one processor.
void dot_block_rows(const RowFactor& a, const BlockView& b, std::span<float> out, bool add);

}  // namespace attn
