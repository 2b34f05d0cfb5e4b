#include "core/numerics.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "core/rng.h"

using namespace attn;
using enum attn::FloatFormat;

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr FloatFormat kFormats[] = {fp16, bf16, fp32, fp64};
constexpr SoftmaxAlgorithm kAlgorithms[] = {SoftmaxAlgorithm::naive, SoftmaxAlgorithm::stable,
                                            SoftmaxAlgorithm::log_sum_exp};

/// bfloat16 is the upper half of a float: ties to even in integers.
double bf16_by_bits(float value) {
    std::uint32_t bits = 0;
    std::memcpy(&bits, &value, sizeof bits);
    bits += 0x7FFFU + ((bits >> 16U) & 1U);
    bits &= 0xFFFF0000U;
    std::memcpy(&value, &bits, sizeof bits);
    return value;
}

RowError error_at(SoftmaxAlgorithm algorithm, FloatFormat format, const std::vector<double>& x,
                  double gain) {
    return error_of(format, run_softmax(algorithm, format, x, gain).weights(),
                    exact_softmax(x, gain));
}

}  // namespace

TEST_CASE("the four formats: largest, smallest normal and smallest subnormal numbers") {
    CHECK(info(fp16).largest() == 65504.0);
    CHECK(info(fp16).smallest_normal() == std::exp2(-14));
    CHECK(info(fp16).smallest() == std::exp2(-24));
    CHECK(info(bf16).largest() == std::ldexp(255.0, 120));  // 3.3895e38
    CHECK(info(bf16).smallest() == std::exp2(-133));
    CHECK(info(fp32).largest() == std::numeric_limits<float>::max());
    CHECK(info(fp32).smallest() == std::numeric_limits<float>::denorm_min());
    CHECK(info(fp64).largest() == std::numeric_limits<double>::max());
    CHECK(info(fp64).smallest() == std::numeric_limits<double>::denorm_min());
}

TEST_CASE("the key of an error, its ulp and its size belong together") {
    const double small = std::exp2(-20);
    const double ulp = std::exp2(-43);  // of a float there
    const std::vector<double> weights{0.5 + std::exp2(-25), small + 3.0 * ulp, 0.25};
    const std::vector<long double> exact{0.5L, static_cast<long double>(small), 0.25L};
    const RowError error = error_of(fp32, weights, exact);
    CHECK(error.key == 1);
    CHECK(error.ulp == 3.0);
    CHECK(error.absolute == 3.0 * ulp);  // the first is off by more, yet by half an ulp
}

TEST_CASE("fp16 rounds to nearest, ties to even, with subnormals and overflow") {
    const auto half = [](double value) { return rounded(fp16, value); };
    // 2^-25 and 1.5 · 2^-24 are ties; the last is numpy.float16(0.1)
    constexpr double kRounded[][2] = {
        {2049.0, 2048.0},     {2051.0, 2052.0},     {2049.0001, 2050.0},   {65519.999, 65504.0},
        {65520.0, kInf},      {-65520.0, -kInf},    {0x1p-24, 0x1p-24},    {0x1p-25, 0.0},
        {0x1.8p-25, 0x1p-24}, {0x1.8p-24, 0x1p-23}, {0.1, 0.0999755859375}};
    for (const auto& [value, rounded_to] : kRounded) {
        CAPTURE(value);
        CHECK(half(value) == rounded_to);
    }
    CHECK(std::signbit(half(-1e-30)));
    CHECK(std::isnan(half(kNaN)));
}

TEST_CASE("bf16 rounds as the upper half of a float does") {
    CHECK(rounded(bf16, 257.0) == 256.0);
    CHECK(rounded(bf16, 259.0) == 260.0);
    CHECK(rounded(bf16, 0.1) == 0.10009765625);
    for (std::uint64_t n = 0; n < 20000; ++n) {
        const double size = std::exp2(250.0 * uniform(5, 2 * n) - 140.0);
        const auto value = static_cast<float>(size * (uniform(5, 2 * n + 1) - 0.5));
        REQUIRE(rounded(bf16, value) == bf16_by_bits(value));
    }
}

#ifdef __FLT16_MAX__
TEST_CASE("fp16 rounds every float as the compiler's _Float16 does") {
    for (std::uint64_t n = 0; n < 200000; ++n) {
        const double size = std::exp2(46.0 * uniform(6, 2 * n) - 28.0);
        const auto value = static_cast<float>(size * (uniform(6, 2 * n + 1) - 0.5));
        REQUIRE(rounded(fp16, value) == static_cast<double>(static_cast<_Float16>(value)));
    }
}
#endif

TEST_CASE("the spacing of a format's numbers") {
    CHECK(ulp_at(fp16, 1.0L) == std::exp2(-10));
    CHECK(ulp_at(fp16, 0.999L) == std::exp2(-11));
    CHECK(ulp_at(fp16, 0.0L) == std::exp2(-24));
    CHECK(ulp_at(fp16, 1e-6L) == std::exp2(-24));
    CHECK(ulp_at(bf16, 1.0L) == std::exp2(-7));
    CHECK(ulp_at(fp32, 1.0L) == std::exp2(-23));
    CHECK(ulp_at(fp64, 1.0L) == std::exp2(-52));
}

