#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/check.h"
#include "core/matrix_view.h"
#include "core/shape.h"
#include "core/storage.h"

namespace attn {

/// An owning, contiguous, row-major [B,H,T,d] array. Empty (count 0) means "not there". tensor.cpp lists the types of numbers.
template <class Scalar>
class TensorOf {
  public:
    TensorOf() = default;
    explicit TensorOf(Shape shape, Scalar fill = Scalar{});
    TensorOf(Shape shape, const std::vector<Scalar>& values);
    /// The same numbers for every copy of it, without copying: for large tensors with many readers. Asking one of them for numbers
    /// to write gives that one its own.
    static TensorOf shared(Shape shape, std::vector<Scalar> values);
    /// The same in 16 bits, which stay in memory: floats that a copy is asked for are in that copy alone.
    static TensorOf narrow(Shape shape, std::vector<std::uint16_t> values,
                           HalfFormat format) requires std::is_same_v<Scalar, float>;
    /// The same in the type of a file, see narrow.h.
    static TensorOf stored(
        Shape shape, std::shared_ptr<const Narrow> numbers) requires std::is_same_v<Scalar, float>;
    /// Its numbers in 16 bits or in blocks of codes; nullptr: it is held as Scalar.
    const Narrow* narrow() const { return values_.narrow(); }
    /// Uninitialised, for callers that write every entry: a large one costs no time.
    static TensorOf uninitialised(Shape shape);

    const Shape& shape() const { return shape_; }
    bool empty() const { return values_.empty(); }
    Index count() const { return shape_.count(); }
    Scalar* data() { return values_.data(); }
    const Scalar* data() const { return values_.data(); }
    std::span<Scalar> values() { return {values_.data(), values_.size()}; }
    std::span<const Scalar> values() const { return {values_.data(), values_.size()}; }

    Scalar& operator()(Index b, Index h, Index t, Index d) { return data()[at(b, h, t, d)]; }
    Scalar operator()(Index b, Index h, Index t, Index d) const { return data()[at(b, h, t, d)]; }

    /// The [T, d] matrix of one batch entry and head.
    MatrixView<Scalar> matrix(Index b, Index h) {
        return {values_.data() + at(b, h, 0, 0), shape_.t, shape_.d, shape_.d};
    }
    MatrixView<const Scalar> matrix(Index b, Index h) const {
        return {values_.data() + at(b, h, 0, 0), shape_.t, shape_.d, shape_.d};
    }

    bool operator==(const TensorOf&) const = default;

  private:
    std::size_t at(Index b, Index h, Index t, Index d) const {
        return static_cast<std::size_t>(((b * shape_.h + h) * shape_.t + t) * shape_.d + d);
    }

    Shape shape_;
    Storage<Scalar> values_;
};

using Tensor = TensorOf<float>;
using TensorD = TensorOf<double>;
/// true (non-zero) = may attend. The only mask type of the core.
using Mask = TensorOf<std::uint8_t>;

}  // namespace attn
