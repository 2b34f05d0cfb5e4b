#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "app/view/document/document.h"

namespace attn::view {

// The numbers of a sentence that nobody set by hand. Rounded to two decimals where a person reads
// them; the same on every machine.

/// Entry `column` of a word's vector: N(0, 1) seeded by hash_text(word) alone, two decimals.
double word_value(std::uint64_t word_hash, Index column);
/// sin(p / 10000^(c/d)) for even c, cos of the same angle for odd c. Source: Vaswani et al. 2017, §3.5.
double position_value(Index position, Index column, Index d_model);
/// X = word + position, [1,1,T,d_model].
Tensor toy_vectors(const std::vector<std::string>& tokens, Index d_model);
/// W_Q, W_K, W_V [d_model, heads·d_k] and W_O [heads·d_k, d_model], N(0, 1/d_in), two decimals.
Params toy_weights(std::uint64_t seed, Index d_model, Index d_k, Index heads);

/// What is wrong, or "".
std::string check_tokens(std::string_view name, const std::vector<std::string>& tokens);
std::string check_sizes(Index d_model, Index d_k, Index heads);

}  // namespace attn::view
