#pragma once

#include <array>
#include <string>

#include "app/view/document/document.h"
#include "app/view/large/look.h"

namespace attn::view {

// Words and lists of the Large workspace that several of its parts use.

/// What the generator offers.
inline constexpr std::array<Index, 6> kPlantedSizes{4096, 16384, 65536, 131072, 262144, 1048576};

/// "the mean weight", "the largest weight", "the geometric mean of the weights".
std::string pooling_words(large::Pooling pooling);
/// "largest weight of 64 × 64 cells"; "weight" of single cells, which no pooling changes.
std::string texel_words(large::Pooling pooling, Index side);
/// "kelimo": a short word that stands for a token id, different for different ids.
std::string token_word(std::uint32_t id);
/// The token of a query or a key as it reads, bounded; "" where it is unknown.
std::string token_text(const LargeLook& look, bool key, Index token);
/// "12" for the document that holds a token, counted from 0; "" where documents are unknown.
std::string document_of(const large::MapInput& input, Index token);
/// A weight in few characters: "0.123", "0.0012", "1·10⁻⁵", "0".
std::string short_weight(double weight);

/// Why there is no needle to jump to; "" where there is one.
std::string no_needle_words(const Document& document);

/// FLOPs of the exact pass over one head: 2 · pairs · d_k, pairs of the whole matrix, half of them under a
/// causal mask.
double pass_flops(const large::WeightSource& source);
/// The exact pass: as the person said, else only where it takes a minute or so.
bool wants_full_pass(const LargeLook& look);

}  // namespace attn::view