TEST_CASE("naive exp overflows above ln 65504 = 11.09, 88.7 and 709.78") {
    const auto breaks = [](FloatFormat format, double s) {
        const double row[] = {s, 0.0};
        const SoftmaxRun run = run_softmax(SoftmaxAlgorithm::naive, format, row, 1.0);
        return run.first(NumericFault::overflow) != nullptr;
    };
    CHECK_FALSE(breaks(fp16, 11.0859375));
    CHECK(breaks(fp16, 11.09375));  // the next number of fp16
    CHECK_FALSE(breaks(bf16, 88.5));
    CHECK(breaks(bf16, 89.0));
    CHECK_FALSE(breaks(fp32, 88.72));
    CHECK(breaks(fp32, 88.73));
    CHECK_FALSE(breaks(fp64, 709.78));
    CHECK(breaks(fp64, 709.79));
}

TEST_CASE("a naive row that overflows is NaN there and 0 elsewhere; the stable one is right") {
    const std::vector<double> x{0.5, 3.0, 2.0};
    const SoftmaxRun naive = run_softmax(SoftmaxAlgorithm::naive, fp16, x, 16.0);
    CHECK(naive.outcome() == Outcome::nan);
    CHECK(naive.weights()[0] == 0.0);  // 2980 / ∞
    CHECK(std::isnan(naive.weights()[1]));
    REQUIRE(naive.breaking() != nullptr);
    CHECK(*naive.breaking() == FaultPlace{NumericFault::overflow, SoftmaxStep::exps, 1});
    CHECK(*naive.first(NumericFault::inf_over_inf) ==
          FaultPlace{NumericFault::inf_over_inf, SoftmaxStep::weights, 1});
    CHECK(error_at(SoftmaxAlgorithm::stable, fp16, x, 16.0).ulp <= 1.0);
}

TEST_CASE("a row whose exponentials all underflow is 0/0; a sum that overflows makes weights 0") {
    const SoftmaxRun under =
        run_softmax(SoftmaxAlgorithm::naive, fp16, std::vector{-20.0, -30.0}, 1.0);
    CHECK(under.outcome() == Outcome::nan);
    CHECK(*under.first(NumericFault::underflow) ==
          FaultPlace{NumericFault::underflow, SoftmaxStep::exps, 0});
    CHECK(*under.first(NumericFault::zero_over_zero) ==
          FaultPlace{NumericFault::zero_over_zero, SoftmaxStep::weights, 0});
    const SoftmaxRun over =
        run_softmax(SoftmaxAlgorithm::naive, fp16, std::vector{10.5, 10.5, 0.0}, 1.0);
    CHECK(over.outcome() == Outcome::zeros);
    CHECK(*over.breaking() == FaultPlace{NumericFault::overflow, SoftmaxStep::sum, 1});
}

TEST_CASE("a logit beyond the format is infinite and breaks the stable softmax too") {
    const SoftmaxRun run =
        run_softmax(SoftmaxAlgorithm::stable, fp16, std::vector{1.0, 3.0}, 32768.0);
    CHECK(run.outcome() == Outcome::nan);
    CHECK(*run.breaking() == FaultPlace{NumericFault::overflow, SoftmaxStep::logits, 1});
    CHECK(*run.first(NumericFault::inf_minus_inf) ==
          FaultPlace{NumericFault::inf_minus_inf, SoftmaxStep::shifted, 1});
}

TEST_CASE("the running sum of 4096 ones stands still at 2048 in fp16 and at 256 in bf16") {
    const std::vector<double> x(4096, 0.0);
    const auto last = [&](FloatFormat format) {
        return run_softmax(SoftmaxAlgorithm::stable, format, x, 1.0).find(SoftmaxStep::sum)->back();
    };
    CHECK(last(fp16) == 2048.0);
    CHECK(last(bf16) == 256.0);
    CHECK(last(fp32) == 4096.0);
    const SoftmaxRun half = run_softmax(SoftmaxAlgorithm::stable, fp16, x, 1.0);
    CHECK(half.absorbed == 2048);
    CHECK(half.weights()[7] == 1.0 / 2048.0);  // twice what it should be: 2^10 ulp of 2^-12
    CHECK(error_at(SoftmaxAlgorithm::stable, fp16, x, 1.0).ulp == 1024.0);
    CHECK(error_at(SoftmaxAlgorithm::stable, fp32, x, 1.0).ulp == 0.0);
}

