#include "app/common/typed.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/common/logits.h"
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

// ---- logits

constexpr std::size_t kMostListed = 8;

std::string joined(const std::vector<double>& logits, std::size_t most) {
    const auto end = logits.begin() + static_cast<std::ptrdiff_t>(std::min(most, logits.size()));
    return fmt::format("{}", fmt::join(logits.begin(), end, ", "));
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

std::string listed(const std::vector<double>& logits) {
    const std::string some = joined(logits, kMostListed);
    if (logits.size() <= kMostListed) return some;
    return fmt::format("{}, and {} more", some, logits.size() - kMostListed);
}

std::string written_logits(const std::vector<double>& logits) {
    return joined(logits, logits.size());
}

Result<std::vector<double>> typed_logits(std::string_view text, Logits kind) {
    std::vector<double> logits;
    constexpr std::string_view kBetween = ",; \t";
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find_first_of(kBetween, at), text.size());
        const std::string_view word = text.substr(at, end - at);
        at = end + 1;
        if (word.empty()) continue;
        const auto value = typed_number(word);
        if (!value || (kind == Logits::finite && !std::isfinite(*value)))
            return bad_input(fmt::format("'{}' is no {}number: the logit of key {}",
                                         shortened(word), kind == Logits::finite ? "finite " : "",
                                         logits.size()));
        logits.push_back(*value);
    }
    if (logits.empty()) return bad_input("there is no logit; expected numbers such as 0.5, 0.9, 0");
    return logits;
}

}  // namespace attn::view
