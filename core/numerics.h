#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <stop_token>
#include <string_view>
#include <vector>

#include "core/sizes.h"

namespace attn {

// Softmax in an emulated floating-point format: every operation is done exactly and its result rounded once, to
// nearest, ties to even, with subnormals; what would round beyond the largest number is ∞ (IEEE 754-2019, §4.3, §7.4).
// n keys, j one of them; x logits, g gain, s = g x as the format holds it, m = max s, e exponentials, l their sum, a
// weights.

enum class FloatFormat : std::uint8_t { fp16, bf16, fp32, fp64 };
inline constexpr std::size_t kFloatFormatCount = 4;

struct FloatFormatInfo {
    std::string_view name;
    int exponent_bits;
    int fraction_bits;

    constexpr int most_exponent() const { return (1 << (exponent_bits - 1)) - 1; }
    constexpr int least_exponent() const { return 1 - most_exponent(); }
    double largest() const;          // fp16 65504
    double smallest_normal() const;  // fp16 2⁻¹⁴
    double smallest() const;         // subnormal: fp16 2⁻²⁴
};
const FloatFormatInfo& info(FloatFormat format);

/// The number of the format next to `value`, ties to even. ±0, ±∞ and NaN stay.
double rounded(FloatFormat format, long double value);
/// The distance between the numbers of the format about |value|: 2^(max(exponent, least) − fraction bits). Of 0 and of
/// subnormals it is the smallest number; NaN of a number that is not finite.
long double ulp_at(FloatFormat format, long double value);

/// naive: a = e / l, e = exp(s).  stable: the same with e = exp(s − m) (Milakov & Gimelshein 2018, arXiv:1805.02867,
/// algorithm 2).  log_sum_exp: a = exp(s − lse), lse = m + ln l (Blanchard, Higham & Higham 2021, IMA J. Numer. Anal. 41).
enum class SoftmaxAlgorithm : std::uint8_t { naive, stable, log_sum_exp };
inline constexpr std::size_t kSoftmaxAlgorithmCount = 3;

/// The steps of the computation, in this order; m, ln l and lse are one number, all others one for each key. `sum` is the running
/// sum: its entry j has added e_0 … e_j, one after the other.
enum class SoftmaxStep : std::uint8_t {
    logits,     // s = g x
    max,        // m
    shifted,    // s − m
    exps,       // e
    sum,        // l
    log_sum,    // ln l
    lse,        // m + ln l
    below_lse,  // s − lse
    weights     // a
};

/// nan_input: a logit is NaN. underflow: a result that is not 0 became 0. The three others of the invalid operations give
/// NaN.
enum class NumericFault : std::uint8_t {
    nan_input,
    overflow,
    inf_minus_inf,
    inf_over_inf,
    zero_over_zero,
    underflow
};

/// Where a kind of fault was first met.
struct FaultPlace {
    NumericFault fault = NumericFault::overflow;
    SoftmaxStep step = SoftmaxStep::logits;
    Index key = 0;  // of a step of one number: 0
    bool operator==(const FaultPlace&) const = default;
};

struct StepValues {
    SoftmaxStep step = SoftmaxStep::logits;
    std::vector<double> values;
};

/// zeros: no weight is above 0. nan: one of them is NaN.
enum class Outcome : std::uint8_t { finite, zeros, nan };

/// Everything that one softmax in one format computed.
struct SoftmaxRun {
    SoftmaxAlgorithm algorithm = SoftmaxAlgorithm::naive;
    FloatFormat format = FloatFormat::fp16;
    std::vector<StepValues> steps;
    std::vector<FaultPlace> faults;  // the first of each kind, as they came
    Index absorbed = 0;              // terms e_j > 0 whose addition left l > 0 as it was

    /// nullptr where the algorithm does not have the step.
    const std::vector<double>* find(SoftmaxStep step) const;
    const std::vector<double>& weights() const { return steps.back().values; }
    const FaultPlace* first(NumericFault fault) const;
    Outcome outcome() const;
    /// The cause of zeros or NaN: the first fault that is not an underflow; where all are, the first. nullptr where the
    /// weights are finite.
    const FaultPlace* breaking() const;
};

/// `logits` any doubles, at least one; `gain` > 0.
/// exp and ln: correctly rounded but for one in some 10⁹ results, in fp64 in 10³ (computed in long double).
SoftmaxRun run_softmax(SoftmaxAlgorithm algorithm, FloatFormat format,
                       std::span<const double> logits, double gain);

/// Softmax of g x in long double, its sum compensated (Kahan): about 2⁻⁶² where long double has 64 bits. All NaN where
/// softmax has no value: a logit is NaN or +∞, or all are −∞.
std::vector<long double> exact_softmax(std::span<const double> logits, double gain);

/// max_j |a_j − exact_j|, in units of the format's ulp_at(exact_j) and absolute; NaN where a weight or the exact one is.
struct RowError {
    double ulp = 0.0;
    Index key =
        0;  // with the largest error in ulp, the first of them; of NaN, the first that is NaN
    double absolute = 0.0;
};
RowError error_of(FloatFormat format, std::span<const double> weights,
                  std::span<const long double> exact);

/// One gain: how far the weights are off, NaN where they are not finite or nothing is exact.
struct NumericsPoint {
    Index gain = 1;
    Outcome outcome = Outcome::finite;
    double ulp = 0.0;
};
/// Errors over the gain, of each algorithm in each format.
struct NumericsSweep {
    template <class Each>
    using OfEach = std::array<std::array<Each, kFloatFormatCount>, kSoftmaxAlgorithmCount>;
    OfEach<std::vector<NumericsPoint>> curves;
    /// The whole gain from which on it is not finite, found by halving between two gains of the sweep; nullopt: it is finite
    /// at the last one.
    OfEach<std::optional<Index>> breaks;
    std::optional<Index> break_of(SoftmaxAlgorithm algorithm, FloatFormat format) const {
        return breaks[static_cast<std::size_t>(algorithm)][static_cast<std::size_t>(format)];
    }
    const std::vector<NumericsPoint>& of(SoftmaxAlgorithm algorithm, FloatFormat format) const {
        return curves[static_cast<std::size_t>(algorithm)][static_cast<std::size_t>(format)];
    }
};

inline constexpr Index kMostGain = 65536;
/// 1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20 … kMostGain: 4, 5, 6 and 7 times each power of two, so that few digits are
/// added to the logits.
std::vector<Index> numerics_gains();
/// Over these gains; empty curves where `stop` was requested.
NumericsSweep numerics_sweep(std::span<const double> logits, std::span<const Index> gains,
                             const std::stop_token& stop = {});

}  // namespace attn
