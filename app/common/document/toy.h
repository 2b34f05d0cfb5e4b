#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/forward.h"
#include "core/result.h"
#include "core/spec.h"
#include "core/stage.h"

namespace attn::view {

struct Document;

// The numbers of a sentence that nobody set by hand. Rounded to two decimals where a person reads
// them; the same on every machine. No entry depends on how many there are: whoever makes a sentence
// longer or a matrix wider keeps every number that was there.

/// Entry `column` of a word's vector: N(0, 1) seeded by hash_text(word) alone, two decimals.
double word_value(std::uint64_t word_hash, Index column);
/// The waves of Vaswani et al. 2017, §3.5, as for a model of this width, whatever d_model is.
inline constexpr Index kWaveWidth = 32;
/// sin(p / 10000^(c/32)) for even c, cos of the same angle as column c − 1 for odd c.
double position_value(Index position, Index column);
/// X = word + position, or the word alone, [B,1,T,d_model] of B · T words, one sequence after the other.
Tensor toy_vectors(const std::vector<std::string>& tokens, Index d_model, bool sinusoid = true,
                   Index batch = 1);
/// X or X_kv of the document's words.
Tensor vectors_of(const Document& document, Stage x, Index d_model);

/// Between two sentences, which make a batch: "The cat sat down || A dog". The shorter one is filled up with kPadToken,
/// and its mask's padding says how many keys are words.
inline constexpr std::string_view kNextSentence = "||";
inline constexpr std::string_view kPadToken = "[pad]";
/// Fills tokens, tokens_next and, of two sentences, the mask's padding from the sentence. Errors: no word, none on a side
/// of kNextSentence, a third sentence, more than kMaxTokens.
Result<void> read_sentence(Document& document);

/// One entry of a parameter matrix by its head, its row and its column, each of W_Q, W_K, W_V's columns and of
/// W_O's rows counted within the head: N(0, 1/(2·row + 4)), two decimals. The variance falls with the row in place of
/// the usual 1/d_in, which would change every entry with the width. So a sum over d_in rows has the variance
/// Σ 1/(2r + 4) = 0.6 at 4 rows, 0.9 at 8, 1.2 at 16, 2.2 at 128: scores grow slowly with d_model, by its logarithm.
double weight_value(std::uint64_t seed, Param param, Index head, Index row, Index column);
/// The sizes of a toy, and what else decides which parameters it has.
struct ToyShape {
    Index d_model = 4, d_k = 4, d_v = 4, heads = 1, kv_heads = 1;
    Score score = Score::dot;
    bool sinks = false;
    Index queries = 1, keys = 1;  // of the words: a score by distance has a number for each
    bool operator==(const ToyShape&) const = default;
};
ToyShape toy_shape(const Document& document);
/// W_Q [d_model, heads·d_k], W_K [d_model, kv_heads·d_k], W_V [d_model, kv_heads·d_v], W_O [heads·d_v, d_model]; what the
/// score needs, W_score [d_k, d_k] or W_score_q, W_score_k [d_k, d_k] and w_score [1, d_k], b_score [heads, queries + keys − 1]; sinks [1, heads].
Params toy_weights(std::uint64_t seed, const ToyShape& shape);

/// Gives a toy other sizes, another score or sinks: every number that was there stays where it was (in its head, row and
/// column); new columns of X come from the words, new parameters and entries of them from the seed. No W_O stays none.
/// What its heads were built to do holds only for heads whose numbers are as they were.
void reshape(Document& document, const ToyShape& to);
/// The same toy with another sentence. A word that stays in its place keeps its row of X; one that moved keeps a row
/// that was given, and a computed one is computed for its new place. W stays, but hand-set ones only where the old
/// sentence begins the new one: they were made for it.
Result<Document> retyped(const Document& document, std::string_view sentence);
/// Whether row `row` of all sequences' X, or of X_kv, is exactly what its word gives: word vector + position, see Document::sinusoid.
bool is_computed(const Document& document, Stage x, Index row);
/// With or without the sinusoid in the computed rows of X and X_kv.
void set_sinusoid(Document& document, bool on);
/// Where the numbers of a toy come from: "toy weights, not trained: …", "toy weights, hand-set: …".
std::string toy_note(const Document& document);

/// What is wrong, or "".
std::string check_tokens(std::string_view name, const std::vector<std::string>& tokens);
std::string check_sizes(Index d_model, Index d_k, Index heads);

// Limits of the toy model; the sentence of an error names them.
inline constexpr Index kMaxTokens = 64;
inline constexpr Index kMaxModelWidth = 128;
inline constexpr Index kMaxKeyWidth = 128;
inline constexpr Index kMaxHeads = 16;

/// Deterministic toy vectors and weights for any sentence, see toy.h.
/// Errors: no token, more than kMaxTokens, a size out of its limits.
Result<Document> make_document(std::string_view sentence, Index d_model, Index d_k, Index heads,
                               std::uint64_t seed, const AttentionSpec& spec);

}  // namespace attn::view
