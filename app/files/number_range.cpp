#include "app/files/number_range.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "app/files/text.h"
#include "core/text.h"

namespace attn::files {
namespace {

/// A whole number from 2^63 to 2^64 - 1 too, rounded as a double.
std::optional<double> whole_in(std::string_view text) {
    if (const auto number = number_in<std::int64_t>(text)) return static_cast<double>(*number);
    if (const auto number = number_in<std::uint64_t>(text)) return static_cast<double>(*number);
    return std::nullopt;
}

std::optional<double> number_of(const NumberRange& range, std::string_view text) {
    if (text.starts_with('+')) text.remove_prefix(1);
    return range.kind == NumberRange::Kind::whole ? whole_in(text) : number_in<double>(text);
}

bool holds_one(const NumberRange& range, std::string_view text) {
    const auto number = number_of(range, text);
    if (!number) return range.form == NumberRange::Form::parts && !number_in<double>(text);
    return *number >= range.low && *number <= range.high;
}

bool holds(const NumberRange& range, std::string_view text) {
    if (!range) return true;
    if (range.form == NumberRange::Form::one) return holds_one(range, text);
    return std::ranges::all_of(split(text),
                               [&](std::string_view part) { return holds_one(range, part); });
}

/// "65536", "2^40", "1e18".
std::string shown_bound(double bound) {
    constexpr double kExact = 0x1p53;
    if (bound == kMostSeed) return "2^64 - 1";
    int power = 0;
    if (bound > 1e7 && std::frexp(bound, &power) == 0.5) return fmt::format("2^{}", power - 1);
    if (std::abs(bound) < kExact && bound == std::trunc(bound)) return fmt::format("{:.0f}", bound);
    std::string text = fmt::format("{:g}", bound);
    // "1e+18" and "1e-06" of printf: "1e18", "1e-6".
    std::size_t exponent = text.find('e');
    if (exponent == text.npos) return text;
    if (text[++exponent] == '+') text.erase(exponent, 1);
    if (text[exponent] == '-') ++exponent;
    while (text[exponent] == '0') text.erase(exponent, 1);
    return text;
}

}  // namespace

std::string bounds_of(const NumberRange& range) {
    return fmt::format("{} to {}", shown_bound(range.low), shown_bound(range.high));
}

std::string complaint_about(const NumberRange& range, std::string_view text) {
    if (holds(range, text)) return {};
    const std::string_view kind =
        range.kind == NumberRange::Kind::whole ? "whole number" : "number";
    const bool list = range.form == NumberRange::Form::parts;
    const std::string value = shortened(text);
    return fmt::format("is {}; expected {}{}{} from {}",
                       number_of(range, text) ? value : fmt::format("'{}'", value),
                       list ? "" : "a ", kind, list ? "s" : "", bounds_of(range));
}

std::string with_bounds(std::string_view text, const NumberRange& range) {
    return range ? fmt::format("{}; {}", text, bounds_of(range)) : std::string(text);
}

}  // namespace attn::files
