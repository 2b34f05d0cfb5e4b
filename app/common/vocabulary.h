#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/sizes.h"

namespace attn::view {

struct AppState;

/// One class of a grammar, as "animal" or "verb".
struct VocabularyClass {
    std::string name;
    std::vector<std::string> entries;
};

/// The vocabulary of the open model by the classes of the grammar that it learned from, the rest last. Empty for a
/// model that does not come with the program.
const std::vector<VocabularyClass>& vocabulary_of(const AppState& state);

/// The answer that the grammar marks for each token of a text, −1 for none; nullopt: the model does not come with the
/// program, or no template of its grammar gives the text.
std::optional<std::vector<Index>> marked_answers(const std::string& model_path,
                                                 std::span<const Index> tokens);

/// A known word that a field offers in place of the typed word.
struct Completion {
    std::string word, class_name;
    bool operator==(const Completion&) const = default;
};

/// The words that begin with `typed`, upper and lower case alike; without one, those at most two typing mistakes away,
/// nearest first. At most five, each once. Empty for "" and for a word of the vocabulary.
std::vector<Completion> completions(std::span<const VocabularyClass> vocabulary,
                                    std::string_view typed);

/// The part of `text` before byte `end` that follows the last white space there.
std::string_view word_before(std::string_view text, std::size_t end);

/// "not in the vocabulary, so read as [?]: 'zebra' (nearest: near, bear, tea)". "" without unknown words.
std::string unknown_tokens_text(std::span<const std::string> unknown,
                                std::span<const std::string> known, std::string_view read_as);
/// The same of the tokens that the open model read, where its vocabulary is known.
std::string unknown_tokens_text(const AppState& state);

}  // namespace attn::view
