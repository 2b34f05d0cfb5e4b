#pragma once

#include "core/half_floats.h"
#include "core/tensor.h"

namespace attn {

using HalfTensor = TensorOf<std::uint16_t>;

/// The same of a matrix; `to` has the rows and columns of `from`.
inline void widen(const MatrixView<const std::uint16_t>& from, HalfFormat format,
                  const MatrixView<float>& to) {
    for (Index row = 0; row < from.rows; ++row) widen(from.row(row), format, to.row(row));
}

}  // namespace attn
