#pragma once

#include <span>
#include <utility>

#include "core/kernels/into.h"
#include "core/tensor.h"

namespace attn {

/// W [1, 1, rows, columns] in the type of its file: float32, or 16-bit floats or blocks of codes, which are widened (exactly)
/// where they are used. Every number that comes out is the one that W in float32 gives, bit for bit; but a product of one row
/// with blocks, whose sum is in another order. Copies share the numbers of a file.
class WeightMatrix {
  public:
    /// Empty: not there.
    WeightMatrix() = default;
    WeightMatrix(Tensor numbers) : numbers_(std::move(numbers)) {}

    bool empty() const { return numbers_.empty(); }
    const Shape& shape() const { return numbers_.shape(); }
    const Tensor& tensor() const { return numbers_; }
    /// What its numbers take in memory.
    Index bytes() const;

    float operator()(Index row, Index column) const;
    /// `to` has as many entries as W columns.
    void copy_row(Index row, std::span<float> to) const;

    /// out = a W, or out += a W.
    void multiply_from_left(MatrixView<const float> a, MatrixView<float> out,
                            Into into = Into::replace) const;
    /// out = a W_pᵀ, W_p being `count` rows of W from `first` on.
    void multiply_with_rows(MatrixView<const float> a, Index first, Index count,
                            MatrixView<float> out) const;

  private:
    Tensor numbers_;
};

}  // namespace attn
