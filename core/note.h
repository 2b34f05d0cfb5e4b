#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace attn {

/// What a reader should know beside a result, for programs. Append-only: scripts compare key_of().
enum class NoteCode : std::uint8_t {
    general,       // `text` has it
    file_options,  // options came from the file
    given_pairs,   // scores or weights are read without the queries and keys that make them
    packed,        // how a packed array was read
    rounded,       // numbers other than float64 were rounded to float32
    rounded_float64,
};
/// "file_options"
std::string_view key_of(NoteCode code);

/// A sentence about the input or the result.
struct Note {
    std::string text;
    NoteCode code = NoteCode::general;

    Note(std::string message, NoteCode of = NoteCode::general)
        : text(std::move(message)), code(of) {}
    bool operator==(const Note&) const = default;
};
/// "it is rounded; it has 2 heads"
std::string text_of(std::span<const Note> notes);

}  // namespace attn
