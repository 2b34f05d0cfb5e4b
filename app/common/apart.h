#pragma once

#include <string>
#include <utility>

namespace attn::view {

// Texts of two different numbers, with enough digits to differ.

/// Both by number(), or with as many digits as tell them apart; of equal ones the same text.
std::pair<std::string, std::string> distinguished(double a, double b);
/// The same as percentages.
std::pair<std::string, std::string> percents_apart(double a, double b);

}  // namespace attn::view
