#pragma once

#include <doctest/doctest.h>

#include <fmt/format.h>

#include <initializer_list>
#include <string>

namespace attn::test {

template <class Range>
std::string rounded(const Range& values, int decimals) {
    std::string text;
    for (const double value : values) text += fmt::format("{:.{}f} ", value, decimals);
    return text;
}

/// Each value rounds to the printed digits of `expected`.
template <class Range>
void check_digits(const Range& values, std::initializer_list<double> expected, int decimals) {
    CHECK(rounded(values, decimals) == rounded(expected, decimals));
}
inline void check_digits(std::initializer_list<double> values,
                         std::initializer_list<double> expected, int decimals) {
    CHECK(rounded(values, decimals) == rounded(expected, decimals));
}

}  // namespace attn::test
