#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace attn::view {

// How a list is searched by words: the palette's and the glossary's.

/// The words of what is typed, as matching compares them: "4,096" is "4096", "d_k" is "d k", "Créer" is "creer".
std::vector<std::string> search_words(std::string_view query);
/// Higher is better; 0 when `text` lacks one of the words. No words: 1.
int match(std::string_view text, const std::vector<std::string>& words);

}  // namespace attn::view
