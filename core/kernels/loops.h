#pragma once

#include <array>

#include "core/matrix_view.h"
#include "core/stop.h"

namespace attn {

// Matrix products of the reference as plain loops, each added to what is there. Every entry of C is summed in the order of
// n, with two roundings a term; only the order of the loops around that is chosen for speed.
// A, B, C matrices; i, j row and column of C, n the index that is summed over.

using ViewD = MatrixView<double>;
using ConstViewD = MatrixView<const double>;

/// C += A B
inline void add_product(ConstViewD a, ConstViewD b, ViewD c) {
    for (Index i = 0; i < c.rows; ++i) {
        end_if_stopped();
        for (Index n = 0; n < a.columns; ++n)
            for (Index j = 0; j < c.columns; ++j) c(i, j) += a(i, n) * b(n, j);
    }
}

/// C += Aᵀ B
inline void add_transposed_product(ConstViewD a, ConstViewD b, ViewD c) {
    for (Index i = 0; i < c.rows; ++i) {
        end_if_stopped();
        for (Index n = 0; n < a.rows; ++n)
            for (Index j = 0; j < c.columns; ++j) c(i, j) += a(n, i) * b(n, j);
    }
}

/// C += A Bᵀ. Eight sums go on beside each other: each addition waits for the one before it of its own sum.
inline void add_product_transposed(ConstViewD a, ConstViewD b, ViewD c) {
    constexpr Index kSums = 8;
    for (Index i = 0; i < c.rows; ++i) {
        end_if_stopped();
        Index j = 0;
        for (; j + kSums <= c.columns; j += kSums) {
            std::array<double, kSums> sums;
            for (Index u = 0; u < kSums; ++u) sums[u] = c(i, j + u);
            for (Index n = 0; n < a.columns; ++n)
                for (Index u = 0; u < kSums; ++u) sums[u] += a(i, n) * b(j + u, n);
            for (Index u = 0; u < kSums; ++u) c(i, j + u) = sums[u];
        }
        for (; j < c.columns; ++j)
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
