#include "core/models/weight_matrix.h"

#include <algorithm>

#include "core/kernels/matmul.h"
#include "core/narrow.h"

namespace attn {

Index WeightMatrix::bytes() const {
    return numbers_.count() *
           static_cast<Index>(numbers_.narrow() ? sizeof(std::uint16_t) : sizeof(float));
}

float WeightMatrix::operator()(Index row, Index column) const {
    const Narrow* const narrow = numbers_.narrow();
    return narrow ? widened(narrow->data()[row * shape().d + column], narrow->format())
                  : numbers_(0, 0, row, column);
}

void WeightMatrix::copy_row(Index row, std::span<float> to) const {
    if (const Narrow* const narrow = numbers_.narrow())
        widen({narrow->data() + row * shape().d, to.size()}, narrow->format(), to);
    else
        std::ranges::copy(numbers_.matrix(0, 0).row(row), to.begin());
}

void WeightMatrix::multiply_from_left(MatrixView<const float> a, MatrixView<float> out,
                                      Into into) const {
    multiply({a}, WeightPart{numbers_}, out, into);
}

void WeightMatrix::multiply_with_rows(MatrixView<const float> a, Index first, Index count,
                                      MatrixView<float> out) const {
    multiply({a}, transposed(rows_of_weight(numbers_, first, count)), out);
}

}  // namespace attn
