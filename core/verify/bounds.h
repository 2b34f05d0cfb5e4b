#pragma once

#include <array>
#include <map>
#include <string>
#include <string_view>

#include "core/verify/compare.h"
#include "core/verify/subject.h"

namespace attn {
enum class FloatFormat : std::uint8_t;
}  // namespace attn

namespace attn::verify {

/// How far float32 arithmetic may be from the exact stages of one call.
struct Bounds {
    std::array<Tolerance, kStageCount> stages;
    Tolerance logsumexp;
    std::map<std::string, Tolerance, std::less<>>
        gradients;  // by key: "d_q"; of another: logsumexp's

    /// By the key of a stage, "logsumexp", or that of a gradient.
    Tolerance of(std::string_view key) const;
    void widen(std::string_view key, Tolerance by);
};

inline constexpr double kFloatRoundoff = 0x1.0p-24;

/// What the absolute part of context, output and logsumexp is of: whole arrays, which is cheap, or each entry, which is never more.
enum class BoundsDetail : std::uint8_t { arrays, entries };

/// First-order error analysis from sizes, the magnitudes of `stages` (the reference's, or those with a fault planted) and
/// the unit roundoff. A sum of n terms may be off by roundoff · (2 + 2√n) times the sum of their magnitudes (Higham & Mary
/// 2019, SIAM J. Sci. Comput. 41(5)); an error of e in a logit is a relative error of e in its exp; RoPE's angle at
/// position p may be off by a few roundings of p. NaN and ∞ are left out of the magnitudes. With BoundsDetail::entries the absolute part
/// of context, output and logsumexp is that of each entry: a sum over d_k + d_v numbers of each pair.
Bounds forward_bounds(const Subject& subject, const TraceD& stages,
                      double roundoff = kFloatRoundoff,
                      BoundsDetail detail = BoundsDetail::entries);

/// The same from stages alone, where the inputs are not known: what two programs may differ by. Widths that are not known
/// count as 256.
Bounds bounds_of_stages(const TraceD& stages, double roundoff = kFloatRoundoff);

/// What a right kernel of a short format may be off by beyond that: three times what an eager kernel is off by whose every
/// array is of the format, and one rounding. (The tests of FlashAttention, Dao 2023, allow twice the error of eager
/// PyTorch in the same format.)
Bounds format_bounds(const Subject& subject, FloatFormat format);
/// The same where only the array itself is known: four roundings of its largest number.
Tolerance format_tolerance(const TensorD& expected, FloatFormat format);

/// Adds to context and output what weights may be off by that are rounded to codes before they meet V: an entry Σ a_j v_j by four
/// standard deviations of Σ a_j v_j e_j with |e_j| ≤ u, and weights far below the largest of their row by u of a 2^-6 of it.
void widen_by_weights(const Subject& subject, const TraceD& stages, double roundoff,
                      Bounds& bounds);

/// One pair of numbers for every stage.
Bounds uniform_bounds(Tolerance tolerance);

}  // namespace attn::verify
