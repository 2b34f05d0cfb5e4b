#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "core/result.h"

namespace attn {

// A text as letters that pass through a chat, a mail or a shell: A-Z a-z 0-9 - _ (base64url, RFC 4648, without padding).
// First a byte, 1 where what follows the CRC-32 of the text is deflated (RFC 1951) and 0 where it stands as it is.

/// `usual`: what often stands in such a text makes it shorter; whoever unpacks it must give the same.
std::string packed_text(std::string_view text, std::string_view usual = {});

/// Spaces and line breaks between the letters count for nothing. Refused: another sign, an end that is missing, a letter
/// that was changed, and what holds more than `most` bytes, before it is inflated any further.
Result<std::string> unpacked_text(std::string_view packed, std::size_t most,
                                  std::string_view usual = {});

}  // namespace attn
