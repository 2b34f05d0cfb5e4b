#include "app/files/token_text.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "core/models/split.h"
#include "core/text.h"

namespace attn::files {
namespace {

/// "caf\xc3\xa9" of b'caf\xc3\xa9' or b"…"; nullopt of anything else.
std::optional<std::string> python_bytes(std::string_view token) {
    if (token.size() < 3 || token[0] != 'b' || (token[1] != '\'' && token[1] != '"') ||
        token.back() != token[1])
        return std::nullopt;
    std::string_view rest = token.substr(2, token.size() - 3);
    std::string bytes;
    while (!rest.empty()) {
        const char first = rest.front();
        rest.remove_prefix(1);
        if (first != '\\') {
            bytes += first;
            continue;
        }
        if (rest.empty()) return std::nullopt;
        constexpr std::string_view kNames = "ntr\\'\"", kMeant = "\n\t\r\\'\"";
        const char kind = rest.front();
        rest.remove_prefix(1);
        if (const std::size_t at = kNames.find(kind); at != kNames.npos) {
            bytes += kMeant[at];
            continue;
        }
        constexpr std::string_view kDigits = "0123456789abcdef";
        const std::size_t high = rest.size() < 2 ? kDigits.npos : kDigits.find(rest[0]);
        const std::size_t low = rest.size() < 2 ? kDigits.npos : kDigits.find(rest[1]);
        if (kind != 'x' || high == kDigits.npos || low == kDigits.npos) return std::nullopt;
        bytes += static_cast<char>(high * 16 + low);
        rest.remove_prefix(2);
    }
    return bytes;
}

/// Bytes of invalid UTF-8 have their codes.
std::string text_of(const std::string& bytes) {
    if (valid_utf8(bytes) == bytes) return bytes;
    std::string text;
    for (const char byte : bytes)
        text += byte >= ' ' && byte < '\x7F'
                    ? std::string(1, byte)
                    : fmt::format("\\x{:02x}", static_cast<unsigned char>(byte));
    return text;
}

bool is_special(std::string_view token) { return token.starts_with('<') && token.ends_with('>'); }

bool are_python_bytes(const std::vector<std::string>& tokens) {
    const auto is_bytes = [](const std::string& token) { return python_bytes(token).has_value(); };
    return std::ranges::any_of(tokens, is_bytes) &&
           std::ranges::all_of(tokens, [&](const std::string& token) {
               return is_bytes(token) || is_special(token);
           });
}

bool are_letters(const std::vector<std::string>& tokens) {
    const auto spaces = std::ranges::count_if(
        tokens, [](const std::string& token) { return token.starts_with("Ġ"); });
    return spaces > 0 && 4 * spaces >= std::ssize(tokens) &&
           std::ranges::all_of(tokens, [](const std::string& token) {
               return bytes_as_letters(letters_as_bytes(token)) == token;
           });
}

}  // namespace

std::string_view read_bytes_as_text(std::vector<std::string>& tokens) {
    if (are_python_bytes(tokens)) {
        for (std::string& token : tokens)
            if (const auto bytes = python_bytes(token)) token = text_of(*bytes);
        return "bytes of Python";
    }
    if (!are_letters(tokens)) return {};
    for (std::string& token : tokens) token = text_of(letters_as_bytes(token));
    return "the letters that GPT-2 has for bytes, where Ġ is a space";
}

}  // namespace attn::files
