#include "app/view/format.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include <fmt/format.h>

namespace attn::view {
namespace {

constexpr double kScientificAbove = 1e5;  // wider than a cell
constexpr double kScientificBelow = 1e-4;

/// NaN, ∞ and −∞ in words; "" for a finite value.
std::string not_finite(double value) {
    if (std::isnan(value)) return "NaN";
    if (std::isinf(value)) return value > 0 ? "∞" : "−∞";
    return {};
}

/// The minus sign as typeset, and none before a zero.
std::string typeset(std::string text) {
    if (text.empty() || text.front() != '-') return text;
    const bool zero = text.find_first_of("123456789") == text.npos;
    return (zero ? "" : "−") + text.substr(1);
}

/// "0.3000" -> "0.30" while it still reads back as the same float.
std::string trimmed(std::string text, double value) {
    const std::size_t shortest = text.find('.') + 3;
    std::string shorter = text;
    while (shorter.size() > shortest && shorter.back() == '0') shorter.pop_back();
    const bool same = std::strtof(shorter.c_str(), nullptr) == static_cast<float>(value);
    return same ? shorter : text;
}

}  // namespace

std::string cell_number(double value, int decimals) {
    if (std::string words = not_finite(value); !words.empty()) return words;
    if (std::abs(value) >= kScientificAbove) return typeset(fmt::format("{:.1e}", value));
    return typeset(fmt::format("{:.{}f}", value, decimals));
}

std::string number(double value) {
    if (std::string words = not_finite(value); !words.empty()) return words;
    const double size = std::abs(value);
    if (size != 0.0 && (size >= kScientificAbove || size < kScientificBelow))
        return typeset(fmt::format("{:.3e}", value));
    // 0.1234, 0.01234, 0.001234: four digits that count
    const int zeros =
        size == 0.0 ? 0 : std::max(0, -1 - static_cast<int>(std::floor(std::log10(size))));
    return typeset(trimmed(fmt::format("{:.{}f}", value, 4 + zeros), value));
}

std::string percent(double fraction) {
    if (std::string words = not_finite(fraction); !words.empty()) return words;
    return typeset(fmt::format("{:.1f}", 100.0 * fraction)) + " %";
}

std::string exact(float value) { return fmt::format("{}", value); }
std::string exact(double value) { return fmt::format("{}", value); }

std::string size(Index rows, Index columns) { return fmt::format("{} × {}", rows, columns); }

}  // namespace attn::view
