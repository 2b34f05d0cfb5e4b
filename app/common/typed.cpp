#include "app/common/typed.h"

#include <charconv>

#include <fmt/format.h>

#include "core/text.h"

namespace attn::view {
namespace {

void replace_all(std::string& text, std::string_view from, std::string_view to) {
    for (std::size_t at = text.find(from); at != text.npos; at = text.find(from, at + to.size()))
        text.replace(at, from.size(), to);
}

std::string plain(std::string_view typed) {
    std::string text;
    for (const char c : typed)
        if (c != ' ' && c != '\t') text += c;
    replace_all(text, "−", "-");
    replace_all(text, "∞", "inf");
    if (text.starts_with('+')) text.erase(0, 1);
    return text;
}

template <class Number>
std::optional<Number> parse(const std::string& text) {
    Number value{};
    const char* end = text.data() + text.size();
    const auto [stopped, error] = std::from_chars(text.data(), end, value);
    if (error != std::errc{} || stopped != end || text.empty()) return std::nullopt;
    return value;
}

template <class Number>
std::optional<Number> parse_whole(std::string_view typed) {
    std::string text = plain(typed);
    replace_all(text, ",", "");
    return parse<Number>(text);
}

}  // namespace

std::optional<double> typed_number(std::string_view text) { return parse<double>(plain(text)); }
std::optional<Index> typed_whole(std::string_view text) { return parse_whole<Index>(text); }
std::optional<std::uint64_t> typed_seed(std::string_view text) {
    return parse_whole<std::uint64_t>(text);
}

std::string not_typed(std::string_view text, std::string_view wanted, std::string_view name,
                      std::string_view stays) {
    return fmt::format("'{}' is not {}; {} stays {}", shortened(text), wanted, name, stays);
}

}  // namespace attn::view
