#pragma once

#include <string>
#include <string_view>

namespace attn::fonts {

// What a text asks of who sets it. Any bytes may come.

/// What `text` says, as valid UTF-8 without control characters: a broken byte becomes U+FFFD.
std::string clean_text(std::string_view text);

/// Whether its characters, one glyph each, may stand side by side from left to right: Latin, Greek, Cyrillic and signs.
bool is_simple(std::string_view text);

/// Bytes of the first character as a reader counts them: a letter with its marks, an emoji with what it
/// is joined to. "" has none.
std::size_t first_character(std::string_view text);

/// `text` as a line that begins at the left, with the marks of Unicode that keep its order: what is quoted is of one piece,
/// and "a → b" stays so, though a and b run from right to left. A text of such letters alone runs as they do.
std::string directed(std::string_view text);

}  // namespace attn::fonts
