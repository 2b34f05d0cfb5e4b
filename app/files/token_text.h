#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace attn::files {

/// Tokens that other programs write in place of their text, as text: b'caf\xc3\xa9', as Python shows bytes (every token but
/// those in <…> is so); or "Ġcaf", the letters that GPT-2 has for bytes, where Ġ is a space (every character is one of these letters,
/// and at least a quarter of the tokens begin with Ġ). Bytes of invalid UTF-8, as of half a character, stay \xe4.
/// Returns the kind that they were, or "" for other tokens, which do not change.
std::string_view read_bytes_as_text(std::vector<std::string>& tokens);

}  // namespace attn::files
