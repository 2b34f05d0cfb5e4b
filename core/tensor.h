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

/// An owning, contiguous, row-major [B,H,T,d] array. Empty (count 0) means "not there".
template <class Scalar>
class TensorOf {
  public:
    TensorOf() = default;
    explicit TensorOf(Shape shape, Scalar fill = Scalar{})
        : shape_(shape), values_(size_of(shape), fill) {}
    TensorOf(Shape shape, const std::vector<Scalar>& values)
        : shape_(shape), values_(values.data(), values.size()) {
        ATTN_CHECK(static_cast<Index>(values_.size()) == shape.count(),
                   "values must fill the shape");
    }
    /// The same numbers for every copy of it, without copying: for large tensors with many readers. Asking one of them for numbers
    /// to write gives that one its own.
    static TensorOf shared(Shape shape, std::vector<Scalar> values) {
        ATTN_CHECK(static_cast<Index>(values.size()) == shape.count(),
                   "values must fill the shape");
        const auto owner = std::make_shared<const std::vector<Scalar>>(std::move(values));
        TensorOf tensor;
        tensor.shape_ = shape;
        tensor.values_ = Storage<Scalar>::shared(owner->data(), owner->size(), owner);
        return tensor;
    }
    /// The same in 16 bits, which stay in memory: floats that a copy is asked for are in that copy alone.
    static TensorOf narrow(Shape shape, std::vector<std::uint16_t> values, HalfFormat format) {
        ATTN_CHECK(static_cast<Index>(values.size()) == shape.count(),
                   "values must fill the shape");
        const auto owner = std::make_shared<const std::vector<std::uint16_t>>(std::move(values));
        TensorOf tensor;
        tensor.shape_ = shape;
        tensor.values_ = Storage<Scalar>::narrow(*owner, format, owner);
        return tensor;
    }
    /// The same in the type of a file, see narrow.h.
    static TensorOf stored(Shape shape, std::shared_ptr<const Narrow> numbers) {
        TensorOf tensor;
        tensor.shape_ = shape;
        tensor.values_ =
            Storage<Scalar>::stored(std::move(numbers), static_cast<std::size_t>(shape.count()));
        return tensor;
    }
    /// Its numbers in 16 bits or in blocks of codes; nullptr: it is held as Scalar.
    const Narrow* narrow() const { return values_.narrow(); }
    /// Uninitialised, for callers that write every entry: a large one costs no time.
    static TensorOf uninitialised(Shape shape) {
        TensorOf tensor;
        tensor.values_ = Storage<Scalar>(size_of(shape));
        tensor.shape_ = shape;
        return tensor;
    }

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
    /// Its entries; throws SizeError where memory cannot address them.
    static std::size_t size_of(const Shape& shape) {
        return byte_count(shape.count(), sizeof(Scalar)) / sizeof(Scalar);
    }
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
