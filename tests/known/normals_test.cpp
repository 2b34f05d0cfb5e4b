#include "core/normals.h"

#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <numbers>
#include <vector>

#include "core/rng.h"

using namespace attn;

namespace {

/// The first `count` numbers of a stream.
std::vector<double> draw(std::uint64_t seed, std::size_t count) {
    std::vector<double> values;
    NormalBlock block;
    for (std::uint64_t n = 0; values.size() < count; ++n) {
        fill_normal_block(seed, n, block);
        values.insert(values.end(), block.begin(), block.end());
    }
    values.resize(count);
    return values;
}

double mean_of(const std::vector<double>& values, auto power) {
    double sum = 0.0;
    for (const double x : values) sum += power(x);
    return sum / static_cast<double>(values.size());
}

/// E[(u·v)²] of unit vectors, over `trials` pairs.
double unit_dot_squared(std::size_t width, std::uint64_t trials) {
    double sum = 0.0;
    for (std::uint64_t trial = 0; trial < trials; ++trial) {
        const auto u = draw(mix(trial, 0), width);
        const auto v = draw(mix(trial, 1), width);
        double uu = 0.0, vv = 0.0, uv = 0.0;
        for (std::size_t c = 0; c < width; ++c) {
            uu += u[c] * u[c];
            vv += v[c] * v[c];
            uv += u[c] * v[c];
        }
        sum += uv * uv / (uu * vv);
    }
    return sum / static_cast<double>(trials);
}

}  // namespace

TEST_CASE("normals are Box–Muller of their bits") {
    NormalBlock block;
    fill_normal_block(42, 3, block);
    constexpr std::size_t pairs = kNormalBlock / 2;
    for (std::size_t i = 0; i < pairs; ++i) {
        const std::uint64_t bits = mix(42, 3 * pairs + i);
        const double radius =
            std::sqrt(-2.0 * std::log(static_cast<double>((bits >> 40) + 1) * 0x1p-24));
        CHECK(std::hypot(block[i], block[pairs + i]) == doctest::Approx(radius).epsilon(1e-6));
        const auto quarter_turns = static_cast<std::int32_t>(static_cast<std::uint32_t>(bits)) >> 2;
        const double angle = quarter_turns * std::numbers::pi * 0x1p-31;
        const double sign = (bits & 1) != 0 ? -1.0 : 1.0;
        const std::size_t along = (bits & 2) != 0 ? pairs + i : i;
        const std::size_t across = (bits & 2) != 0 ? i : pairs + i;
        CHECK(std::abs(block[along] - sign * radius * std::cos(angle)) < 1e-6);
        CHECK(std::abs(block[across] - sign * radius * std::sin(angle)) < 1e-6);
    }
}

TEST_CASE("normals are the same bits on every machine") {
    NormalBlock block;
    fill_normal_block(1, 0, block);
    CHECK(block[0] == doctest::Approx(-0.794266).epsilon(1e-6));
    CHECK(block[1] == doctest::Approx(-0.446995).epsilon(1e-6));
    CHECK(block[63] == doctest::Approx(0.97468).epsilon(1e-6));
    std::uint64_t hash = 0;
    for (std::uint64_t n = 0; n < 1000; ++n) {
        fill_normal_block(7, n, block);
        for (const float x : block) hash = mix(hash, std::bit_cast<std::uint32_t>(x));
    }
    CHECK(hash == 1519700395648535799ULL);
}

TEST_CASE("a million normals: moments and tails within 4 standard errors") {
    const auto x = draw(11, 1'000'000);
    const double root = 1000.0;  // √count
    CHECK(std::abs(mean_of(x, [](double v) { return v; })) < 4.0 / root);
    CHECK(std::abs(mean_of(x, [](double v) { return v * v; }) - 1.0) < 4.0 * std::sqrt(2.0) / root);
    CHECK(std::abs(mean_of(x, [](double v) { return v * v * v; })) < 4.0 * std::sqrt(15.0) / root);
    const double fourth = mean_of(x, [](double v) { return v * v * v * v; });
    CHECK(std::abs(fourth - 3.0) < 4.0 * std::sqrt(96.0) / root);
    for (const double limit : {0.5, 1.0, 2.0, 3.0, 4.0}) {
        const double p = std::erfc(limit / std::numbers::sqrt2);
        const double seen = mean_of(x, [&](double v) { return std::abs(v) > limit ? 1.0 : 0.0; });
        CHECK(std::abs(seen - p) < 4.0 * std::sqrt(p * (1.0 - p)) / root);
    }
}

TEST_CASE("normals of one stream, of its two halves and of two streams are uncorrelated") {
    const std::size_t count = 400'000;
    const auto a = draw(mix(5, 0), count);
    const auto b = draw(mix(5, 1), count);
    const auto correlation = [&](const std::vector<double>& left, const std::vector<double>& right,
                                 std::size_t lag) {
        double sum = 0.0;
        for (std::size_t n = lag; n < count; ++n) sum += left[n] * right[n - lag];
        return sum / std::sqrt(static_cast<double>(count));
    };
    CHECK(std::abs(correlation(a, b, 0)) < 4.0);
    for (const std::size_t lag : {1u, 2u, 32u, 64u}) CHECK(std::abs(correlation(a, a, lag)) < 4.0);
}

TEST_CASE("unit vectors: E[(u·v)²] = 1/d_k, not d_k") {
    // (u·v)² has variance about 2/d²
    for (const std::size_t width : {4u, 64u, 512u}) {
        const double d_k = static_cast<double>(width);
        const double trials = 4000.0;
        CHECK(std::abs(unit_dot_squared(width, 4000) - 1.0 / d_k) <
              4.0 * std::sqrt(2.0 / trials) / d_k);
    }
}
