#pragma once

#include <string>
#include <string_view>

namespace attn {

// What is done to a text before it becomes words.

std::string replaced(std::string_view text, std::string_view from, std::string_view to);
/// The bytes of replaced().
std::size_t replaced_size(std::string_view text, std::string_view from, std::string_view to);
/// Control characters go, spaces of any kind become " ".
std::string cleaned(std::string_view text);
/// A space on both sides of each Chinese character.
std::string spaced_cjk(std::string_view text);
/// Without marks that take no place of their own (\p{Mn}), as BERT has it.
std::string without_nonspacing_marks(std::string_view text);
/// Without marks of any kind (\p{M}), such as the vowel signs of Devanagari.
std::string without_marks(std::string_view text);
/// How many bytes of spaces it begins, or ends, with.
std::size_t spaces_at_start(std::string_view text);
std::size_t spaces_at_end(std::string_view text);
/// Without the spaces at its ends.
std::string trimmed(std::string_view text, bool left, bool right);

}  // namespace attn
