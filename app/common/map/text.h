#pragma once

#include <array>
#include <string>
#include <vector>

#include "core/large/cell.h"
#include "core/large/map_choices.h"

namespace attn::large {
struct MapInput;
struct NanWeights;
struct NotFinite;
struct TopChoice;
struct WeightSource;
}  // namespace attn::large

namespace attn {
struct AttentionSpec;
}  // namespace attn

namespace attn::view {

struct Document;
struct MapLook;

// Words and lists of Long context that several of its parts use.

/// What the generator offers.
inline constexpr std::array<Index, 6> kPlantedSizes{4096, 16384, 65536, 131072, 262144, 1048576};

/// "the mean weight", "the largest weight", "the geometric mean of the weights".
std::string pooling_text(large::Pooling pooling);
/// "largest weight of 64 × 64 cells"; "weight" of single cells, which no pooling changes.
std::string texel_text(large::Pooling pooling, Index side);
/// Whether the map draws scores.
bool shows_scores(const MapLook& look);
/// What the dot product of a score is taken of: "q" and "k" as they are, "q′", "k′" where RoPE or the score makes
/// something of them; and how, in one sentence: "q′ and k′ are q and k rotated by their positions.", "".
struct OperandNames {
    std::string q, k;
    std::string how;
    std::string product() const { return q + "·" + k; }
};
OperandNames operand_names(const AttentionSpec& spec);
/// The letter of what softmax takes: "B" with a soft cap or ALiBi, else "S".
std::string_view logit_letter(const AttentionSpec& spec);
/// "B = 30·tanh(S ÷ 30) − slope·|p − j|"; "" without a bias.
std::string bias_text(const AttentionSpec& spec);
/// "score", "scaled score", "biased score": what a picture of scores draws.
std::string_view score_name(const AttentionSpec& spec);
/// What makes scaled scores of products, exactly: "÷ √d_k", "÷ √d_k ÷ 2", "× 0.5".
std::string factor_text(const AttentionSpec& spec);
/// "S = q·k ÷ √d_k".
std::string scaled_text(const AttentionSpec& spec);
/// "scaled score S = q·k ÷ √d_k", "mean scaled score of 4 × 4 cells, S = q·k ÷ √d_k",
/// "biased score B = S − slope·|p − j|".
std::string score_description(const AttentionSpec& spec, Index side);
/// "Strongest cells in view without key 0, one per query".
std::string top_text(const large::TopChoice& top);
/// "3,072 NaN, first 12 → 0".
std::string nan_text(const large::NanWeights& nan);
/// What is not finite in operands and weights, a sentence each; empty where all is finite.
std::vector<std::string> not_finite_text(const large::NotFinite& found, const AttentionSpec& spec);
/// "70,001 → 5".
std::string cell_description(large::Cell cell);
/// "kelimo": a short word that stands for a token id, different for different ids.
std::string token_word(std::uint32_t id);
/// The token of a query or a key as it reads, bounded; "" where it is unknown.
std::string token_text(const MapLook& look, bool key, Index token);
/// Whether the document brings the words of its queries or keys; else they are made up.
bool has_own_tokens(const MapLook& look, bool key);
/// A matrix over at most 256 tokens with words of their own: each cell is seen, and coloured as in other workspaces.
bool is_sentence(const MapLook& look);
/// "12" for the document that holds a token, counted from 0; "" where documents are unknown.
std::string document_of(const large::MapInput& input, Index token);
/// A weight in few characters: "0.123", "0.0012", "1·10⁻⁵", "0".
std::string short_weight(double weight);

/// Why there is no needle to jump to; "" where there is one.
std::string no_needle_text(const Document& document);

/// FLOPs of the exact pass over one head: 2 · pairs · d_k, pairs of the whole matrix, half of them under a
/// causal mask.
double pass_flops(const large::WeightSource& source);
/// The exact pass: as the person said, else only where it takes a minute or so.
bool wants_full_pass(const MapLook& look);

}  // namespace attn::view
