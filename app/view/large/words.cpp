#include "app/view/large/words.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "app/view/common/format.h"
#include "app/view/common/words.h"

namespace attn::view {
namespace {

constexpr double kQuickFlops = 1e13;  // a minute of a small laptop

double pairs_of(const large::WeightSource& source) {
    const double all = static_cast<double>(source.size.tq) * static_cast<double>(source.size.tk);
    const bool square = source.size.tq == source.size.tk;
    if (!source.spec.mask.causal || !square) return all;
    return (all + static_cast<double>(source.size.tq)) / 2.0;
}

}  // namespace

std::string pooling_words(large::Pooling pooling) {
    switch (pooling) {
        case large::Pooling::mean:
            return "the mean weight";
        case large::Pooling::max:
            return "the largest weight";
        case large::Pooling::log_mean:
            break;
    }
    return "the geometric mean of the weights";
}

std::string texel_words(large::Pooling pooling, Index side) {
    if (side == 1) return "weight";
    constexpr std::string_view kNames[] = {"mean weight", "largest weight",
                                           "geometric mean of the weights"};
    return fmt::format("{} of {} × {} cells", kNames[static_cast<std::size_t>(pooling)],
                       grouped(side), grouped(side));
}

std::string token_word(std::uint32_t id) {
    constexpr std::string_view kConsonants = "bdfghjklmnprstvz";
    constexpr std::string_view kVowels = "aeiou";
    constexpr std::uint32_t kSyllables = 80;
    std::string word;
    for (int syllable = 0; syllable == 0 || id > 0; ++syllable, id /= kSyllables) {
        const std::uint32_t n = id % kSyllables;
        word = kVowels[n % kVowels.size()] + word;
        word = kConsonants[n / kVowels.size()] + word;
    }
    return word;
}

std::string token_text(const LargeLook& look, bool key, Index token) {
    const auto n = static_cast<std::size_t>(token);
    if (look.mapped && token >= 0) {
        const Document& document = *look.mapped;
        const bool others = key && !document.tokens_kv.empty();
        const auto& tokens = others ? document.tokens_kv : document.tokens;
        if (n < tokens.size()) return shown_token(tokens[n]);
    }
    if (!look.input || token < 0 || n >= look.input->token_ids.size()) return {};
    return token_word(look.input->token_ids[n]);
}

std::string document_of(const large::MapInput& input, Index token) {
    const auto& starts = input.document_starts;
    if (starts.empty()) return {};
    const auto next = std::upper_bound(starts.begin(), starts.end(), token);
    return grouped(next - starts.begin() - 1);
}

std::string short_weight(double weight) {
    if (weight == 0.0) return "0";
    if (!(std::abs(weight) < 0.01)) return cell_number(weight, weight < 1.0 ? 3 : 2);
    if (std::abs(weight) >= 0.00095) return cell_number(weight, 4);
    return significant(weight, 1);
}

std::string no_needle_words(const Document& document) {
    if (document.landmarks && document.landmarks->needle) return {};
    if (!std::holds_alternative<large::PlantedSpec>(document.origin))
        return "Only generated matrices have a needle.";
    return "This matrix was generated without a needle.";
}

double pass_flops(const large::WeightSource& source) {
    return 2.0 * pairs_of(source) * static_cast<double>(source.size.d_k);
}

bool wants_full_pass(const LargeLook& look) {
    const bool quick = look.input && pass_flops(look.input->source) <= kQuickFlops;
    return look.full_pass.value_or(quick);
}

}  // namespace attn::view
