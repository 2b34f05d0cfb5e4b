#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "core/numerics.h"

namespace attn::view {

// What the Numerics workspace says. Every number comes from the runs that are given.

inline constexpr std::array<FloatFormat, kFloatFormatCount> kFloatFormats{
    FloatFormat::fp16, FloatFormat::bf16, FloatFormat::fp32, FloatFormat::fp64};

/// One softmax and how far it is off.
struct CheckedRun {
    SoftmaxRun run;
    RowError error;  // NaN where nothing is exact or the weights are not finite
};
/// Of one row at one gain: everything that is on screen.
struct NumericsRuns {
    std::vector<double> logits;
    Index gain = 1;
    std::vector<long double> exact;
    std::vector<CheckedRun> runs;  // algorithm by algorithm, format by format

    const CheckedRun& of(SoftmaxAlgorithm algorithm, FloatFormat format) const {
        return runs[static_cast<std::size_t>(algorithm) * kFloatFormatCount +
                    static_cast<std::size_t>(format)];
    }
};
NumericsRuns run_all(std::vector<double> logits, Index gain);

/// "naive", "stable", "log-sum-exp".
std::string_view title_of(SoftmaxAlgorithm algorithm);
/// A bound that holds: rounded up. "0 ulp", "0.9 ulp", "57 ulp", "4.6·10¹⁵ ulp".
std::string ulp_text(double ulp);
/// As many digits as tell the format's numbers apart, at most ten: "65504", "3.39·10³⁸", "−∞".
std::string value_in(FloatFormat format, double value);
/// "65504", "3.39·10³⁸".
std::string largest_description(FloatFormat format);

/// Why the weights are NaN or all 0: "exp 48 > 65504 at key 1", "0/0: every exp is 0"; "" where they are finite.
std::string cause_text(const SoftmaxRun& run);
/// The one sentence on top: true of every row and gain.
std::string numerics_sentence(const NumericsRuns& runs);

}  // namespace attn::view
