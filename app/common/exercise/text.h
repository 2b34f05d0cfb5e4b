#pragma once

#include <string>
#include <string_view>

#include "app/common/exercise/exercise.h"

namespace attn::view {

// The texts of a sheet: words, $TeX$, and in both
//   @{n*n}       the value of a formula; a matrix only outside of $ $
//   @{A:4}       with that many decimals, @{b:p} in parentheses where it is negative, @{x:s3} with significant digits
//   @{?k: a | b} the k-th of these texts, from 0

Result<ExerciseParagraph> exercise_paragraph(std::string_view text, const NamedMatrices& values);
/// Without pieces: one line of plain text.
Result<std::string> filled_text(std::string_view text, const NamedMatrices& values);
/// TeX that can be typeset.
Result<std::string> checked_tex(std::string_view tex, const NamedMatrices& values);

/// "−0.50".
std::string fixed_number(double value, int decimals);
/// So many significant digits, written out where that is short: "1,600", "0.0442", "3.2·10⁻⁷".
std::string rounded_number(double value, int digits);
/// Whole numbers as "1,000,000", others with at most six digits.
std::string plain_number(double value);

}  // namespace attn::view
