#include "app/common/logits.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/common/typed.h"
#include "core/text.h"

namespace attn::view {
namespace {

constexpr std::size_t kMostListed = 8;

std::string joined(const std::vector<double>& logits, std::size_t most) {
    const auto end = logits.begin() + static_cast<std::ptrdiff_t>(std::min(most, logits.size()));
    return fmt::format("{}", fmt::join(logits.begin(), end, ", "));
}

}  // namespace

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
