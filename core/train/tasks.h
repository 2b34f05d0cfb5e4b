#pragma once

#include <string>
#include <vector>

#include "core/train/language.h"
#include "core/train/spec.h"

namespace attn::train {

/// No answer is asked for at a position.
inline constexpr Index kNoTarget = -1;

/// A sequence with its answers: numbers of the vocabulary, one a position.
struct Example {
    std::vector<Index> tokens;   // [T], of a language 1 to T
    std::vector<Index> targets;  // the same; kNoTarget where the loss does not count
    bool operator==(const Example&) const = default;
};

/// One answer of a held-out text.
struct HeldOutAnswer {
    Index position = 0;
    bool counts = true;       // it is marked, or the language marks none
    Index kind = -1;          // class of the answer's word; -1: it is a fixed word
    std::vector<Index> keys;  // positions that it may attend to and that have the answer's variable
};
/// A text with a held-out combination, which training never reads; of a language that holds none out, any text.
struct HeldOut {
    Example example;
    std::vector<HeldOutAnswer> answers;
};

// The sequences. s: Spec::symbols; "random": uniform and independent, of the stream of seed, step and place in the batch.
//   copy       a_0 … a_{m−1} : a_0 … a_{m−2}, T = 2m: random symbols, the separator, the same again. Causal; answers at the
//              last m positions, each the symbol to come: a_{p−m} at p. Solved by attending m positions back.
//   reverse    T random symbols. Not causal; the answer at p is the symbol at T − 1 − p. Solved by the antidiagonal.
//   sort       T random symbols. Not causal; the answer at p is the p-th smallest.
//   induction  a_0 … a_{L−1} a_0 … : L different symbols, over and over; L is random in [T/4, T/2], so that no fixed offset
//              solves it. Causal; answers from position L − 1 on where the token stood before, that is p >= L, each the
//              symbol to come. Solved by the key after the last equal token: a previous-token head, then an induction head.
//   recall     k_0 v_0 k_1 v_1 … and then keys: m = T/3 pairs of different keys and random values, then T − 2m random ones of
//              these keys. Values have symbols of their own. Causal; answers at the last T − 2m positions, the key's value.
//   majority   ? and T − 1 random symbols. Not causal; one answer, at ?: the most frequent symbol, of several the smallest.
//              Solved by even attention.
//   text       T words in a row from a random place of Spec::text. Causal; the answer at p is the word after it.
//   grammar    the same, from sentences that a small grammar makes: "the dog that the cats see runs .": a verb has the number
//              of its noun, which other nouns may part from it.
//   marked     texts of Spec::language, of different lengths. Not causal; answers at marked words, and at a share of the others
//              the word itself.
//   sentences  the same texts. Causal; the answer at p is the word after it, from Language::answers_from() on.

/// A task's vocabulary and its source of sequences. Immutable; any thread.
class Sequences {
  public:
    /// Of a spec that check() let pass.
    explicit Sequences(const Spec& spec);

    /// Of each token, as it is shown: "a", "17", ":", "dog".
    const std::vector<std::string>& vocabulary() const { return vocabulary_; }
    Index size() const { return static_cast<Index>(vocabulary_.size()); }

    /// Sequence `place` of the batch of `step`. The same in every run with this task, these sizes and this seed.
    Example training(Index step, Index place) const;
    /// A sequence that is the same at every step, of a stream of its own: what maps show. `number`: another one of it. Of a
    /// language: its text, then held-out ones.
    Example fixed(std::uint64_t number = 0) const;
    /// Held-out text `number` of a task with a language; the same for every seed.
    HeldOut held_out(std::uint64_t number) const;

    /// Tokens of words between white space, with their targets where the task gives any: copy, reverse, sort, majority, text
    /// and grammar by definition, induction and recall where a token stood before. An error names a word that is not in the
    /// vocabulary, or another number of them than the task reads (T; of text, grammar and languages 1 to T). A language reads
    /// other words as kUnknownWord.
    Result<Example> typed(std::string_view words) const;

  private:
    Example draw(std::uint64_t stream) const;
    Example example_of(const DrawnText& text, std::vector<Index> tokens) const;
    /// The text with words hidden and echoes added, as a batch has it.
    Example shown_in_training(const DrawnText& text, std::uint64_t stream) const;

    Spec spec_;
    std::vector<std::string> vocabulary_;
    std::vector<Index> words_;  // of the text, as numbers
};

}  // namespace attn::train
