#pragma once

#include <cstddef>
#include <span>
#include <type_traits>

#include "core/sizes.h"

namespace attn {

/// A matrix somewhere in memory: rows of `columns` entries, `stride` entries from row to row.
template <class Scalar>
struct MatrixView {
    Scalar* data = nullptr;
    Index rows = 0;
    Index columns = 0;
    Index stride = 0;

    Scalar& operator()(Index row, Index column) const { return data[row * stride + column]; }
    std::span<Scalar> row(Index i) const {
        return {data + i * stride, static_cast<std::size_t>(columns)};
    }
    /// `count` columns from `first` on: one head's part of joined heads.
    MatrixView column_block(Index first, Index count) const {
        return {data + first, rows, count, stride};
    }
    MatrixView row_block(Index first, Index count) const {
        return {data + first * stride, count, columns, stride};
    }
    operator MatrixView<const Scalar>() const requires(!std::is_const_v<Scalar>) {
        return {data, rows, columns, stride};
    }
};

}  // namespace attn
