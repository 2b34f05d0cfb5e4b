#include "core/corpus/exact_sum.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include "core/check.h"

namespace attn {
namespace {

constexpr int kBits = 32;
constexpr std::uint64_t kDigit = 0xFFFFFFFFU;
constexpr int kMantissa = 53;
// A product of two doubles, and a sum of 2^64 of those, lies between these places.
constexpr int kLeast = -70;
constexpr int kMost = 70;
constexpr std::size_t kHexDigits = 8;  // of one digit

}  // namespace

ExactSum::ExactSum(double number) {
    ATTN_CHECK(std::isfinite(number) && number >= 0.0, "a sum is of finite numbers from 0 on");
    if (number == 0.0) return;
    int exponent = 0;
    const auto mantissa =
        static_cast<std::uint64_t>(std::ldexp(std::frexp(number, &exponent), kMantissa));
    exponent -= kMantissa;
    low_ = exponent >= 0 ? exponent / kBits : -((kBits - 1 - exponent) / kBits);
    const int shift = exponent - kBits * low_;
    const std::uint64_t low = (mantissa & kDigit) << shift;
    const std::uint64_t high = ((mantissa >> kBits) << shift) + (low >> kBits);
    digits_ = {static_cast<std::uint32_t>(low & kDigit), static_cast<std::uint32_t>(high & kDigit),
               static_cast<std::uint32_t>(high >> kBits)};
    trim();
}

std::uint64_t ExactSum::digit(int at) const {
    const int n = at - low_;
    return n >= 0 && n < static_cast<int>(digits_.size()) ? digits_[n] : 0;
}

void ExactSum::trim() {
    while (!digits_.empty() && digits_.back() == 0) digits_.pop_back();
    const auto first = std::ranges::find_if(digits_, [](std::uint32_t each) { return each != 0; });
    low_ = digits_.empty() ? 0 : low_ + static_cast<int>(first - digits_.begin());
    digits_.erase(digits_.begin(), first);
}

void ExactSum::add(const ExactSum& other) {
    if (other.digits_.empty()) return;
    if (digits_.empty()) low_ = other.low_;
    if (other.low_ < low_) {
        digits_.insert(digits_.begin(), static_cast<std::size_t>(low_ - other.low_), 0);
        low_ = other.low_;
    }
    const auto shift = static_cast<std::size_t>(other.low_ - low_);
    digits_.resize(std::max(digits_.size(), shift + other.digits_.size()));
    std::uint64_t carry = 0;
    for (std::size_t n = shift; n < shift + other.digits_.size() || carry != 0; ++n) {
        if (n == digits_.size()) digits_.push_back(0);
        const std::size_t from = n - shift;
        carry += digits_[n];
        if (from < other.digits_.size()) carry += other.digits_[from];
        digits_[n] = static_cast<std::uint32_t>(carry & kDigit);
        carry >>= kBits;
    }
    trim();
}

ExactSum operator*(const ExactSum& a, const ExactSum& b) {
    ExactSum product;
    product.low_ = a.low_ + b.low_;
    product.digits_.assign(a.digits_.size() + b.digits_.size(), 0);
    for (std::size_t i = 0; i < a.digits_.size(); ++i) {
        std::uint64_t carry = 0;
        for (std::size_t j = 0; j < b.digits_.size(); ++j) {
            carry += std::uint64_t{a.digits_[i]} * b.digits_[j] + product.digits_[i + j];
            product.digits_[i + j] = static_cast<std::uint32_t>(carry & kDigit);
            carry >>= kBits;
        }
        product.digits_[i + b.digits_.size()] = static_cast<std::uint32_t>(carry);
    }
    product.trim();
    return product;
}

bool operator<=(const ExactSum& a, const ExactSum& b) {
    const auto end_of = [](const ExactSum& sum) {
        return sum.low_ + static_cast<int>(sum.digits_.size());
    };
    const int least = std::min(a.low_, b.low_);
    for (int at = std::max(end_of(a), end_of(b)); at-- > least;)
        if (a.digit(at) != b.digit(at)) return a.digit(at) < b.digit(at);
    return true;
}

ExactSum operator-(const ExactSum& a, const ExactSum& b) {
    ExactSum rest;
    rest.low_ = std::min(a.low_, b.low_);
    const int end = a.low_ + static_cast<int>(a.digits_.size());
    std::uint64_t borrow = 0;
    for (int at = rest.low_; at < end; ++at) {
        const std::uint64_t from = a.digit(at);
        const std::uint64_t less = b.digit(at) + borrow;
        borrow = less > from ? 1 : 0;
        rest.digits_.push_back(
            static_cast<std::uint32_t>((from + (borrow << kBits) - less) & kDigit));
    }
    ATTN_CHECK(borrow == 0 && b.low_ + static_cast<int>(b.digits_.size()) <= std::max(end, b.low_),
               "what is taken away is no more than there is");
    rest.trim();
    return rest;
}

double ExactSum::value() const {
    if (digits_.empty()) return 0.0;
    const int top = low_ + static_cast<int>(digits_.size()) - 1;
    const int shift = std::countl_zero(digits_.back());
    std::uint64_t bits = (digit(top) << kBits | digit(top - 1)) << shift;
    const std::uint64_t next = digit(top - 2) << shift;
    bits |= next >> kBits;
    const bool more = (next & kDigit) != 0 || top - 2 > low_;  // the first digit is not 0
    if (more) bits |= 1;  // far below what is rounded away: it decides between two that are as near
    return std::ldexp(static_cast<double>(bits), kBits * (top - 1) - shift);
}

std::string ExactSum::text() const {
    if (digits_.empty()) return "0";
    std::string text;
    for (auto digit = digits_.rbegin(); digit != digits_.rend(); ++digit)
        text += fmt::format("{:08x}", *digit);
    return text + fmt::format("p{}", low_);
}

std::optional<ExactSum> ExactSum::parse(std::string_view text) {
    ExactSum sum;
    if (text == "0") return sum;
    const std::size_t end = text.find('p');
    if (end == text.npos || end == 0 || end % kHexDigits != 0) return std::nullopt;
    const std::string_view exponent = text.substr(end + 1);
    const auto read = std::from_chars(exponent.data(), exponent.data() + exponent.size(), sum.low_);
    if (read.ec != std::errc() || read.ptr != exponent.data() + exponent.size())
        return std::nullopt;
    const std::size_t count = end / kHexDigits;
    if (sum.low_ > kMost) return std::nullopt;
    if (sum.low_ < kLeast || count > static_cast<std::size_t>(kMost - sum.low_))
        return std::nullopt;
    for (std::size_t n = count; n-- > 0;) {
        const char* const from = text.data() + n * kHexDigits;
        std::uint32_t digit = 0;
        const auto hex = std::from_chars(from, from + kHexDigits, digit, 16);
        if (hex.ec != std::errc() || hex.ptr != from + kHexDigits) return std::nullopt;
        sum.digits_.push_back(digit);
    }
    const ExactSum as_read = sum;
    sum.trim();
    if (!(sum == as_read)) return std::nullopt;
    return sum;
}

}  // namespace attn
