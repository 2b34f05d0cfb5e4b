#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace attn {

// How a text becomes words, before each is cut into pieces. Words keep their bytes: together they are the text, but where a
// rule says that spaces go.

using Words = std::vector<std::string>;

/// GPT-2: 's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
Words split_gpt2(std::string_view text);
/// Llama 3 (digits 3), Qwen 2 (digits 1):
/// (?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,digits}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+
Words split_llama3(std::string_view text, int digits);
/// CLIP, without what is between: 's|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+
Words split_clip(std::string_view text);
/// At spaces, which go.
Words split_spaces(std::string_view text);
/// BERT: at spaces, which go, and around each punctuation mark.
Words split_bert(std::string_view text);
/// Before each "▁".
Words split_metaspace(std::string_view text);

/// A part of a text, `matched` by a pattern or between its matches.
struct TextPart {
    std::size_t begin, end;  // bytes
    bool matched = false;
};
/// The fate of the parts that match: each stays alone, neighbours are joined, they go, or they join a neighbour.
enum class MatchedParts : std::uint8_t { isolated, contiguous, removed, with_previous, with_next };
/// The parts that come one behind the other and cover the text.
Words split_parts(std::string_view text, std::vector<TextPart> parts, MatchedParts matched);
/// Each code point that `is` true of is a match.
Words split_points(std::string_view text, bool (*is)(char32_t), MatchedParts matched);
/// \w+|[^\w\s]+, without what is between.
Words split_word_signs(std::string_view text);
/// Each occurrence of `needle` is a match.
std::vector<TextPart> parts_at(std::string_view text, std::string_view needle);

/// Each byte as the one character that GPT-2 has for it: a space is "Ġ".
std::string bytes_as_letters(std::string_view bytes);
/// The bytes again; characters that stand for none are left out.
std::string letters_as_bytes(std::string_view letters);

}  // namespace attn
