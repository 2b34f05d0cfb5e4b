#include "app/common/number_style.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <optional>
#include <utility>

#include "app/common/format.h"

namespace attn::view {
namespace {

constexpr std::size_t kDecimals = 4;  // of number()

constexpr auto kIsDigit = [](char c) { return c >= '0' && c <= '9'; };

/// Where the decimals of "−0.14" or "1.1882 nats" end, and how many there are; nullopt of another text and of a number
/// that is written with fewer than four because it is large.
std::optional<std::pair<std::size_t, std::size_t>> decimals_of(std::string_view text) {
    constexpr std::size_t kMostWhole = 3;
    const auto first = std::ranges::find_if(text, kIsDigit);
    const auto point = std::find_if_not(first, text.end(), kIsDigit);
    if (point == text.end() || *point != '.' || point - first > std::ptrdiff_t{kMostWhole})
        return std::nullopt;
    const auto end = std::find_if_not(point + 1, text.end(), kIsDigit);
    const std::string_view sign(text.begin(), first), rest(end, text.end());
    const bool plain = std::ranges::none_of(
        sign, [](char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '('; });
    if (!plain || end == point + 1 || (!rest.empty() && rest.front() != ' ') ||
        rest.find_first_of("%·=0123456789") != rest.npos)
        return std::nullopt;
    return std::pair(static_cast<std::size_t>(end - text.begin()),
                     static_cast<std::size_t>(end - point - 1));
}

}  // namespace

std::string full_significant(double value, int digits) {
    std::string text = significant(value, digits);
    if (!std::isfinite(value) || text.find("·") != text.npos) return text;
    const auto shown = std::ranges::count_if(text, kIsDigit);
    const std::size_t first = text.find_first_of("123456789");
    const auto leading =
        first == text.npos ? 0 : std::count(text.begin(), text.begin() + first, '0');
    const auto missing = digits - (shown - leading);
    if (first == text.npos || missing <= 0) return text;
    if (text.find('.') == text.npos) text += '.';
    return text + std::string(static_cast<std::size_t>(missing), '0');
}

std::string without_leading_zero(std::string text) {
    const std::size_t zero = text.find("0.");
    const bool leads =
        zero == 0 || (zero != text.npos && (text[zero - 1] < '0' || text[zero - 1] > '9') &&
                      text[zero - 1] != '.');
    if (leads && text.size() > zero + 2) text.erase(zero, 1);
    return text;
}

std::string with_minus_signs(std::string_view text) {
    std::string typeset;
    for (std::size_t n = 0; n < text.size(); ++n) {
        const bool begins = n == 0 || text[n - 1] == ' ' || text[n - 1] == '(' ||
                            text[n - 1] == '^' || text[n - 1] == '[';
        if (text[n] == '-' && begins && (n + 1 >= text.size() || text[n + 1] != '-'))
            typeset += "−";
        else
            typeset += text[n];
    }
    return typeset;
}

std::string legend_tick(double value) { return without_leading_zero(tick(value)); }

void align_decimals(std::span<std::string* const> column) {
    std::size_t most = 0;
    for (const std::string* const text : column)
        if (const auto number = decimals_of(*text)) most = std::max(most, number->second);
    if (most != kDecimals) return;
    for (std::string* const text : column)
        if (const auto number = decimals_of(*text))
            text->insert(number->first, std::string(most - number->second, '0'));
}

}  // namespace attn::view
