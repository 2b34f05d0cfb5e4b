#include <cmath>

#include <fmt/format.h>

#include "core/stages.h"
#include "core/trace.h"
#include "tests/support/tolerance.h"

namespace attn::test {
namespace {

/// How many tolerances apart two values are: at most 1 is fine.
double badness(double actual, double expected, Tolerance tolerance, double most) {
    const double infinity = std::numeric_limits<double>::infinity();
    if (std::isnan(actual) && std::isnan(expected)) return 0.0;
    if (actual == expected) return 0.0;
    if (!std::isfinite(actual) || !std::isfinite(expected)) return infinity;
    const double allowed =
        std::min(tolerance.absolute + tolerance.relative * std::abs(expected), most);
    return allowed > 0.0 ? std::abs(actual - expected) / allowed : infinity;
}

std::string index_text(const Shape& shape, Index flat) {
    return fmt::format("[{}, {}, {}, {}]", flat / (shape.h * shape.t * shape.d),
                       flat / (shape.t * shape.d) % shape.h, flat / shape.d % shape.t,
                       flat % shape.d);
}

/// Of the first stage in `kept`, whose names begin with `prefix`.
std::string stage_mismatch(const Trace& actual, const TraceD& expected,
                           const std::array<Tolerance, kStageCount>& bounds,
                           std::string_view prefix, std::string_view what, StageSet stored) {
    for (const StageInfo& stage : stage_table()) {
        const std::size_t n = index_of(stage.stage);
        if (!stored[n]) continue;
        if (std::string wrong =
                tensor_mismatch(actual[stage.stage], expected[stage.stage], bounds[n],
                                fmt::format("{}{} of {}", prefix, stage.key, what));
            !wrong.empty())
            return wrong;
    }
    return {};
}

}  // namespace

template <class Value>
double largest_of(const TensorOf<Value>& tensor) {
    double largest = 0.0;
    for (const double value : tensor.values())
        if (std::isfinite(value)) largest = std::max(largest, std::abs(value));
    return largest;
}

template <class Value>
double largest_tolerance(const TensorOf<Value>& expected) {
    const double largest = largest_of(expected);
    return largest < kZero ? std::numeric_limits<double>::infinity() : kMostOfLargest * largest;
}

template <class Actual, class Expected>
std::string tensor_mismatch(const TensorOf<Actual>& actual, const TensorOf<Expected>& expected,
                            Tolerance tolerance, std::string_view what) {
    if (actual.shape() != expected.shape())
        return fmt::format("{}: shape {}, expected {}", what, to_string(actual.shape()),
                           to_string(expected.shape()));
    const double most = largest_tolerance(expected);
    std::size_t worst = 0;
    double worst_badness = 0.0;
    for (std::size_t n = 0; n < actual.values().size(); ++n) {
        const double bad = badness(actual.values()[n], expected.values()[n], tolerance, most);
        if (bad <= worst_badness) continue;
        worst = n;
        worst_badness = bad;
    }
    if (worst_badness <= 1.0) return {};
    return fmt::format(
        "{}: entry {} is {:.9g}, expected {:.9g}, tolerance {:.3g} + {:.3g} relative, at most "
        "{:.3g}",
        what, index_text(actual.shape(), static_cast<Index>(worst)), actual.values()[worst],
        expected.values()[worst], tolerance.absolute, tolerance.relative, most);
}

template <class Actual, class Expected>
double worst_error(const TensorOf<Actual>& actual, const TensorOf<Expected>& expected) {
    double worst = 0.0;
    for (std::size_t n = 0; n < actual.values().size(); ++n) {
        const double error = std::abs(static_cast<double>(actual.values()[n]) -
                                      static_cast<double>(expected.values()[n]));
        if (std::isfinite(error)) worst = std::max(worst, error);
    }
    return worst;
}

template std::string tensor_mismatch(const Tensor&, const Tensor&, Tolerance, std::string_view);
template std::string tensor_mismatch(const Tensor&, const TensorD&, Tolerance, std::string_view);
template std::string tensor_mismatch(const TensorD&, const TensorD&, Tolerance, std::string_view);
template double largest_of(const Tensor&);
template double largest_of(const TensorD&);
template double largest_tolerance(const Tensor&);
template double largest_tolerance(const TensorD&);
template double worst_error(const Tensor&, const Tensor&);
template double worst_error(const Tensor&, const TensorD&);
template double worst_error(const TensorD&, const TensorD&);

std::string forward_mismatch(const Trace& actual, const TraceD& expected, const ErrorBounds& bounds,
                             std::string_view what, StageSet stored) {
    std::string wrong = stage_mismatch(actual, expected, bounds.forward, "", what, stored);
    if (!wrong.empty()) return wrong;
    return tensor_mismatch(actual.logsumexp, expected.logsumexp, bounds.logsumexp,
                           fmt::format("logsumexp of {}", what));
}

std::string backward_mismatch(const Trace& actual, const TraceD& expected,
                              const ErrorBounds& bounds, std::string_view what, StageSet stored) {
    std::string wrong = stage_mismatch(actual, expected, bounds.backward, "d_", what, stored);
    for (const ParamInfo& param : param_table())
        if (wrong.empty())
            wrong = tensor_mismatch(actual.params[param.param], expected.params[param.param],
                                    bounds.params[index_of(param.param)],
                                    fmt::format("d_{} of {}", param.key, what));
    return wrong;
}

}  // namespace attn::test
