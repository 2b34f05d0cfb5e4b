#pragma once

#include <string>
#include <string_view>

#include "core/sizes.h"
#include "core/text.h"

namespace attn::view {

// Every number a person reads is written here. −0.00 shows as 0.00; NaN, inf and −inf as NaN, ∞, −∞;
// powers of ten as 1.2·10⁻⁵, which no sign beside it can be read into.

/// For a cell: fixed decimals while it fits (1.23), scientific beyond (1.2·10⁵).
std::string cell_number(double value, int decimals);
/// For the inspector: four decimals, trailing zeros cut down to two (1.2286, 0.71, 1.00); three
/// significant digits where those would say too little (1.23·10⁻⁴) or too much (1.23·10⁶).
std::string number(double value);
/// For the end of a scale: three significant digits ("−16.1", "0", "1").
std::string tick(double value);
/// `digits` significant digits, trailing zeros cut: "2", "0.125", "1.5·10⁻⁷".
std::string significant(double value, int digits);
/// A number as a factor: in parentheses where it has a sign or a power of ten, "(−0.45)".
std::string factor(const std::string& number);
/// "10⁻³"; "1" of 0.
std::string power_of_ten(int exponent);
/// "32.4 %", "< 0.1 %", "> 99.9 %": a number in a table or at a mark.
std::string percent(double fraction);
/// The same in a sentence, where a sign would be read as a comparison: "less than 0.1 %", "more than 99.9 %".
std::string percent_text(double fraction);
/// Shortest text that reads back as the same float: for copies and journals.
std::string exact(float value);
std::string exact(double value);
/// "4 × 2".
std::string size(Index rows, Index columns);
/// "131,072".
std::string grouped(Index number);
/// "1 key", "3 keys".
using attn::counted;
/// ", tied with 2 others"; "" of 0.
std::string as_much_text(Index others);
/// "11 s", "2 min 5 s", "1 h 20 min".
std::string duration(double seconds);
/// "24 MiB".
std::string bytes_text(double bytes);

}  // namespace attn::view
