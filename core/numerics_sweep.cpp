#include "core/numerics.h"

namespace attn {
namespace {

NumericsPoint point_at(SoftmaxAlgorithm algorithm, FloatFormat format,
                       std::span<const double> logits, Index gain,
                       std::span<const long double> exact) {
    const SoftmaxRun run = run_softmax(algorithm, format, logits, static_cast<double>(gain));
    return {gain, run.outcome(), error_of(format, run.weights(), exact).ulp};
}

}  // namespace

std::vector<Index> numerics_gains() {
    std::vector<Index> gains{1, 2, 3};
    for (Index power = 1; power <= kMostGain / 8; power *= 2)
        for (const Index quarter : {4, 5, 6, 7}) gains.push_back(quarter * power);
    gains.push_back(kMostGain);
    return gains;
}

NumericsSweep numerics_sweep(std::span<const double> logits, std::span<const Index> gains,
                             const std::stop_token& stop) {
    NumericsSweep sweep;
    for (const Index gain : gains) {
        if (stop.stop_requested()) return {};
        const auto exact = exact_softmax(logits, static_cast<double>(gain));
        for (std::size_t a = 0; a < kSoftmaxAlgorithmCount; ++a)
            for (std::size_t f = 0; f < kFloatFormatCount; ++f)
                sweep.curves[a][f].push_back(point_at(static_cast<SoftmaxAlgorithm>(a),
                                                      static_cast<FloatFormat>(f), logits, gain,
                                                      exact));
    }
    return sweep;
}

}  // namespace attn
