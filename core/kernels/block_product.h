#pragma once

#include "core/block_code.h"
#include "core/matrix_view.h"

namespace attn {

/// Rows and columns of a stored matrix of blocks.
struct BlockView {
    const BlockMatrix* matrix = nullptr;
    Index row = 0, rows = 0, column = 0, columns = 0;

    BlockView row_block(Index first, Index count) const {
        return {matrix, row + first, count, column, columns};
    }
    BlockView column_block(Index first, Index count) const {
        return {matrix, row, rows, column + first, count};
    }
};

/// to[i, j] = part[i, j] in float32.
void widen_view(const BlockView& part, const MatrixView<float>& to);

/// out[n] (+)= Σ_k a[k] B[n, k] of the rows of B, in float32. Sums are taken in the order of k, one for each lane of a few
/// vectors: the same in every run on one processor.
void dot_block_rows(std::span<const float> a, const BlockView& b, std::span<float> out, bool add);

}  // namespace attn
