#pragma once

#include <cstdint>
#include <span>

#include "core/halves.h"
#include "core/kernels/into.h"
#include "core/matrix_view.h"

namespace attn {

/// widen() of halves.h for every row, with the same bits, by vectors: 1 to 2 numbers a cycle in place of one in 3 cycles.
void widen_rows(const MatrixView<const std::uint16_t>& from, HalfFormat format,
                const MatrixView<float>& to);

/// What one row is multiplied with: B as it is stored, out[n] = Σ_k a[k] B[k, n], each sum in the order of k, or its transpose,
/// out[n] = Σ_k a[k] B[n, k], one sum for each lane of four vectors.
enum class Order : std::uint8_t { stored, transposed };

/// out (+)= a B, a one row: the same bits for numbers of 16 bits and for those numbers in float32.
void row_product(std::span<const float> a, const MatrixView<const float>& b, Order order,
                 std::span<float> out, Into into);
void row_product(std::span<const float> a, const MatrixView<const std::uint16_t>& b,
                 HalfFormat format, Order order, std::span<float> out, Into into);

}  // namespace attn
