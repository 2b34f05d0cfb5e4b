#include "core/text.h"

#include <fmt/format.h>

namespace attn {
namespace {

/// Bytes of the code point that begins with `lead`; 0 where none does.
std::size_t length_of(unsigned char lead) {
    if (lead < 0x80) return 1;
    if (lead >= 0xC2 && lead < 0xE0) return 2;
    if (lead >= 0xE0 && lead < 0xF0) return 3;
    if (lead >= 0xF0 && lead < 0xF5) return 4;
    return 0;
}

bool is_overlong(char32_t value, std::size_t bytes) {
    constexpr char32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
    return value < kLeast[bytes];
}

bool is_surrogate(char32_t value) { return value >= 0xD800 && value < 0xE000; }

bool is_control(char32_t value) { return value < 0x20 || (value >= 0x7F && value < 0xA0); }

/// Marks that turn the direction of the text after them, so that it reads as another text.
bool turns_direction(char32_t value) {
    return (value >= 0x202A && value <= 0x202E) || (value >= 0x2066 && value <= 0x2069);
}

}  // namespace

CodePoint first_code_point(std::string_view text) {
    if (text.empty()) return {};
    const auto byte = [&](std::size_t n) { return static_cast<unsigned char>(text[n]); };
    const std::size_t bytes = length_of(byte(0));
    if (bytes == 1) return {byte(0), 1};
    if (bytes == 0 || bytes > text.size()) return {kReplacement, 1};
    char32_t value = byte(0) & (0xFFU >> (bytes + 1));
    for (std::size_t n = 1; n < bytes; ++n) {
        if ((byte(n) & 0xC0U) != 0x80U) return {kReplacement, 1};
        value = (value << 6U) | (byte(n) & 0x3FU);
    }
    if (is_overlong(value, bytes) || is_surrogate(value) || value > 0x10FFFF)
        return {kReplacement, 1};
    return {value, bytes};
}

void append_code_point(std::string& text, char32_t value) {
    const auto put = [&](char32_t byte) { text += static_cast<char>(byte); };
    if (value < 0x80) return put(value);
    if (value < 0x800) {
        put(0xC0U | (value >> 6U));
    } else if (value < 0x10000) {
        put(0xE0U | (value >> 12U));
        put(0x80U | ((value >> 6U) & 0x3FU));
    } else {
        put(0xF0U | (value >> 18U));
        put(0x80U | ((value >> 12U) & 0x3FU));
        put(0x80U | ((value >> 6U) & 0x3FU));
    }
    put(0x80U | (value & 0x3FU));
}

std::string valid_utf8(std::string_view text) {
    std::string valid;
    valid.reserve(text.size());
    while (!text.empty()) {
        const CodePoint next = first_code_point(text);
        append_code_point(valid, next.value);
        text.remove_prefix(next.bytes);
    }
    return valid;
}

std::string printable(std::string_view text) {
    std::string safe;
    safe.reserve(text.size());
    while (!text.empty()) {
        const CodePoint next = first_code_point(text);
        text.remove_prefix(next.bytes);
        if (next.value == U'\n' || next.value == U'\t' ||
            !(is_control(next.value) || turns_direction(next.value)))
            append_code_point(safe, next.value);
        else if (next.value < 0x100)
            safe += fmt::format("\\x{:02x}", static_cast<std::uint32_t>(next.value));
        else
            safe += fmt::format("\\u{:04x}", static_cast<std::uint32_t>(next.value));
    }
    return safe;
}

std::string shortened(std::string_view text, std::size_t most) {
    std::string part;
    for (std::size_t count = 0; !text.empty(); ++count) {
        if (count == most) return part + "…";
        const CodePoint next = first_code_point(text);
        append_code_point(part, is_control(next.value) ? U' ' : next.value);
        text.remove_prefix(next.bytes);
    }
    return part;
}

std::string choices(std::span<const std::string> items) {
    std::string text;
    for (std::size_t i = 0; i < items.size(); ++i)
        text += (i == 0 ? "" : i + 1 == items.size() ? " or " : ", ") + items[i];
    return text;
}

}  // namespace attn
