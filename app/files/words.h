#pragma once

#include <span>
#include <string>
#include <string_view>

namespace attn::files {

// Parts of sentences about what was typed.

/// "; did you mean --causal?" for the candidate that is at most two typing mistakes away, or "".
std::string did_you_mean(std::string_view word, std::span<const std::string> candidates);

/// "a, b or c"
std::string choices(std::span<const std::string> words);

}  // namespace attn::files
