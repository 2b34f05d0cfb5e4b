#include "app/common/format.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/common/logits.h"
#include "app/common/typed.h"
#include "core/shape.h"

namespace attn::view {
namespace {

constexpr double kWholeWithin = 1e-6;      // of 1: what float32 makes of a sum that is 1
constexpr double kFloatError = 1e-6;       // of a short decimal such as 0.71, kept as a float
constexpr double kScientificAbove = 1e5;   // wider than a cell
constexpr double kScientificBelow = 1e-3;  // four decimals would leave too few digits

/// NaN, ∞ and −∞ in words; "" for a finite value.
std::string not_finite(double value) {
    if (std::isnan(value)) return "NaN";
    if (std::isinf(value)) return value > 0 ? "∞" : "−∞";
    return {};
}

/// The minus sign as typeset, and none before a zero.
std::string typeset(std::string text) {
    if (text.empty() || text.front() != '-') return text;
    const bool zero = text.find_first_of("123456789") == text.npos;
    return (zero ? "" : "−") + text.substr(1);
}

/// "0.7100" -> "0.71", "1.0000" -> "1.00".
std::string trimmed(std::string text) {
    const std::size_t shortest = text.find('.') + 3;
    while (text.size() > shortest && text.back() == '0') text.pop_back();
    return text;
}

/// 1.23e-04 -> 1.23·10⁻⁴, 1.2e+05 -> 1.2·10⁵; without an exponent as it is.
std::string tidy_exponent(const std::string& text) {
    const std::size_t e = text.find('e');
    if (e == text.npos) return text;
    return text.substr(0, e) + "·" + power_of_ten(std::stoi(text.substr(e + 1)));
}

std::string scientific(double value, int decimals) {
    return tidy_exponent(typeset(fmt::format("{:.{}e}", value, decimals)));
}

// ---- as a person types them

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

std::string cell_number(double value, int decimals) {
    if (std::string text = not_finite(value); !text.empty()) return text;
    if (std::abs(value) >= kScientificAbove) return scientific(value, 1);
    return typeset(fmt::format("{:.{}f}", value, decimals));
}

std::string number(double value) {
    if (std::string text = not_finite(value); !text.empty()) return text;
    const double size = std::abs(value);
    if (size != 0.0 && (size >= kScientificAbove || size < kScientificBelow))
        return scientific(value, 2);
    const int decimals = size < 1e3 ? 4 : size < 1e4 ? 3 : 2;  // a float has seven digits
    std::string text = fmt::format("{:.{}f}", value, decimals);
    const bool exact = std::abs(std::stod(text) - value) <= kFloatError * std::max(size, 1.0);
    return typeset(exact ? trimmed(std::move(text)) : std::move(text));
}

std::string tick(double value) {
    if (std::string text = not_finite(value); !text.empty()) return text;
    if (std::abs(value) >= 1e3 && std::abs(value) < kScientificAbove)
        return typeset(fmt::format("{:.0f}", value));
    return significant(value, 3);
}

std::string significant(double value, int digits) {
    if (std::string text = not_finite(value); !text.empty()) return text;
    return tidy_exponent(typeset(fmt::format("{:.{}g}", value, digits)));
}

std::string factor(const std::string& number) {
    const bool guarded = number.starts_with("−") || number.find("·10") != number.npos;
    return guarded ? fmt::format("({})", number) : number;
}

std::string power_of_ten(int exponent) {
    constexpr std::string_view kDigits[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
    if (exponent == 0) return "1";
    std::string text = exponent < 0 ? "10⁻" : "10";
    for (const char digit : std::to_string(std::abs(exponent))) text += kDigits[digit - '0'];
    return text;
}

std::string percent(double fraction) {
    if (std::string description = not_finite(fraction); !description.empty()) return description;
    const std::string text = typeset(fmt::format("{:.1f}", 100.0 * fraction));
    if (text == "0.0" && fraction != 0.0) return fraction > 0.0 ? "< 0.1 %" : "> −0.1 %";
    if (text == "100.0" && 1.0 - fraction > kWholeWithin) return "> 99.9 %";
    return text + " %";
}

std::string percent_text(double fraction) {
    const std::string text = percent(fraction);
    if (text.starts_with("< ")) return "less than " + text.substr(2);
    return text.starts_with("> ") ? "more than " + text.substr(2) : text;
}

std::string exact(float value) { return fmt::format("{}", value); }
std::string exact(double value) { return fmt::format("{}", value); }

std::string size(Index rows, Index columns) { return fmt::format("{} × {}", rows, columns); }

std::string grouped(Index number) {
    const std::string text = fmt::format("{}", number);
    std::string description = number < 0 ? "−" : "";
    for (std::size_t n = number < 0 ? 1 : 0; n < text.size(); ++n) {
        description += text[n];
        const std::size_t left = text.size() - n - 1;
        if (left > 0 && left % 3 == 0) description += ',';
    }
    return description;
}

std::string as_much_text(Index others) {
    return others == 0 ? "" : fmt::format(", tied with {}", counted(others, "other"));
}

std::string duration(double seconds) {
    const auto whole = static_cast<Index>(std::lround(std::max(seconds, 0.0)));
    if (whole < 60) return fmt::format("{} s", whole);
    if (whole < 600 && whole % 60 != 0) return fmt::format("{} min {} s", whole / 60, whole % 60);
    if (whole < 3600) return fmt::format("{} min", (whole + 30) / 60);
    return fmt::format("{} h {} min", whole / 3600, whole % 3600 / 60);
}

std::string bytes_text(double bytes) {
    constexpr std::string_view kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    std::size_t unit = 0;
    for (; bytes >= 1024.0 && unit + 1 < std::size(kUnits); ++unit) bytes /= 1024.0;
    return fmt::format("{:.3g} {}", bytes, kUnits[unit]);
}

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
            return bad_input(fmt::format("'{}' is not a {}number: the logit of key {}",
                                         shortened(word), kind == Logits::finite ? "finite " : "",
                                         logits.size()));
        logits.push_back(*value);
    }
    if (logits.empty()) return bad_input("there is no logit; expected numbers such as 0.5, 0.9, 0");
    return logits;
}

}  // namespace attn::view
