#pragma once

#include <array>
#include <string>

#include "app/view/large_look.h"

namespace attn::view {

// Words and lists of the Large workspace that several of its parts use.

/// What the generator offers.
inline constexpr std::array<Index, 6> kPlantedSizes{4096, 16384, 65536, 131072, 262144, 1048576};

/// "131,072".
std::string grouped(Index number);
/// "the mean weight", "the largest weight", "the geometric mean of the weights".
std::string pooling_words(large::Pooling pooling);
/// Why there is no needle to jump to; "" where there is one.
std::string no_needle_words(const LargeLook& look);

/// FLOPs of the exact pass over one head: 2 · pairs · d_k, pairs of the whole matrix, half of them under a
/// causal mask.
double pass_flops(const large::WeightSource& source);
/// The exact pass: as the person said, else only where it takes a minute or so.
bool wants_full_pass(const LargeLook& look);

}  // namespace attn::view
