// Why it is fast: a block of columns of the context stays in registers while all keys are added to it, so that a term costs
// one load, where a loop over keys around a loop over columns loads and stores the context for each key.

#include "core/kernels/weighted_rows.h"

#include <array>

namespace attn {
namespace {

/// Columns `first` .. `first + kWidth` of the context.
template <Index kWidth>
void add_block(std::span<const double> weights, std::span<const Index> keys,
               MatrixView<const double> v, Index first, double* context) {
    std::array<double, kWidth> sums;
    for (Index c = 0; c < kWidth; ++c) sums[c] = context[first + c];
    for (std::size_t n = 0; n < keys.size(); ++n) {
        const double weight = weights[n];
        const double* const row = &v(keys[n], first);
        for (Index c = 0; c < kWidth; ++c) sums[c] += weight * row[c];
    }
    for (Index c = 0; c < kWidth; ++c) context[first + c] = sums[c];
}

}  // namespace

void add_weighted_rows(std::span<const double> weights, std::span<const Index> keys,
                       MatrixView<const double> v, std::span<double> context) {
    constexpr Index kWide = 16, kNarrow = 4;
    Index c = 0;
    const Index width = std::ssize(context);
    for (; c + kWide <= width; c += kWide) add_block<kWide>(weights, keys, v, c, context.data());
    for (; c + kNarrow <= width; c += kNarrow)
        add_block<kNarrow>(weights, keys, v, c, context.data());
    for (; c < width; ++c) add_block<1>(weights, keys, v, c, context.data());
}

}  // namespace attn
