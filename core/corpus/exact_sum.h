#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace attn {

/// A sum of numbers ≥ 0 without rounding, so that whatever the order and the grouping, equal sums are equal bits.
class ExactSum {
  public:
    ExactSum() = default;
    /// Of one number, finite and ≥ 0.
    explicit ExactSum(double number);

    void add(const ExactSum& other);
    bool operator==(const ExactSum&) const = default;
    friend ExactSum operator*(const ExactSum& a, const ExactSum& b);
    friend bool operator<=(const ExactSum& a, const ExactSum& b);
    /// b <= a.
    friend ExactSum operator-(const ExactSum& a, const ExactSum& b);

    /// The nearest double.
    double value() const;
    /// "1f40000000p-1": hexadecimal digits, times 2 to the power of 32 times that number. "0" of none.
    std::string text() const;
    /// nullopt: it is no text() of a sum.
    static std::optional<ExactSum> parse(std::string_view text);

  private:
    std::uint64_t digit(int at) const;
    void trim();

    int low_ = 0;
    std::vector<std::uint32_t>
        digits_;  // Σ digits_[n] 2^(32 (low_ + n)); the first and the last are not 0
};

}  // namespace attn
