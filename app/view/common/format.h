#pragma once

#include <string>

#include "core/tensor.h"

namespace attn::view {

// Every number a person reads is written here. −0.00 shows as 0.00; NaN, inf and −inf as NaN, ∞, −∞.

/// For a cell: fixed decimals while it fits (1.23), scientific beyond (1.2e5).
std::string cell_number(double value, int decimals);
/// For the inspector: four decimals, trailing zeros cut down to two (1.2286, 0.71, 1.00); three
/// significant digits where those would say too little (1.23e−4) or too much (1.23e6).
std::string number(double value);
/// For the end of a scale: three significant digits ("−16.1", "0", "1").
std::string tick(double value);
/// "32.4 %".
std::string percent(double fraction);
/// Shortest text that reads back as the same float: for copies and journals.
std::string exact(float value);
std::string exact(double value);
/// "4 × 2".
std::string size(Index rows, Index columns);

}  // namespace attn::view
