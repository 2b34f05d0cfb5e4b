#pragma once

#include <algorithm>
#include <cmath>
#include <span>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "app/common/format.h"

namespace attn::view {

/// `value` rounded to significant digits.
inline double rounded(double value, int digits) {
    return std::isfinite(value) ? std::stod(fmt::format("{:.{}e}", value, digits - 1)) : value;
}

/// "0.125 · 9 = 1.125" in parts: the printed factors give the printed product, to its last digit.
struct ProductText {
    std::string a, b, product;
};

/// Digits, from `least` on, at which `value` is not halfway between two printed numbers.
inline int digits_beside_ties(double value, int least) {
    for (int digits = least; digits < 9; ++digits) {
        const double size = std::pow(10.0, std::floor(std::log10(std::abs(value))) - digits + 1);
        const double steps = std::abs(value) / size;
        if (!(std::abs(steps - std::floor(steps) - 0.5) < 1e-6)) return digits;
    }
    return 9;
}

/// Factors and product to `digits` significant digits, and to more where rounding would show.
inline ProductText product_text(double a, double b, int digits) {
    const double exact = a * b;
    for (int more = digits; more < 17; ++more) {
        const double printed = rounded(a, more) * rounded(b, more);
        const int shown = printed == 0.0 ? digits : digits_beside_ties(printed, digits);
        if (significant(printed, shown) == significant(exact, shown) || more == 16)
            return {significant(a, more), significant(b, more), significant(exact, shown)};
    }
    return {significant(a, digits), significant(b, digits), significant(exact, digits)};
}

/// Terms with at least `least` decimals, whose printed sum is the printed total.
inline std::vector<std::string> sum_terms(std::span<const double> terms, double total, int least) {
    const auto to_decimals = [](double value, int decimals) {
        const double size = std::pow(10.0, decimals);
        return std::round(value * size) / size;
    };
    int decimals = least;
    for (; decimals < 12; ++decimals) {
        double sum = 0.0;
        for (const double each : terms) sum += to_decimals(each, decimals);
        if (cell_number(sum, least) == cell_number(total, least)) break;
    }
    std::vector<std::string> texts;
    for (const double each : terms) texts.push_back(cell_number(each, decimals));
    return texts;
}

/// The decimals of a total, at most `most`, that the sum of terms printed with `most` decimals confirms.
inline int sum_decimals(std::span<const double> terms, double total, int most) {
    double sum = 0.0;
    const double size = std::pow(10.0, most);
    for (const double each : terms) sum += std::round(each * size) / size;
    int decimals = most;
    while (decimals > 1 && cell_number(sum, decimals) != cell_number(total, decimals)) --decimals;
    return decimals;
}

}  // namespace attn::view
