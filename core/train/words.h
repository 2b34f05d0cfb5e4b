#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/sizes.h"

namespace attn::train {

/// What stands between white space (space, tab, line breaks).
std::vector<std::string> split_words(std::string_view text);

/// A text as numbers of its vocabulary, whose words stand in the order in which they first appear.
struct Words {
    std::vector<std::string> vocabulary;
    std::vector<Index> numbers;
};
Words words_of(std::string_view text);
inline constexpr std::size_t kMostWords = 2048;  // of a vocabulary

// The grammar; a noun and its verbs have one number. [ ] may be left out, each with probability 1/3 there.
//   sentence → subject verb "."        verb → runs | sees object
//   subject, object → the [old] noun [that sees the noun | that the noun sees]; what is in a relative clause has none of its own
/// Its words.
std::vector<std::string> grammar_vocabulary();
/// So many words of sentences, one after the other, as numbers of it.
std::vector<Index> grammar_words(std::uint64_t stream, std::size_t count);

}  // namespace attn::train
