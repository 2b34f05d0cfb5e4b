// One row times a matrix of blocks of codes. k is what is summed over.
//
// Why it is fast. The numbers of a block are multiplied where they are made, in registers (BlockCode::dot, or dot_digits, which makes
// none), or in the first-level cache; the codes of a 4-bit matrix, an eighth of its floats, are all that comes from memory.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/kernels/block_product.cpp"
#include "core/kernels/highway_targets.h"

#include "core/kernels/block_product.h"

#include <algorithm>

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace attn::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

/// Σ a[k] b[k].
float dot(const float* a, const float* b, Index count) {
    const hn::ScalableTag<float> floats;
    const auto lanes = static_cast<Index>(hn::Lanes(floats));
    auto sum_0 = hn::Zero(floats), sum_1 = sum_0, sum_2 = sum_0, sum_3 = sum_0;
    Index k = 0;
    for (; k + 4 * lanes <= count; k += 4 * lanes) {
        sum_0 = hn::MulAdd(hn::LoadU(floats, a + k), hn::LoadU(floats, b + k), sum_0);
        sum_1 =
            hn::MulAdd(hn::LoadU(floats, a + k + lanes), hn::LoadU(floats, b + k + lanes), sum_1);
        sum_2 = hn::MulAdd(hn::LoadU(floats, a + k + 2 * lanes),
                           hn::LoadU(floats, b + k + 2 * lanes), sum_2);
        sum_3 = hn::MulAdd(hn::LoadU(floats, a + k + 3 * lanes),
                           hn::LoadU(floats, b + k + 3 * lanes), sum_3);
    }
    for (; k + lanes <= count; k += lanes)
        sum_0 = hn::MulAdd(hn::LoadU(floats, a + k), hn::LoadU(floats, b + k), sum_0);
    float sum =
        hn::GetLane(hn::SumOfLanes(floats, hn::Add(hn::Add(sum_0, sum_1), hn::Add(sum_2, sum_3))));
    for (; k < count; ++k) sum += a[k] * b[k];
    return sum;
}

constexpr Index kRun = 1024;  // numbers that are widened at a time; whole blocks of every type

void dot_rows(const RowFactor& factor, const BlockView& b, std::span<float> out, bool add) {
    alignas(64) float wide[kRun];
    const std::span<const float> a = factor.numbers;
    const bool whole = b.whole();
    for (Index n = 0; n < b.rows; ++n) {
        float sum = 0.0F;
        if (whole) {
            const BlockCode& code = *b.matrix->code;
            const unsigned char* const blocks =
                b.matrix->row(b.row + n) + b.column / code.items * code.bytes;
            const Index count = b.columns / code.items;
            sum = factor.digits ? code.dot_digits(blocks, count, *factor.digits)
                                : code.dot(blocks, count, a.data());
        }
        for (Index k = 0; k < b.columns && !whole; k += kRun) {
            const Index count = std::min(kRun, b.columns - k);
            widen_row(*b.matrix, b.row + n, b.column + k, count, wide);
            sum += dot(a.data() + k, wide, count);
        }
        out[n] = add ? out[n] + sum : sum;
    }
}

}  // namespace
}  // namespace attn::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace attn {
namespace {
HWY_EXPORT(dot_rows);
}

void widen_view(const BlockView& part, const MatrixView<float>& to) {
    for (Index n = 0; n < part.rows; ++n)
        widen_row(*part.matrix, part.row + n, part.column, part.columns, to.row(n).data());
}

RowFactor row_factor(std::span<const float> a, const BlockView& b) {
    RowFactor made{a, std::nullopt};
    if (b.whole() && b.matrix->code->dot_digits != nullptr) made.digits = digit_row(a);
    return made;
}

void dot_block_rows(const RowFactor& a, const BlockView& b, std::span<float> out, bool add) {
    HWY_DYNAMIC_DISPATCH(dot_rows)(a, b, out, add);
}

}  // namespace attn

#endif  // HWY_ONCE
