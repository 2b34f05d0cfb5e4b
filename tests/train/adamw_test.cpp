// AdamW against its formulas in double: Loshchilov & Hutter 2019, arXiv:1711.05101, algorithm 2.

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "core/train/kernels.h"

using namespace attn;
using namespace attn::train;

TEST_CASE("AdamW: m decays by beta 1, v by beta 2, over vectors and what is left of one") {
    constexpr std::size_t kCount = 37;
    constexpr double kRate = 0.01, kDecay = 0.1, kBeta1 = 0.8, kEpsilon = 1e-8;
    double beta2 = 0.0;
    SUBCASE("0.97") { beta2 = 0.97; }
    SUBCASE("near 1, where 1 − beta 2 in float is 1 % off") { beta2 = 0.999999; }
    std::vector<float> weights(kCount), first(kCount), second(kCount), gradient(kCount);
    std::vector<double> w(kCount), m(kCount), v(kCount);
    for (std::size_t n = 0; n < kCount; ++n)
        w[n] = weights[n] = std::sin(static_cast<float>(n + 1));
    for (int t = 1; t <= 4; ++t) {
        const double correction1 = 1.0 - std::pow(kBeta1, t);
        const double correction2 = 1.0 - std::pow(beta2, t);
        for (std::size_t n = 0; n < kCount; ++n) {
            gradient[n] = std::cos(static_cast<float>(t) * static_cast<float>(n + 2));
            const double g = gradient[n];
            m[n] = kBeta1 * m[n] + (1.0 - kBeta1) * g;
            v[n] = beta2 * v[n] + (1.0 - beta2) * g * g;
            w[n] -= kRate * (m[n] / correction1 / (std::sqrt(v[n] / correction2) + kEpsilon) +
                             kDecay * w[n]);
        }
        adamw({static_cast<float>(kRate), static_cast<float>(kDecay), static_cast<float>(kBeta1),
               static_cast<float>(beta2), static_cast<float>(1.0 - kBeta1),
               static_cast<float>(1.0 - beta2), static_cast<float>(correction1),
               static_cast<float>(std::sqrt(correction2)), 1.0F},
              gradient, {weights.data(), first.data(), second.data()});
    }
    for (std::size_t n = 0; n < kCount; ++n) {
        CHECK(weights[n] == doctest::Approx(w[n]).epsilon(1e-5));
        CHECK(first[n] == doctest::Approx(m[n]).epsilon(1e-5));
        CHECK(second[n] == doctest::Approx(v[n]).epsilon(1e-5));
    }
}
