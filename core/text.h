#pragma once

#include <concepts>
#include <span>
#include <string>
#include <string_view>

namespace attn {

// UTF-8 as it comes from files and people: any bytes. Nothing here throws or reads past the end.

/// One code point and how many bytes it took.
struct CodePoint {
    char32_t value = 0;
    std::size_t bytes = 0;
};
inline constexpr char32_t kReplacement = 0xFFFD;  // replaces a byte that is not UTF-8

/// The first code point of `text`; U+FFFD and one byte where that is ill-formed (cut short, overlong, a
/// surrogate, above U+10FFFF). Of an empty text: no bytes.
CodePoint first_code_point(std::string_view text);
void append_code_point(std::string& text, char32_t value);
/// U+FFFD for every byte that is not UTF-8, all else unchanged.
std::string valid_utf8(std::string_view text);

/// Most code points of a value that an error quotes.
inline constexpr std::size_t kMostQuoted = 40;
/// The first `most` code points and "…" where there are more. Valid UTF-8, on one line: control
/// characters become spaces. Reads no more of the text than it gives back.
std::string shortened(std::string_view text, std::size_t most = kMostQuoted);
/// "a, b or c"
std::string choices(std::span<const std::string> items);
/// For a terminal: what it would obey is written out, "\x1b[2J" of an escape sequence, and bytes that are no UTF-8 are U+FFFD.
/// Control characters other than line breaks and tabs, and characters that turn the direction of text.
std::string printable(std::string_view text);
/// "1 key", "3 keys".
template <std::integral Count>
std::string counted(Count count, std::string_view noun) {
    return std::to_string(count) + " " + std::string(noun) + (count == 1 ? "" : "s");
}

}  // namespace attn
