#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace attn::files {

/// The numbers that an option takes, which its row gives: on the command line, in a file's `options`, and in the help.
struct NumberRange {
    enum class Kind : std::uint8_t { none, whole, real };
    enum class Form : std::uint8_t {
        one,
        parts,  // each number of a list with commas; the option reads the other parts
    };
    Kind kind = Kind::none;
    double low = 0.0, high = 0.0;  // the least and the most, both included
    Form form = Form::one;

    constexpr explicit operator bool() const { return kind != Kind::none; }
};
constexpr NumberRange whole_numbers(double low, double high,
                                    NumberRange::Form form = NumberRange::Form::one) {
    return {NumberRange::Kind::whole, low, high, form};
}
constexpr NumberRange real_numbers(double low, double high,
                                   NumberRange::Form form = NumberRange::Form::one) {
    return {NumberRange::Kind::real, low, high, form};
}

inline constexpr double kMostHeads = 1 << 16;
inline constexpr double kMostPosition = 1LL << 40;  // of a token, as core has it
inline constexpr double kMostLayer = 1 << 20;
inline constexpr double kMostSeed = 0x1p64;  // 2^64 - 1 as a double
inline constexpr double kMostFactor = 1e18;  // of scores, as core has it

/// "" where each number of the text lies within it; a + before a number is fine. Otherwise what an error says after the name of
/// the option: "is 0; expected a whole number from 1 to 2^40".
std::string complaint_about(const NumberRange& range, std::string_view text);
/// "1 to 2^40"
std::string bounds_of(const NumberRange& range);
/// The words of an option's help, and what numbers it takes: "query heads (default 1); 1 to 65536".
std::string with_bounds(std::string_view text, const NumberRange& range);

}  // namespace attn::files
