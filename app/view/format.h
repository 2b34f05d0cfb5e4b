#pragma once

#include <string>

#include "core/tensor.h"

namespace attn::view {

// Every number a person reads is written here. −0.00 shows as 0.00; NaN, inf and −inf as NaN, ∞, −∞.

/// For a cell: fixed decimals while it fits (1.23), scientific beyond (1.2e+05).
std::string cell_number(double value, int decimals);
/// For the inspector: four significant decimals, "0.3000" -> "0.30" when exact.
std::string number(double value);
/// "32.4 %".
std::string percent(double fraction);
/// Shortest text that reads back as the same float: for copies and journals.
std::string exact(float value);
std::string exact(double value);
/// "4 × 2".
std::string size(Index rows, Index columns);

}  // namespace attn::view
