#pragma once

#include <charconv>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace attn::files {

// What was typed, and parts of sentences about it.

/// The whole of `text` as a number; from_chars reads the same in every locale.
template <class Number>
std::optional<Number> number_in(std::string_view text) {
    Number number{};
    const char* const end = text.data() + text.size();
    const auto [stop, fault] = std::from_chars(text.data(), end, number);
    return fault == std::errc{} && stop == end ? std::optional(number) : std::nullopt;
}

/// Every part, also an empty one: one more than there are separators.
std::vector<std::string_view> split(std::string_view text, char separator = ',');
/// The same of a list that may end with a comma, or be empty.
std::vector<std::string_view> split_list(std::string_view text);

/// "; did you mean --causal?" for the candidate that is at most two typing mistakes away, or "".
std::string did_you_mean(std::string_view word, std::span<const std::string> candidates);

}  // namespace attn::files
