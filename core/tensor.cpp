#include "core/tensor.h"

#include <fmt/format.h>

#include "core/check.h"

namespace attn {

std::string to_string(const Shape& shape) {
    return fmt::format("[{}, {}, {}, {}]", shape.b, shape.h, shape.t, shape.d);
}

namespace {

/// The entries of an array of such numbers. Throws SizeError where memory cannot address them.
template <class Scalar>
std::size_t size_of(const Shape& shape) {
    return byte_count(shape.count(), sizeof(Scalar)) / sizeof(Scalar);
}

void check_count(std::size_t count, const Shape& shape) {
    ATTN_CHECK(static_cast<Index>(count) == shape.count(), "values must fill the shape");
}

}  // namespace

template <class Scalar>
TensorOf<Scalar>::TensorOf(Shape shape, Scalar fill)
    : shape_(shape), values_(size_of<Scalar>(shape), fill) {}

template <class Scalar>
TensorOf<Scalar>::TensorOf(Shape shape, const std::vector<Scalar>& values)
    : shape_(shape), values_(values.data(), values.size()) {
    check_count(values.size(), shape);
}

template <class Scalar>
TensorOf<Scalar> TensorOf<Scalar>::shared(Shape shape, std::vector<Scalar> values) {
    check_count(values.size(), shape);
    const auto owner = std::make_shared<const std::vector<Scalar>>(std::move(values));
    TensorOf tensor;
    tensor.shape_ = shape;
    tensor.values_ = Storage<Scalar>::shared(owner->data(), owner->size(), owner);
    return tensor;
}

template <class Scalar>
TensorOf<Scalar> TensorOf<Scalar>::narrow(
    Shape shape, std::vector<std::uint16_t> values,
    HalfFormat format) requires std::is_same_v<Scalar, float> {
    check_count(values.size(), shape);
    const auto owner = std::make_shared<const std::vector<std::uint16_t>>(std::move(values));
    TensorOf tensor;
    tensor.shape_ = shape;
    tensor.values_ = Storage<Scalar>::narrow(*owner, format, owner);
    return tensor;
}

template <class Scalar>
TensorOf<Scalar> TensorOf<Scalar>::stored(
    Shape shape, std::shared_ptr<const Narrow> numbers) requires std::is_same_v<Scalar, float> {
    TensorOf tensor;
    tensor.shape_ = shape;
    tensor.values_ =
        Storage<Scalar>::stored(std::move(numbers), static_cast<std::size_t>(shape.count()));
    return tensor;
}

template <class Scalar>
TensorOf<Scalar> TensorOf<Scalar>::uninitialised(Shape shape) {
    TensorOf tensor;
    tensor.values_ = Storage<Scalar>(size_of<Scalar>(shape));
    tensor.shape_ = shape;
    return tensor;
}

template class TensorOf<float>;
template class TensorOf<double>;
template class TensorOf<std::uint8_t>;
template class TensorOf<std::uint16_t>;

}  // namespace attn
