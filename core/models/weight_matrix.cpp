#include "core/models/weight_matrix.h"

#include <algorithm>

namespace attn {

Index WeightMatrix::bytes() const {
    return floats_.count() * Index{sizeof(float)} + halves_.count() * Index{sizeof(std::uint16_t)};
}

float WeightMatrix::operator()(Index row, Index column) const {
    return halves_.empty() ? floats_(0, 0, row, column)
                           : widened(halves_(0, 0, row, column), format_);
}

void WeightMatrix::copy_row(Index row, std::span<float> to) const {
    if (halves_.empty())
        std::ranges::copy(floats_.matrix(0, 0).row(row), to.begin());
    else
        widen(halves_.matrix(0, 0).row(row), format_, to);
}

void WeightMatrix::multiply_from_left(MatrixView<const float> a, MatrixView<float> out,
                                      Into into) const {
    if (halves_.empty())
        multiply(Factor{a}, Factor{floats_.matrix(0, 0)}, out, into);
    else
        multiply_halves(Factor{a}, HalfFactor{halves_.matrix(0, 0), format_}, out, into);
}

void WeightMatrix::multiply_with_rows(MatrixView<const float> a, Index first, Index count,
                                      MatrixView<float> out) const {
    if (halves_.empty())
        multiply(Factor{a}, transposed(floats_.matrix(0, 0).row_block(first, count)), out);
    else
        multiply_halves(Factor{a},
                        HalfFactor{halves_.matrix(0, 0).row_block(first, count), format_, true},
                        out);
}

}  // namespace attn
