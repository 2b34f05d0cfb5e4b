#pragma once

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include <doctest/doctest.h>

/// Largest difference, as a part of the largest expected number, which must be no rounding.
inline double error_of(std::span<const float> values, const std::vector<double>& expected) {
    REQUIRE(values.size() == expected.size());
    double largest = 0.0, error = 0.0;
    for (std::size_t n = 0; n < expected.size(); ++n) {
        largest = std::max(largest, std::abs(expected[n]));
        error = std::max(error, std::abs(double{values[n]} - expected[n]));
    }
    REQUIRE(largest > 0.01);
    return error / largest;
}
