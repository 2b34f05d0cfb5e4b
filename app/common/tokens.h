#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace attn::view {

/// Splits at white space of any script; Chinese, Japanese and Korean, which need none, into characters.
/// Bytes that are not UTF-8 become U+FFFD. Time and memory are linear in the text.
std::vector<std::string> tokenize(std::string_view sentence);

}  // namespace attn::view
