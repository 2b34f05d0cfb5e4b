#include "core/models/weight_matrix.h"

#include <algorithm>

#include "core/kernels/matmul.h"
#include "core/narrow.h"

namespace attn {

Index WeightMatrix::bytes() const {
    const Narrow* const narrow = numbers_.narrow();
    if (narrow != nullptr && narrow->blocks() != nullptr)
        return std::ssize(narrow->blocks()->bytes);
    return numbers_.count() * static_cast<Index>(narrow ? sizeof(std::uint16_t) : sizeof(float));
}

float WeightMatrix::operator()(Index row, Index column) const {
    const Narrow* const narrow = numbers_.narrow();
    if (narrow == nullptr) return numbers_(0, 0, row, column);
    const BlockMatrix* const blocks = narrow->blocks();
    if (blocks == nullptr)
        return widened(narrow->data()[row * shape().d + column], narrow->format());
    float value = 0.0F;
    if (blocks->turned) std::swap(row, column);
    widen_row(*blocks, row, column, 1, &value);
    return value;
}

void WeightMatrix::copy_row(Index row, std::span<float> to) const {
    const Narrow* const narrow = numbers_.narrow();
    if (narrow == nullptr) {
        std::ranges::copy(numbers_.matrix(0, 0).row(row), to.begin());
        return;
    }
    const BlockMatrix* const blocks = narrow->blocks();
    if (blocks == nullptr)
        return widen({narrow->data() + row * shape().d, to.size()}, narrow->format(), to);
    if (!blocks->turned) return widen_row(*blocks, row, 0, std::ssize(to), to.data());
    for (Index n = 0; n < std::ssize(to); ++n) widen_row(*blocks, n, row, 1, &to[n]);
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
