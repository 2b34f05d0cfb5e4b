#include "app/common/map/text.h"

#include <cmath>

#include <fmt/format.h>

#include "app/common/document/chain_rule.h"
#include "app/common/document/key_tokens.h"
#include "app/common/format.h"
#include "app/common/map/state.h"
#include "app/common/text.h"
#include "core/large/map_input.h"
#include "core/large/not_finite.h"
#include "core/scores/score.h"

namespace attn::view {
namespace {

constexpr double kQuickFlops = 1e13;  // a minute of a small laptop

double pairs_of(const large::WeightSource& source) {
    const double all = static_cast<double>(source.size.tq) * static_cast<double>(source.size.tk);
    const bool square = source.size.tq == source.size.tk;
    if (!source.spec.mask.causal || !square) return all;
    return (all + static_cast<double>(source.size.tq)) / 2.0;
}

/// "Q holds 1 NaN and 2 ±∞: the first is Q[12, 3] = NaN."
void add_operand(const char* name, const large::OperandFaults& faults,
                 std::vector<std::string>& lines) {
    if (!faults.first) return;
    const std::string nans = faults.nans > 0 ? fmt::format("{} NaN", grouped(faults.nans)) : "";
    const std::string infinities =
        faults.infinities > 0 ? fmt::format("{} ±∞", grouped(faults.infinities)) : "";
    const char* both = nans.empty() || infinities.empty() ? "" : " and ";
    lines.push_back(fmt::format("{0} holds {1}{2}{3}: the first is {0}[{4}, {5}] = {6}.", name,
                                nans, both, infinities, grouped(faults.first->row),
                                faults.first->column,
                                number(static_cast<double>(faults.first_value))));
}

/// Empty where they are unknown.
std::span<const std::string> tokens_of(const MapLook& look, bool key) {
    if (!look.mapped) return {};
    const Document& document = *look.mapped;
    return key ? key_tokens(document, 0) : std::span<const std::string>(document.tokens);
}

}  // namespace

std::string pooling_text(large::Pooling pooling) {
    constexpr std::string_view kDescriptions[] = {"the mean weight", "the largest weight",
                                                  "the geometric mean of the weights"};
    return std::string(kDescriptions[static_cast<std::size_t>(pooling)]);
}

std::string texel_text(large::Pooling pooling, Index side) {
    if (side == 1) return "weight";
    constexpr std::string_view kNames[] = {"mean weight", "largest weight",
                                           "geometric mean of the weights"};
    return fmt::format("{} of {} × {} cells", kNames[static_cast<std::size_t>(pooling)],
                       grouped(side), grouped(side));
}

bool shows_scores(const MapLook& look) {
    if (look.form == MapForm::own) return look.picture == MapPictureOf::scores;
    return look.form != MapForm::weights;
}

OperandNames operand_names(const AttentionSpec& spec) {
    const bool normed = spec.qk_norm.has_value();
    const bool turned = spec.rope.has_value() || normed;  // they are not q and k as given
    const ScoreInfo& score = info(spec.score);
    const bool scaled = spec.scale == ScaleKind::q_and_k;
    const auto changes = [&](std::string_view name) {
        return turned || scaled || score.operands.find(name) != score.operands.npos;
    };
    OperandNames names{changes("q′") ? "q′" : "q", changes("k′") ? "k′" : "k", ""};
    if (normed)
        names.how = spec.rope ? "q′ and k′ are q and k after QK-norm, rotated by their positions"
                              : "q′ and k′ are q and k after QK-norm";
    else if (turned)
        names.how = "q′ and k′ are q and k rotated by their positions";
    if (scaled)
        names.how += turned ? ", then times d_k^(−¼)" : "q′ and k′ are q and k times d_k^(−¼)";
    names.how += turned ? score.more_operands : score.operands;
    if (!names.how.empty()) names.how += ".";
    return names;
}

std::string_view logit_letter(const AttentionSpec& spec) { return spec.biases() ? "B" : "S"; }

std::string bias_text(const AttentionSpec& spec) {
    if (!spec.biases()) return {};
    const std::string cap = spec.softcap ? number(*spec.softcap) : "";
    const bool bias = spec.mask.bias != nullptr, first = bias && spec.bias_before_softcap;
    const std::string_view inside = first ? "(S + bias[i, j])" : "S";
    const std::string capped = spec.softcap ? fmt::format("{0}·tanh({1} ÷ {0})", cap, inside)
                               : first      ? "S + bias[i, j]"
                                            : "S";
    return fmt::format("B = {}{}{}", capped, bias && !first ? " + bias[i, j]" : "",
                       spec.alibi ? " − slope·|p − j|" : "");
}

std::string_view score_name(const AttentionSpec& spec) {
    if (spec.biases()) return "biased score";
    const bool as_is = spec.scale == ScaleKind::none || spec.scale == ScaleKind::q_and_k;
    return as_is && spec.temperature == 1.0 ? "score" : "scaled score";
}

std::string factor_text(const AttentionSpec& spec) {
    const std::string temperature =
        spec.temperature == 1.0 ? "" : fmt::format(" ÷ {}", number(spec.temperature));
    if (spec.scale == ScaleKind::sqrt_dk) return "÷ √d_k" + temperature;
    if (spec.scale != ScaleKind::value) return temperature.empty() ? "× 1" : temperature.substr(1);
    return fmt::format("× {}", number(spec.scale_value)) + temperature;
}

std::string scaled_text(const AttentionSpec& spec) {
    return fmt::format("S = {} {}", operand_names(spec).product(), factor_text(spec));
}

std::string score_description(const AttentionSpec& spec, Index side) {
    const std::string_view name = score_name(spec);
    const std::string formula = spec.biases()     ? bias_text(spec)
                                : name == "score" ? operand_names(spec).product()
                                                  : scaled_text(spec);
    if (side == 1) return fmt::format("{} {}", name, formula);
    return fmt::format("mean {1} of {0} × {0} cells, {2}", grouped(side), name, formula);
}

std::string cell_description(large::Cell cell) {
    return fmt::format("{} → {}", grouped(cell.row), grouped(cell.column));
}

std::string top_text(const large::TopChoice& top) {
    return fmt::format("Strongest cells in view{}{}", top.skip_first_key ? " without key 0" : "",
                       top.one_per_query ? ", one per query" : "");
}

std::string nan_text(const large::NanWeights& nan) {
    if (!nan.first) return "no NaN";
    return fmt::format("{} NaN, first {}", grouped(nan.cells), cell_description(*nan.first));
}

std::vector<std::string> not_finite_text(const large::NotFinite& found, const AttentionSpec& spec) {
    std::vector<std::string> lines;
    if (!found.known) return lines;
    const OperandNames names = operand_names(spec);
    add_operand(names.q == "q" ? "Q" : "Q′", found.q, lines);
    add_operand(names.k == "k" ? "K" : "K′", found.k, lines);
    const auto queries = [](Index count) {
        return count == 1 ? "1 query" : grouped(count) + " queries";
    };
    if (found.all.first)
        lines.push_back(fmt::format("{} weight{} of {} {} NaN, the first {}.",
                                    grouped(found.all.cells), found.all.cells == 1 ? "" : "s",
                                    queries(found.all.rows), found.all.cells == 1 ? "is" : "are",
                                    cell_description(*found.all.first)));
    else if (!lines.empty())
        lines.emplace_back("No weight is NaN for it.");
    if (found.rows_unknown > 0)
        lines.push_back(
            fmt::format("{} may have scores beyond the range of a float: the exact pass shows it.",
                        queries(found.rows_unknown)));
    return lines;
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

bool has_own_tokens(const MapLook& look, bool key) { return !tokens_of(look, key).empty(); }

bool is_sentence(const MapLook& look) {
    constexpr Index kMostTokens = 256;
    return std::max(look.size.rows, look.size.columns) <= kMostTokens &&
           has_own_tokens(look, false) && has_own_tokens(look, true);
}

std::string token_text(const MapLook& look, bool key, Index token) {
    const auto n = static_cast<std::size_t>(token);
    const auto tokens = tokens_of(look, key);
    if (token >= 0 && n < tokens.size()) return shown_token(tokens[n]);
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

std::string no_needle_text(const Document& document) {
    if (document.landmarks && document.landmarks->needle) return {};
    if (!std::holds_alternative<large::PlantedSpec>(document.origin))
        return "Only generated matrices have a needle.";
    return "This matrix was generated without a needle.";
}

double pass_flops(const large::WeightSource& source) {
    return 2.0 * pairs_of(source) * static_cast<double>(source.size.d_k);
}

bool wants_full_pass(const MapLook& look) {
    const bool quick = look.input && pass_flops(look.input->source) <= kQuickFlops;
    return look.full_pass.value_or(quick);
}

}  // namespace attn::view
