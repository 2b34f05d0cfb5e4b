#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"

namespace attn::view {

// A row of logits as text.

/// "0.5, 0.9, 0, 1.2, 0.6"; of a long list the beginning, and how many more.
std::string listed(const std::vector<double>& logits);
/// The same with all of them, in every digit: read back by typed_logits().
std::string written_logits(const std::vector<double>& logits);

enum class Logits : std::uint8_t { finite, any };  // any: also "inf", "-inf", "nan"
/// Numbers between commas, semicolons or spaces. The error names the first that is not a number, and its
/// place: "'x' is no finite number: the logit of key 2".
Result<std::vector<double>> typed_logits(std::string_view text, Logits kind = Logits::finite);

}  // namespace attn::view
