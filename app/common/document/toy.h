#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "app/common/document/document.h"

namespace attn::view {

// The numbers of a sentence that nobody set by hand. Rounded to two decimals where a person reads
// them; the same on every machine. No entry depends on how many there are: whoever makes a sentence
// longer or a matrix wider keeps every number that was there.

/// Entry `column` of a word's vector: N(0, 1) seeded by hash_text(word) alone, two decimals.
double word_value(std::uint64_t word_hash, Index column);
/// The waves of Vaswani et al. 2017, §3.5, as for a model of this width, whatever d_model is.
inline constexpr Index kWaveWidth = 32;
/// sin(p / 10000^(c/32)) for even c, cos of the same angle as column c − 1 for odd c.
double position_value(Index position, Index column);
/// X = word + position, [1,1,T,d_model].
Tensor toy_vectors(const std::vector<std::string>& tokens, Index d_model);

/// One entry of a parameter matrix by its head, its row and its column, each of W_Q, W_K, W_V's columns and of
/// W_O's rows counted within the head: N(0, 1/(2·row + 4)), two decimals. The variance falls with the row in place of
/// the usual 1/d_in, which would change every entry with the width. So a sum over d_in rows has the variance
/// Σ 1/(2r + 4) = 0.6 at 4 rows, 0.9 at 8, 1.2 at 16, 2.2 at 128: scores grow slowly with d_model, by its logarithm.
double weight_value(std::uint64_t seed, Param param, Index head, Index row, Index column);
/// W_Q, W_K, W_V [d_model, heads·d_k] and W_O [heads·d_k, d_model].
Params toy_weights(std::uint64_t seed, Index d_model, Index d_k, Index heads);

/// The inputs of a toy in other sizes: every number that was there stays where it was (in its head, row and column);
/// new columns of X come from the words, new entries of W from the seed. No W_O stays none.
Inputs resized(const Document& document, Index d_model, Index d_k, Index heads);
/// The same toy with another sentence. A word that stays in its place keeps its row of X; one that moved keeps a row
/// that was given, and a computed one is computed for its new place. W stays, but hand-set ones only where the old
/// sentence begins the new one: they were made for it.
Result<Document> retyped(const Document& document, std::string_view sentence);
/// Whether x(row, ·) is exactly word vector + position.
bool is_computed(const Tensor& x, const std::vector<std::string>& tokens, Index row);
/// Where the numbers of a toy come from: "toy weights, not trained: …".
std::string toy_note(const Document& document);

/// What is wrong, or "".
std::string check_tokens(std::string_view name, const std::vector<std::string>& tokens);
std::string check_sizes(Index d_model, Index d_k, Index heads);

}  // namespace attn::view
