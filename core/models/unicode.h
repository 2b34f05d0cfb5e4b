#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace attn {

// What the expressions of tokenizers ask of a code point; properties by utf8proc.

bool is_letter(char32_t c);   // \p{L}
bool is_number(char32_t c);   // \p{N}
bool is_space(char32_t c);    // \s: the property White_Space
bool is_newline(char32_t c);  // \r \n
/// As BERT has it: ASCII that is neither letter, digit nor space, and \p{P}.
bool is_punctuation(char32_t c);
/// Other, as Hugging Face's BERT has it, but for tab, line ends and what is not assigned: \p{Cc} \p{Cf} \p{Cs} \p{Co}.
bool is_control(char32_t c);
/// Of the blocks that Hugging Face's BERT takes for Chinese: not U+2B820 … U+2B91F, which the published one does.
bool is_cjk(char32_t c);
bool is_mark(char32_t c);             // \p{M}
bool is_nonspacing_mark(char32_t c);  // \p{Mn}
/// \w: \p{Alphabetic}, marks, decimal digits, connectors such as "_", and the two joiners.
bool is_word(char32_t c);

/// What a person takes for one character: a letter with its marks.
std::vector<std::string_view> graphemes(std::string_view text);

enum class NormalForm { c, d, kc, kd };
std::string normal_form(std::string_view text, NormalForm form);
std::string lower_case(std::string_view text);

}  // namespace attn
