#include "core/operations/few_rows.h"

#include <algorithm>
#include <cstdint>
#include <limits>

#include "core/call.h"
#include "core/softmax.h"

namespace attn {
namespace {

constexpr double kMinusInfinity = -std::numeric_limits<double>::infinity();

}  // namespace

void add_scores(ConstViewD a, ConstViewD b, double factor, ViewD c) {
    add_product_transposed(a, b, c);
    for (Index i = 0; i < c.rows; ++i)
        for (double& value : c.row(i)) value *= factor;
}

void softmax_rows(ViewD scores, const std::vector<std::uint8_t>& open, EmptyRows policy,
                  ViewD weights) {
    const bool some = std::ranges::count(open, std::uint8_t{1}) > 0;
    for (Index i = 0; i < scores.rows; ++i) {
        for (std::size_t j = 0; j < open.size(); ++j)
            if (open[j] == 0) scores.row(i)[j] = kMinusInfinity;
        const std::span<const double> row = scores.row(i);
        softmax_row(row, weights.row(i), some ? EmptyRows::nan : policy);
        for (std::size_t j = 0; j < open.size(); ++j)
            if (some && open[j] == 0) weights.row(i)[j] = 0.0;
    }
}

void add_open_product(ConstViewD a, ConstViewD b, const std::vector<std::uint8_t>& takes, ViewD c) {
    for (Index n = 0; n < b.rows; ++n)
        if (takes[n] != 0)
            for (Index i = 0; i < c.rows; ++i)
                for (Index k = 0; k < c.columns; ++k) c(i, k) += a(i, n) * b(n, k);
}

std::vector<std::uint8_t> contributing(const CallD& call, std::vector<std::uint8_t> open) {
    const bool none = std::ranges::count(open, std::uint8_t{1}) == 0;
    if (none && call.spec().empty_rows == EmptyRows::nan) std::ranges::fill(open, std::uint8_t{1});
    return open;
}

void softmax_backward(ConstViewD a, ConstViewD d_a, const std::vector<std::uint8_t>& takes,
                      ViewD d_s) {
    for (Index i = 0; i < a.rows; ++i) {
        double sum = 0.0;
        for (Index j = 0; j < a.columns; ++j)
            if (takes[j] != 0) sum += a(i, j) * d_a(i, j);
        for (Index j = 0; j < a.columns; ++j)
            if (takes[j] != 0) d_s(i, j) = a(i, j) * (d_a(i, j) - sum);
    }
}

void scores_backward(ConstViewD d_s, ConstViewD a, ConstViewD b, double factor,
                     const std::vector<std::uint8_t>& takes, ViewD d_a, ViewD d_b) {
    for (Index i = 0; i < a.rows; ++i)
        for (Index j = 0; j < b.rows; ++j)
            if (takes[j] != 0)
                for (Index k = 0; k < a.columns; ++k) {
                    d_a(i, k) += factor * d_s(i, j) * b(j, k);
                    d_b(j, k) += factor * d_s(i, j) * a(i, k);
                }
}

}  // namespace attn
