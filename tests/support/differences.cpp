#include "tests/support/differences.h"

#include <cmath>

#include <fmt/format.h>

#include "core/tensor.h"

namespace attn::test {
namespace {

constexpr double kStep = 1e-5;
constexpr double kTolerance = 1e-7;
constexpr double kNoise = 1e-9;  // what differences make of a gradient that is 0

double difference_at(double& entry, const std::function<double()>& loss) {
    const double value = entry;
    entry = value + kStep;
    const double above = loss();
    entry = value - kStep;
    const double below = loss();
    entry = value;
    return (above - below) / (2.0 * kStep);
}

}  // namespace

double loss_of(const TensorD& stage, const TensorD& upstream) {
    double sum = 0.0;
    for (std::size_t n = 0; n < stage.values().size(); ++n)
        sum += stage.values()[n] * (upstream.empty() ? 1.0 : upstream.values()[n]);
    return sum;
}

std::string gradient_mismatch(TensorD& tensor, const TensorD& gradient,
                              const std::function<double()>& loss, std::string_view what) {
    if (gradient.shape() != tensor.shape())
        return fmt::format("{} is {}, expected {}", what, to_string(gradient.shape()),
                           to_string(tensor.shape()));
    double largest = 0.0;
    for (std::size_t n = 0; n < tensor.values().size(); ++n) {
        const double expected = difference_at(tensor.values()[n], loss);
        const double given = gradient.values()[n];
        largest = std::max(largest, std::abs(expected));
        if (!(std::abs(given - expected) <= kTolerance * (1.0 + std::abs(expected))))
            return fmt::format("{} entry {} is {:.12g}, difference {:.12g}", what, n, given,
                               expected);
    }
    if (largest > kNoise && kTolerance * (1.0 + largest) > 1e-3 * largest)
        return fmt::format("{} is at most {:.3g}: too little for the tolerance", what, largest);
    return {};
}

}  // namespace attn::test
