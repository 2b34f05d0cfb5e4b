#include <doctest/doctest.h>

#include <cmath>

#include "core/models/family.h"
#include "core/models/layers.h"
#include "core/models/weights.h"

using namespace attn;

TEST_CASE("norms of a row by hand") {
    const Tensor x({1, 1, 2, 4}, std::vector<float>{1, 2, 3, 6, 0, 0, 0, 0});
    const NormWeights norm{Tensor({1, 1, 1, 4}, std::vector<float>{1, 1, 2, 1}),
                           Tensor({1, 1, 1, 4}, std::vector<float>{0, 0.5F, 0, 0})};
    const Tensor layer = normalised(x, norm, Norm::layer, 0.5);  // mean 3, variance 14/4
    CHECK(layer(0, 0, 0, 0) == doctest::Approx(-1.0));
    CHECK(layer(0, 0, 0, 1) == doctest::Approx(0.0));
    CHECK(layer(0, 0, 0, 2) == doctest::Approx(0.0));
    CHECK(layer(0, 0, 0, 3) == doctest::Approx(1.5));
    CHECK(layer(0, 0, 1, 1) == 0.5F);
    const NormWeights bare{norm.scale, {}};
    const Tensor rms = normalised(x, bare, Norm::rms, 3.5);  // mean of squares 12.5
    CHECK(rms(0, 0, 0, 0) == doctest::Approx(0.25));
    CHECK(rms(0, 0, 0, 2) == doctest::Approx(1.5));
    CHECK(rms(0, 0, 1, 0) == 0.0F);
}

TEST_CASE("activations at known places") {
    const auto at = [](float value, Activation activation) {
        Tensor x({1, 1, 1, 1}, value);
        activate(x, activation);
        return x(0, 0, 0, 0);
    };
    CHECK(at(-2.0F, Activation::relu) == 0.0F);
    CHECK(at(3.0F, Activation::relu) == 3.0F);
    CHECK(std::isnan(at(NAN, Activation::relu)));
    CHECK(at(1.0F, Activation::gelu) == doctest::Approx(0.8413447461));
    CHECK(at(1.0F, Activation::gelu_tanh) == doctest::Approx(0.8411919906));
    CHECK(at(1.0F, Activation::silu) == doctest::Approx(0.7310585786));
    CHECK(at(-100.0F, Activation::silu) == doctest::Approx(0.0));
}

TEST_CASE("a product with and without a bias") {
    const Tensor x({1, 1, 1, 2}, std::vector<float>{2, 3});
    LinearWeights linear{Tensor({1, 1, 2, 3}, std::vector<float>{1, 0, 2, 0, 1, 1}), {}};
    CHECK(through(x, linear) == Tensor({1, 1, 1, 3}, std::vector<float>{2, 3, 7}));
    linear.bias = Tensor({1, 1, 1, 3}, std::vector<float>{10, 0, -7});
    CHECK(through(x, linear) == Tensor({1, 1, 1, 3}, std::vector<float>{12, 3, 0}));
}

TEST_CASE("waves: all sines before all cosines, wavelengths to 2π·10000") {
    Tensor x({1, 1, 3, 4});
    add_waves(x);
    CHECK(x(0, 0, 0, 0) == 0.0F);
    CHECK(x(0, 0, 0, 2) == 1.0F);
    CHECK(x(0, 0, 2, 0) == doctest::Approx(std::sin(2.0)));
    CHECK(x(0, 0, 2, 1) == doctest::Approx(std::sin(2e-4)).scale(0.0));
    CHECK(x(0, 0, 2, 3) == doctest::Approx(std::cos(2e-4)));
}
