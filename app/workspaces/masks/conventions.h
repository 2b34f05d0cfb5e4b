#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/mask_conventions.h"

namespace attn::view {

struct AppState;

/// THE table of conventions: what other programs do with a mask.
struct ConventionInfo {
    std::string_view key;    // sessions, journals
    std::string_view group;  // heading of its list
    std::string_view name;   // in that list
    std::string_view full;   // in a sentence
    std::string_view text;   // its effect, and its users
    MaskConvention convention;
};
std::span<const ConventionInfo> convention_table();
/// nullptr if the key is unknown.
const ConventionInfo* find_convention(std::string_view key);
/// The row of one of the two that are compared.
const ConventionInfo& chosen_convention(const AppState& state, std::size_t side);

/// The scores before the mask, of the head shown, times a number; and the document's own mask.
struct ConventionScores {
    Tensor scores;  // [1,1,Tq,Tk]; empty: the backend does not keep them
    std::vector<std::uint8_t> mask;
    std::optional<float> sink;

    ConventionInput input() const { return {scores.matrix(0, 0), mask, sink}; }
};
ConventionScores convention_scores(const AppState& state, float gain);
/// Times the gain that is set.
ConventionScores convention_scores(const AppState& state);
/// What `convention` makes of them; they are there.
ConventionResult result_of(const ConventionScores& scores, const MaskConvention& convention);

/// Steps of SetConventionGain, in decades.
inline constexpr Index kConventionGains[] = {0, 2, 4, 6, 38};
inline constexpr Index kMostMaskDecades = 38;

/// The weights of one row that differs: "row 2 (sat), all masked: keys 0, 1 and 3 get 33.3 % each under …".
std::string row_note(const AppState& state, const ConventionScores& scores,
                     const RowComparison& row, const ConventionResult& first,
                     const ConventionResult& second);
/// "same", "1 row, ≤ 0.25", "2 rows, NaN".
std::string verdict_text(std::span<const RowComparison> rows);

}  // namespace attn::view