TEST_CASE("every step of the stable and the log-sum-exp softmax, fp16, by hand") {
    const std::vector<double> x{1.0, 2.0};
    const SoftmaxRun stable = run_softmax(SoftmaxAlgorithm::stable, fp16, x, 1.0);
    CHECK(*stable.find(SoftmaxStep::shifted) == std::vector{-1.0, 0.0});
    CHECK(*stable.find(SoftmaxStep::exps) == std::vector{0.367919921875, 1.0});  // 1507 / 4096
    CHECK(stable.find(SoftmaxStep::sum)->back() == 1.3681640625);  // of 1.367919921875
    CHECK(stable.weights() == std::vector{0.268798828125, 0.73095703125});
    const SoftmaxRun lse = run_softmax(SoftmaxAlgorithm::log_sum_exp, fp16, x, 1.0);
    CHECK(lse.find(SoftmaxStep::log_sum)->back() == 0.3134765625);
    CHECK(lse.find(SoftmaxStep::lse)->back() == 2.3125);  // of 2.3134765625, a tie
    CHECK(*lse.find(SoftmaxStep::below_lse) == std::vector{-1.3125, -0.3125});
    CHECK(lse.weights() == std::vector{0.26904296875, 0.7314453125});
}

TEST_CASE("rows that softmax is not defined for are NaN by every algorithm in every format") {
    for (const std::vector<double>& x :
         {std::vector{1.0, kNaN, 2.0}, std::vector{1.0, kInf, 2.0}, std::vector{-kInf, -kInf}}) {
        for (const long double exact : exact_softmax(x, 1.0)) CHECK(std::isnan(exact));
        for (const SoftmaxAlgorithm algorithm : kAlgorithms)
            for (const FloatFormat format : kFormats) {
                const SoftmaxRun run = run_softmax(algorithm, format, x, 1.0);
                CHECK(run.outcome() == Outcome::nan);
                CHECK(run.breaking() != nullptr);
            }
    }
    const std::vector<double> nan{1.0, kNaN};
    CHECK(*run_softmax(SoftmaxAlgorithm::stable, fp32, nan, 1.0).breaking() ==
          FaultPlace{NumericFault::nan_input, SoftmaxStep::logits, 1});
}

TEST_CASE("one masked key has weight 0 exactly; one logit has weight 1") {
    for (const SoftmaxAlgorithm algorithm : kAlgorithms)
        for (const FloatFormat format : kFormats) {
            const SoftmaxRun run =
                run_softmax(algorithm, format, std::vector{1.0, -kInf, 1.0}, 2.0);
            CHECK(run.weights()[1] == 0.0);
            CHECK(run.first(NumericFault::underflow) == nullptr);
            CHECK(run.outcome() == Outcome::finite);
            CHECK(run_softmax(algorithm, format, std::vector{2.5}, 1.0).weights().front() == 1.0);
        }
}

TEST_CASE("fp32 and fp64 are what the machine computes operation by operation") {
    const std::vector<double> x{0.5, 3.0, 2.875, -1.25};
    float l = 0.0F;
    for (const double value : x) l += std::exp(static_cast<float>(value) - 3.0F);
    const SoftmaxRun run = run_softmax(SoftmaxAlgorithm::stable, fp32, x, 1.0);
    for (std::size_t j = 0; j < x.size(); ++j)
        CHECK(run.weights()[j] == std::exp(static_cast<float>(x[j]) - 3.0F) / l);
    double sum = 0.0;
    for (const double value : x) sum += std::exp(value - 3.0);
    const SoftmaxRun wide = run_softmax(SoftmaxAlgorithm::stable, fp64, x, 1.0);
    for (std::size_t j = 0; j < x.size(); ++j)
        CHECK(std::abs(wide.weights()[j] - std::exp(x[j] - 3.0) / sum) <= 2.3e-16);
}

TEST_CASE("the exact softmax adds to 1 and has more digits than a double") {
    const auto exact = exact_softmax(std::vector{0.5, 0.9, 0.0, 1.2, 0.6}, 1.0);
    long double sum = 0.0L;
    for (const long double a : exact) sum += a;
    CHECK(std::abs(sum - 1.0L) <= 4.0L * std::numeric_limits<long double>::epsilon());
    CHECK(std::abs(exact[3] - 0.3239L) < 5e-5L);
}

TEST_CASE("the sweep is the same as single runs, and its gains are few quarters of powers of two") {
    const std::vector<Index> gains = numerics_gains();
    CHECK(gains.front() == 1);
    CHECK(gains.back() == kMostGain);
    CHECK(gains.size() == 60);
    const std::vector<double> x{0.5, 3.0, 2.0};
    const Index few[] = {1, 4, 32, 256};
    const NumericsSweep sweep = numerics_sweep(x, few);
    const auto& naive = sweep.of(SoftmaxAlgorithm::naive, fp16);
    REQUIRE(naive.size() == 4);
    CHECK(naive[0].outcome == Outcome::finite);
    CHECK(naive[0].ulp == error_at(SoftmaxAlgorithm::naive, fp16, x, 1.0).ulp);
    CHECK(naive[1].outcome == Outcome::nan);
    const auto& wide = sweep.of(SoftmaxAlgorithm::naive, fp64);
    CHECK(wide[2].outcome == Outcome::finite);
    CHECK(wide[3].outcome == Outcome::nan);  // 768 > 709.78
}
