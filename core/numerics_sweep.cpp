#include "core/numerics.h"

#include <algorithm>

namespace attn {
namespace {

NumericsPoint point_at(SoftmaxAlgorithm algorithm, FloatFormat format,
                       std::span<const double> logits, Index gain,
                       std::span<const long double> exact) {
    const SoftmaxRun run = run_softmax(algorithm, format, logits, static_cast<double>(gain));
    return {gain, run.outcome(), error_of(format, run.weights(), exact).ulp};
}

std::optional<Index> break_of(SoftmaxAlgorithm algorithm, FloatFormat format,
                              std::span<const double> logits,
                              const std::vector<NumericsPoint>& points) {
    const auto is_broken = [](Outcome outcome) { return outcome != Outcome::finite; };
    const auto last = std::ranges::find_if_not(points.rbegin(), points.rend(), is_broken,
                                               &NumericsPoint::outcome);
    if (last == points.rbegin()) return std::nullopt;
    Index broken = last.base()->gain;
    Index finite = last == points.rend() ? broken - 1 : last->gain;
    while (broken - finite > 1) {
        const Index gain = finite + (broken - finite) / 2;
        const SoftmaxRun run = run_softmax(algorithm, format, logits, static_cast<double>(gain));
        (is_broken(run.outcome()) ? broken : finite) = gain;
    }
    return broken;
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
    for (std::size_t a = 0; a < kSoftmaxAlgorithmCount; ++a)
        for (std::size_t f = 0; f < kFloatFormatCount; ++f)
            sweep.breaks[a][f] = break_of(static_cast<SoftmaxAlgorithm>(a),
                                          static_cast<FloatFormat>(f), logits, sweep.curves[a][f]);
    return sweep;
}

}  // namespace attn
