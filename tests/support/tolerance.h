#pragma once

#include <array>
#include <string>
#include <string_view>

#include "core/forward.h"
#include "core/stage.h"

namespace attn {
struct AttentionSpec;
}  // namespace attn

namespace attn::test {

/// |actual − expected| <= absolute + relative · |expected|.
struct Tolerance {
    double absolute = 0.0;
    double relative = 0.0;
};

inline constexpr double kFloatRoundoff = 0x1.0p-24;
inline constexpr double kDoubleRoundoff = 0x1.0p-53;

/// How far a backend may be from the exact result of one call, by stage, gradient and parameter.
struct ErrorBounds {
    std::array<Tolerance, kStageCount> forward;
    std::array<Tolerance, kStageCount> backward;
    std::array<Tolerance, kParamCount> params;
    Tolerance logsumexp;
};

/// First-order error analysis of the call, from its sizes, the magnitudes of its tensors and
/// `roundoff`, the unit roundoff of the arithmetic that is checked. A sum of n terms may be wrong by
/// roundoff · (2 + 2√n) times the sum of their magnitudes: rounding errors grow like √n (Higham &
/// Mary 2019, SIAM J. Sci. Comput. 41(5)). An error of e in a score is a relative error of e in its
/// exp, so huge scores cost weights digits. The numbers compared are floats: one rounding each is
/// allowed besides. NaN and inf are left out of the magnitudes.
ErrorBounds error_bounds(const InputsD& inputs, const AttentionSpec& spec, const TraceD& forward,
                         const TraceD& backward, double roundoff);

/// The largest |value| that is finite; 0 of none.
template <class Value>
double largest_of(const TensorOf<Value>& tensor);

/// No entry may be wrong by more than this part of the array's largest, whatever the analysis allows: it takes the worst
/// case of every sum, which for gradients of projections is more than they are.
inline constexpr double kMostOfLargest = 0.9e-3;
/// The largest entry of an array that is zero but for rounding, such as the gradient of a key's bias: no part of that is
/// a tolerance.
inline constexpr double kZero = 1e-12;
/// kMostOfLargest of the largest entry; ∞ for an array that is zero.
template <class Value>
double largest_tolerance(const TensorOf<Value>& expected);

/// "" when every entry is within tolerance and largest_tolerance(), NaN meets NaN and inf the same inf; else a sentence with
/// the worst entry: its index, both values, the tolerance, and `what`, which names case and seed.
template <class Actual, class Expected>
std::string tensor_mismatch(const TensorOf<Actual>& actual, const TensorOf<Expected>& expected,
                            Tolerance tolerance, std::string_view what);

/// The largest |actual − expected| over finite entries.
template <class Actual, class Expected>
double worst_error(const TensorOf<Actual>& actual, const TensorOf<Expected>& expected);

/// The first mismatch of any stage in `kept`, logsumexp or parameter gradient of two traces; "" when none.
std::string forward_mismatch(const Trace& actual, const TraceD& expected, const ErrorBounds& bounds,
                             std::string_view what, StageSet stored = all_stages());
std::string backward_mismatch(const Trace& actual, const TraceD& expected,
                              const ErrorBounds& bounds, std::string_view what,
                              StageSet stored = all_stages());

}  // namespace attn::test
