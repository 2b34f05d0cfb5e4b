#pragma once

#include "core/stop.h"
#include "core/tensor.h"

namespace attn {

// Matrix products of the reference as plain loops, each added to what is there.
// A, B, C matrices; i, j row and column of C, n the index that is summed over.

using ViewD = MatrixView<double>;
using ConstViewD = MatrixView<const double>;

/// C += A B
inline void add_product(ConstViewD a, ConstViewD b, ViewD c) {
    for (Index i = 0; i < c.rows; ++i) {
        end_if_stopped();
        for (Index j = 0; j < c.columns; ++j)
            for (Index n = 0; n < a.columns; ++n) c(i, j) += a(i, n) * b(n, j);
    }
}

/// C += Aᵀ B
inline void add_transposed_product(ConstViewD a, ConstViewD b, ViewD c) {
    for (Index i = 0; i < c.rows; ++i) {
        end_if_stopped();
        for (Index j = 0; j < c.columns; ++j)
            for (Index n = 0; n < a.rows; ++n) c(i, j) += a(n, i) * b(n, j);
    }
}

/// C += A Bᵀ
inline void add_product_transposed(ConstViewD a, ConstViewD b, ViewD c) {
    for (Index i = 0; i < c.rows; ++i) {
        end_if_stopped();
        for (Index j = 0; j < c.columns; ++j)
            for (Index n = 0; n < a.columns; ++n) c(i, j) += a(i, n) * b(j, n);
    }
}

/// Every row of C += the one row of `bias`.
inline void add_to_rows(ConstViewD bias, ViewD c) {
    for (Index i = 0; i < c.rows; ++i)
        for (Index j = 0; j < c.columns; ++j) c(i, j) += bias(0, j);
}

/// The one row of `sums` += the sum of A's rows.
inline void add_column_sums(ConstViewD a, ViewD sums) {
    for (Index i = 0; i < a.rows; ++i)
        for (Index j = 0; j < a.columns; ++j) sums(0, j) += a(i, j);
}

}  // namespace attn
