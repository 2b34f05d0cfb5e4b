#pragma once

#include <cstdint>

#include "core/forward.h"
#include "core/kernels/into.h"
#include "core/matrix_view.h"
#include "core/sizes.h"
#include "core/tensor.h"

namespace attn {

enum class HalfFormat : std::uint8_t;  // halves.h

/// One factor of a product: the matrix as it is stored, or its transpose.
struct Factor {
    MatrixView<const float> stored;
    bool transposed = false;

    Index rows() const { return transposed ? stored.columns : stored.rows; }
    Index columns() const { return transposed ? stored.rows : stored.columns; }
};
inline Factor transposed(MatrixView<const float> stored) { return {stored, true}; }

/// A factor of 16-bit floats.
struct HalfFactor {
    MatrixView<const std::uint16_t> stored;
    HalfFormat format{};  // float16
    bool transposed = false;

    Index rows() const { return transposed ? stored.columns : stored.rows; }
    Index columns() const { return transposed ? stored.rows : stored.columns; }
};

/// A part of a matrix of weights [1, 1, rows, columns], whose numbers may be in 16 bits.
struct WeightPart {
    const Tensor& of;
    Index row = 0, rows = of.shape().t;
    Index column = 0, columns = of.shape().d;
    bool transposed = false;
};
inline WeightPart rows_of_weight(const Tensor& of, Index first, Index count) {
    return {.of = of, .row = first, .rows = count};
}
inline WeightPart columns_of_weight(const Tensor& of, Index first, Index count) {
    return {.of = of, .column = first, .columns = count};
}
inline WeightPart transposed(WeightPart part) {
    return {part.of, part.row, part.rows, part.column, part.columns, !part.transposed};
}

/// out = A B, or out += A B, in float32 on every thread; A [m,k], B [k,n], out [m,n], none of which overlap. Sums are taken in
/// the order of k, in runs of 256, whatever the threads: the same numbers in every run. Small products go to Eigen; of one row
/// of A, B is read as it is stored. Not to be called from within parallel_for().
void multiply(const Factor& a, const Factor& b, MatrixView<float> out, Into into = Into::replace);
/// The same numbers, bit for bit, as with B in float32, of which no more than a few hundred columns a thread are made at a
/// time besides the packed ones.
void multiply_halves(const Factor& a, const HalfFactor& b, MatrixView<float> out,
                     Into into = Into::replace);
/// That of the two that the numbers are for.
void multiply(const Factor& a, const WeightPart& b, MatrixView<float> out,
              Into into = Into::replace);

}  // namespace attn
