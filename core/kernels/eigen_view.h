#pragma once

#include <Eigen/Core>

#include "core/tensor.h"

namespace attn {

using RowMajorMatrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using EigenView = Eigen::Map<RowMajorMatrix, 0, Eigen::OuterStride<>>;
using ConstEigenView = Eigen::Map<const RowMajorMatrix, 0, Eigen::OuterStride<>>;
using EigenRow = Eigen::Map<Eigen::Array<float, 1, Eigen::Dynamic>>;
using ConstEigenRow = Eigen::Map<const Eigen::Array<float, 1, Eigen::Dynamic>>;

/// The same memory as Eigen sees it.
inline EigenView eigen(MatrixView<float> view) {
    return {view.data, view.rows, view.columns, Eigen::OuterStride<>(view.stride)};
}
inline ConstEigenView eigen(MatrixView<const float> view) {
    return {view.data, view.rows, view.columns, Eigen::OuterStride<>(view.stride)};
}
inline EigenRow eigen(std::span<float> row) {
    return {row.data(), static_cast<Eigen::Index>(row.size())};
}
inline ConstEigenRow eigen(std::span<const float> row) {
    return {row.data(), static_cast<Eigen::Index>(row.size())};
}

}  // namespace attn
