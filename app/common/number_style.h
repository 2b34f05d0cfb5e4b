#pragma once

#include <span>
#include <string>
#include <string_view>

namespace attn::view {

// How numbers of one picture or one table look alike.

/// ".58" for "0.58", "−.58" for "−0.58": as pictures and their legends write it.
std::string without_leading_zero(std::string text);
/// tick() of a colour bar: "−16.1", ".577".
std::string legend_tick(double value);
/// The numbers of one column with the decimals of number(): "0.14" among "0.1717" becomes "0.1400". Other texts, numbers
/// in powers of ten, and a column without four decimals keep their text.
void align_decimals(std::span<std::string* const> column);
/// `digits` significant digits, trailing zeros too: "0.310", "9.40", "12.0".
std::string full_significant(double value, int digits);
/// Arithmetic as the inspector draws it: "exp(s − max)" for "exp(s - max)". A hyphen within a word stays: "log-sum-exp".
std::string with_minus_signs(std::string_view text);

}  // namespace attn::view
