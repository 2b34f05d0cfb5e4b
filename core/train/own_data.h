#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "core/run_control.h"
#include "core/train/moment.h"
#include "core/train/spec.h"

namespace attn::train {

// A training set that a person types, one text a line. The first line decides the kind of all of them:
//   the dog barked because it was hungry | dog    a noun of the sentence for each "it"
//   the cat = le chat                             a translation, or any other pair
//   the sun is warm                               each word predicts the next one
// Blank lines and lines that begin with # do not count. A word has no / { } | =, which the format of languages uses.

enum class OwnKind : std::uint8_t { pronouns, pairs, next_word };

/// One line of own data.
struct OwnLine {
    Index number = 0;   // in the typed text, from 1
    std::string typed;  // as typed, without white space at its ends
    std::string text;   // as an entry of a language's class `text`
};
struct OwnData {
    OwnKind kind = OwnKind::next_word;
    std::vector<OwnLine> lines;
};
inline constexpr std::size_t kLeastOwnLines = 2;
inline constexpr std::size_t kMostOwnLines = 200;
inline constexpr std::size_t kMostOwnTerms = 64;  // of a line, all that the model reads

/// Errors name line and word, and the expected form.
Result<OwnData> read_own_data(std::string_view text);
/// The model that learns the text: 2 layers of 2 heads, d_model 32. A step reads every line, up to 64 of them.
Result<Spec> own_spec(std::string_view text);
/// Spec::language was made of own data.
bool has_own_data(const Spec& spec);

/// One word that the model answers with.
struct OwnPrediction {
    Index position = 0;  // of the word that it answers at
    Index token = 0;
    double probability = 0.0;  // softmax of the logits at the position
};
/// The answer to one sentence. Pronouns: a word for each "it". Pairs: the words after "=", up to and without ".". Else: the next word.
struct OwnAnswer {
    std::vector<std::string> terms;    // that the model read, its own answers to a pair too
    std::vector<std::string> unknown;  // words that are in no line; the model reads [?]
    std::vector<OwnPrediction> predictions;
    double probability = 1.0;  // of all predictions together: their product
};
/// The words as a model of own data reads them: a pair ends with "=". An error names the missing part: a word, an "it", or space.
Result<std::string> own_sentence(const Spec& spec, std::string_view typed);
/// Of a spec with own data; `sentence` as own_sentence() returns it.
Result<OwnAnswer> own_answer(const Spec& spec, const State& moment, std::string_view sentence);
/// The probability that a model gives to an answer, where it reads the same words.
double probability_of(const Spec& spec, const State& moment, const OwnAnswer& answer);

/// The same model without one line, counted from 0. The vocabulary, the first weights and its reading of the other lines stay.
Spec without_line(const Spec& spec, Index line);

/// The answer to the question of a line: the sentence without its nouns, the left side of a pair, a text without its last word.
struct LineAnswer {
    OwnAnswer answer;
    std::vector<std::string> expected;  // words of the line that the question leaves out
    bool right = false;                 // every predicted word is the expected one
};
/// `line` counts from 0, of OwnData::lines.
Result<LineAnswer> answer_of_line(const Spec& spec, const State& moment, Index line);

/// A trained model, and for each line the same model trained without it. Its answer to the line that it
/// did not read shows what it learned beyond the lines (leave-one-out cross-validation).
struct LeftOut {
    Moment all;
    std::vector<Moment> reduced;             // by line
    std::vector<LineAnswer> read, not_read;  // by line: of `all`; of the model without the line
};
/// Trains to `steps` with all lines, and again without each of them. Fails where `control` is stopped.
Result<LeftOut> leave_out_each(const Spec& spec, std::span<const Switch> switches, Index steps,
                               const RunControl& control);

/// One line, and the probability of the answer after training without it.
struct LineInfluence {
    Index line = 0;  // of OwnData::lines
    double probability = 0.0;
    double change(double with_all) const { return probability - with_all; }
};
struct Influences {
    OwnAnswer answer;                  // of the model that read every line
    std::vector<LineInfluence> lines;  // by |change|, the largest first; equal ones in their order
};
/// `sentence` as own_sentence() returns it.
Result<Influences> influences_of(const Spec& spec, const LeftOut& models,
                                 std::string_view sentence);

}  // namespace attn::train
