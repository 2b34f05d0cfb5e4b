#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "core/sizes.h"

namespace attn::train {

/// Replaces every word outside the vocabulary; token 0 of a language.
inline constexpr std::string_view kUnknownWord = "[?]";

/// One word of a drawn text.
struct DrawnWord {
    Index token = 0;
    Index variable = -1;  // the variable of the text that it comes from; -1: it is fixed
    Index kind = -1;      // class of that variable
    Index answer = -1;    // the marked answer; -1: none
    Index answer_variable = -1;
    bool operator==(const DrawnWord&) const = default;
};
using DrawnText = std::vector<DrawnWord>;

/// An attention weight that an evaluation requires.
struct RequiredAttention {
    Index layer = 0;
    double weight = 0.0;  // at least, of one head, on the words that have the answer's variable
    double share = 0.0;   // of the marked answers where that holds
};
/// The head of a layer whose largest weight lies on the aligned word: the one with the same variable as the answer.
struct RequiredAlignment {
    Index layer = 0;
    double share = 0.0;        // of the answers
    std::vector<Index> kinds;  // classes that count; empty: all
};
/// One text with a required answer.
struct RequiredText {
    std::string text, word, answer;  // `word` is read as `answer`
    Index layer = 0;
    double weight = 0.0;  // at least, of one head, from `word` to `answer`
};
/// The least figures of a trained model on held-out texts; a figure without a requirement is absent.
struct Requirements {
    Index texts = 512;  // how many held-out texts are drawn
    std::optional<double> answers, whole_texts;
    std::optional<RequiredAttention> attention;
    std::optional<RequiredAlignment> alignment;
    std::vector<RequiredText> examples;
};

/// A small language given as data: classes of words and phrases, from which texts are drawn. Immutable; any thread.
/// The format is in assets/models/README.md.
class Language {
  public:
    /// `text` is a JSON object; `where` names it in errors. Errors name class, entry, text and expectation.
    static Result<std::shared_ptr<const Language>> parse(std::string_view text,
                                                         std::string_view where);
    ~Language();

    /// The object that parse() read, as one line of JSON.
    const std::string& json_text() const { return json_; }
    /// kUnknownWord, then the words in the order in which texts mention them.
    const std::vector<std::string>& vocabulary() const { return vocabulary_; }
    /// The words of each class that has words of its own, by name, for a list on screen.
    std::vector<std::pair<std::string, std::vector<std::string>>> class_vocabularies() const;
    /// The token of a word; nullopt: it is not in the vocabulary.
    std::optional<Index> token_of(std::string_view word) const;
    /// The most words that a text can have.
    Index longest() const { return longest_; }

    /// Text `number` of a stream. `held_out`: one with a held-out combination; else one without.
    enum class Part : std::uint8_t { training, held_out };
    DrawnText draw(std::uint64_t stream, Part part) const;
    /// Of one entry of the class `text`.
    DrawnText draw_entry(Index entry, std::uint64_t stream) const;
    /// Has all parts of a held-out combination.
    bool is_held_out(const DrawnText& text) const;
    bool holds_out() const { return !held_out_.empty(); }

    const std::string& text() const { return text_; }  // shown when no other is given
    /// A text beside it in which the model's answer differs; "": none.
    const std::string& contrast() const { return contrast_; }
    /// The first word whose next word is an answer; nullopt: the first of the text.
    std::optional<Index> answers_from() const { return answers_from_; }
    /// The word that ends a generated text; nullopt: no word does.
    std::optional<Index> end() const { return end_; }
    /// The marked answer of each token, −1 for none, of a text that an entry of the class `text` gives. nullopt: no entry
    /// does, or only one whose variables have texts with variables.
    std::optional<std::vector<Index>> answers_of(std::span<const Index> tokens) const;
    /// Some text marks an answer; then only marked ones count in an evaluation.
    bool marks_answers() const { return marks_answers_; }
    /// Some text marks this word with an answer.
    bool marks(Index token) const { return marked_.contains(token); }
    /// Entries of the class `text` that training reads one after the other; empty: each text is drawn at random.
    const std::vector<Index>& turns() const { return turns_; }
    /// The lines of own data that the language was made of; see own_data.h. "": other languages.
    const std::string& own_text() const { return own_text_; }
    double echo() const { return echo_; }  // share of other words whose answer is the word itself
    double unknown() const {
        return unknown_;
    }  // share of variables and fixed words that are read as kUnknownWord
    const Requirements& requirements() const { return requirements_; }

  private:
    friend class LanguageReader;
    struct Entry;
    struct Kind;
    class Drawing;
    class Matching;
    Language();
    DrawnText draw_any(std::uint64_t stream) const;

    std::string json_, text_, contrast_, own_text_;
    std::vector<std::string> vocabulary_;
    std::map<std::string, Index, std::less<>> tokens_;
    std::vector<Kind> kinds_;
    Index root_ = 0, longest_ = 0;
    bool marks_answers_ = false;
    std::set<Index> marked_;
    std::vector<Index> turns_;
    std::vector<std::vector<std::vector<Index>>>
        held_out_;  // combinations of parts of adjacent tokens
    std::optional<Index> answers_from_, end_;
    double echo_ = 0.0, unknown_ = 0.0;
    Requirements requirements_;
};

}  // namespace attn::train
