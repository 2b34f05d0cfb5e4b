#pragma once

#include <algorithm>
#include <array>
#include <span>

#include "core/matrix_view.h"

namespace attn {

struct DigitRow;

/// How a file of quantised weights stores numbers: blocks of `items` numbers in `bytes` bytes, one behind the other.
struct BlockCode {
    Index items = 0, bytes = 0;  // 0: a type that is not read
    /// Writes the numbers of `count` blocks.
    void (*widen)(const unsigned char* blocks, Index count, float* numbers) = nullptr;
    /// The sum of the numbers of `count` blocks times as many of `a`.
    float (*dot)(const unsigned char* blocks, Index count, const float* a) = nullptr;
    /// The same of numbers as digits (core/kernels/digit_dot.h), where the type has it.
    float (*dot_digits)(const unsigned char* blocks, Index count, const DigitRow& a) = nullptr;
};

inline constexpr Index kMostBlockItems = 256;

/// A matrix of blocks: `columns` is a multiple of code->items, so that each row has its own blocks.
struct BlockMatrix {
    const BlockCode* code = nullptr;  // null: no matrix
    std::span<const unsigned char> bytes = {};
    Index rows = 0, columns = 0;
    bool turned = false;  // the tensor is the transpose: [columns, rows]

    Index row_bytes() const { return columns / code->items * code->bytes; }
    const unsigned char* row(Index n) const { return bytes.data() + n * row_bytes(); }
};

/// Writes the columns [first, first + count) of row n of the stored matrix.
inline void widen_row(const BlockMatrix& matrix, Index n, Index first, Index count, float* to) {
    const BlockCode& code = *matrix.code;
    const unsigned char* const row = matrix.row(n);
    if (first % code.items == 0 && count % code.items == 0)
        return code.widen(row + first / code.items * code.bytes, count / code.items, to);
    std::array<float, kMostBlockItems> block;
    for (const Index end = first + count; first < end;) {
        const Index before = first % code.items;
        const Index taken = std::min(code.items - before, end - first);
        code.widen(row + first / code.items * code.bytes, 1, block.data());
        to = std::copy_n(block.begin() + before, taken, to);
        first += taken;
    }
}

}  // namespace attn
