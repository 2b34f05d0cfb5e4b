#pragma once

#include <type_traits>

#include <Eigen/Core>

#include "core/matrix_view.h"

namespace attn {

template <class Scalar>
using RowMajorMatrix = Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
template <class Scalar>
using RowArray = Eigen::Array<Scalar, 1, Eigen::Dynamic>;
/// Eigen writes const before the matrix, not before its entries.
template <class Scalar, template <class> class Of>
using OfEntries =
    std::conditional_t<std::is_const_v<Scalar>, const Of<std::remove_const_t<Scalar>>, Of<Scalar>>;

/// The same memory as Eigen sees it.
template <class Scalar>
Eigen::Map<OfEntries<Scalar, RowMajorMatrix>, 0, Eigen::OuterStride<>> eigen(
    MatrixView<Scalar> view) {
    return {view.data, view.rows, view.columns, Eigen::OuterStride<>(view.stride)};
}
template <class Scalar>
Eigen::Map<OfEntries<Scalar, RowArray>> eigen(std::span<Scalar> row) {
    return {row.data(), static_cast<Eigen::Index>(row.size())};
}

}  // namespace attn
