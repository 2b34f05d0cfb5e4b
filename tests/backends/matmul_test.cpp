// The one matrix product, against sums in double.

#include "core/kernels/matmul.h"
#include "core/kernels/widen.h"
#include "core/rounding.h"

#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <utility>

#include "core/threads.h"
#include "tests/support/random.h"

using namespace attn;

namespace {

double entry(const Factor& factor, Index row, Index column) {
    return static_cast<double>(factor.transposed ? factor.stored(column, row)
                                                 : factor.stored(row, column));
}

/// Σ_t a(i,t) b(t,j) and Σ_t |a(i,t) b(t,j)|, which bounds what rounding may do.
struct Sums {
    double value = 0.0, size = 0.0;
};
Sums sums_of(const Factor& a, const Factor& b, Index i, Index j) {
    Sums sums;
    for (Index t = 0; t < a.columns(); ++t) {
        const double term = entry(a, i, t) * entry(b, t, j);
        sums.value += term;
        sums.size += std::abs(term);
    }
    return sums;
}

Factor factor_of(const Tensor& tensor, bool turned) { return {tensor.matrix(0, 0), turned}; }
Tensor stored(Index rows, Index columns, bool turned, std::uint64_t seed) {
    return test::normal_tensor<float>(
        turned ? Shape{1, 1, columns, rows} : Shape{1, 1, rows, columns}, seed);
}

struct Extents {
    Index m, k, n;
};
constexpr Extents kExtents[] = {{1, 1, 1},       {3, 5, 2},      {64, 64, 64},   {97, 257, 33},
                                {200, 70, 65},   {1, 600, 1000}, {131, 512, 31}, {96, 256, 256},
                                {100, 300, 777}, {1700, 40, 300}};

}  // namespace

TEST_CASE("every entry of a product is its sum, for factors as they are stored and turned") {
    constexpr double kRounding = 1e-6;  // of Σ |terms|: single precision, sums of 256 in a register
    for (const Extents& n : kExtents)
        for (const bool turned_a : {false, true})
            for (const bool turned_b : {false, true}) {
                const Tensor a = stored(n.m, n.k, turned_a, 1);
                const Tensor b = stored(n.k, n.n, turned_b, 2);
                Tensor out({1, 1, n.m, n.n}, 7.0F);
                multiply(factor_of(a, turned_a), factor_of(b, turned_b), out.matrix(0, 0));
                Tensor sum({1, 1, n.m, n.n}, 1.0F);
                multiply(factor_of(a, turned_a), factor_of(b, turned_b), sum.matrix(0, 0),
                         Into::add);
                for (Index i = 0; i < n.m; ++i)
                    for (Index j = 0; j<n.n; j += n.n> 200 ? 37 : 1) {
                        const Sums exact =
                            sums_of(factor_of(a, turned_a), factor_of(b, turned_b), i, j);
                        const double bound = kRounding * (exact.size + 1.0);
                        CHECK(std::abs(static_cast<double>(out(0, 0, i, j)) - exact.value) <=
                              bound);
                        CHECK(std::abs(static_cast<double>(sum(0, 0, i, j)) - exact.value - 1.0) <=
                              bound);
                    }
            }
}

TEST_CASE("a factor of 16-bit floats gives, bit for bit, what it gives in float32") {
    for (const Extents& n : kExtents)
        for (const HalfFormat format : {HalfFormat::float16, HalfFormat::bfloat16})
            for (const bool turned : {false, true}) {
                const Tensor a = stored(n.m, n.k, false, 1);
                Tensor wide = stored(n.k, n.n, turned, 2);
                TensorOf<std::uint16_t> halves(wide.shape());
                for (std::size_t i = 0; i < halves.values().size(); ++i) {
                    const auto bits = std::bit_cast<std::uint32_t>(wide.values()[i]) >> 16U;
                    // Of float16 the exponents up to 15: below 2.
                    halves.values()[i] = static_cast<std::uint16_t>(
                        format == HalfFormat::float16 ? bits & 0xBFFFU : bits);
                    wide.values()[i] = widened(halves.values()[i], format);
                }
                const auto halves_view = std::as_const(halves).matrix(0, 0);
                for (const Into into : {Into::replace, Into::add}) {
                    Tensor expected({1, 1, n.m, n.n}, 1.0F);
                    Tensor out = expected;
                    multiply(factor_of(a, false), factor_of(wide, turned), expected.matrix(0, 0),
                             into);
                    multiply_halves(factor_of(a, false), {halves_view, format, turned},
                                    out.matrix(0, 0), into);
                    CHECK(out == expected);
                    if (n.k > 1) CHECK(out(0, 0, n.m - 1, n.n - 1) != 1.0F);
                }
            }
}

TEST_CASE("16 bits are widened by vectors as one by one, whatever they are") {
    for (const HalfFormat format : {HalfFormat::float16, HalfFormat::bfloat16})
        for (const Index columns : {1, 5, 16, 4099}) {
            TensorOf<std::uint16_t> halves({1, 1, divide_up(0x10000, columns), columns});
            for (std::size_t n = 0; n < halves.values().size(); ++n)
                halves.values()[n] = static_cast<std::uint16_t>(n);
            Tensor wide(halves.shape());
            widen_rows(std::as_const(halves).matrix(0, 0), format, wide.matrix(0, 0));
            for (std::size_t n = 0; n < halves.values().size(); ++n)
                REQUIRE(std::bit_cast<std::uint32_t>(wide.values()[n]) ==
                        std::bit_cast<std::uint32_t>(widened(halves.values()[n], format)));
        }
}

TEST_CASE("a product of parts of larger matrices leaves the rest alone") {
    const Tensor a = test::normal_tensor<float>({1, 1, 150, 200}, 3);
    const Tensor b = test::normal_tensor<float>({1, 1, 90, 300}, 4);
    Tensor out({1, 1, 150, 400}, 5.0F);
    const Factor left{a.matrix(0, 0).column_block(60, 90)};
    const Factor right{b.matrix(0, 0).column_block(17, 101)};
    multiply(left, right, out.matrix(0, 0).column_block(33, 101));
    for (const Index i : {0, 95, 96, 149})
        for (const Index j : {0, 32, 33, 64, 133, 134, 399}) {
            const bool inside = j >= 33 && j < 134;
            const double expected = inside ? sums_of(left, right, i, j - 33).value : 5.0;
            CHECK(static_cast<double>(out(0, 0, i, j)) == doctest::Approx(expected).epsilon(1e-4));
        }
}

TEST_CASE("a NaN reaches its row and column of a product alone, on one thread and on several") {
    Tensor a = test::normal_tensor<float>({1, 1, 130, 128}, 5);
    Tensor b = test::normal_tensor<float>({1, 1, 128, 70}, 6);
    a(0, 0, 101, 3) = NAN;
    b(0, 0, 127, 69) = INFINITY;
    Tensor many({1, 1, 130, 70}), one({1, 1, 130, 70});
    multiply({a.matrix(0, 0)}, {b.matrix(0, 0)}, many.matrix(0, 0));
    const ThreadLimit limit(1);
    multiply({a.matrix(0, 0)}, {b.matrix(0, 0)}, one.matrix(0, 0));
    for (Index i = 0; i < 130; ++i)
        for (Index j = 0; j < 70; ++j) {
            CHECK(std::isfinite(one(0, 0, i, j)) == (i != 101 && j != 69));
            if (i != 101) CHECK(one(0, 0, i, j) == many(0, 0, i, j));
        }
}
