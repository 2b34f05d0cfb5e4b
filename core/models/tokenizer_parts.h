#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/models/pieces.h"
#include "core/models/split.h"
#include "core/models/text_budget.h"
#include "core/models/tokenizer.h"

namespace attn {

/// A step before a text is split. One that may make it much longer consults the budget first.
struct Rewrite {
    std::function<std::string(std::string_view text, TextBudget& budget)> apply;
    std::string name = {};  // in an error: "the normalizer 'NFC'"
};
/// `first`: the word begins where the whole text does.
struct Split {
    std::function<Words(std::string_view word, bool first, TextBudget& budget)> apply;
    std::string name = {};
};
/// A step that costs and makes about as much as its text.
template <class Change>
Rewrite plain_rewrite(Change change, std::string name = {}) {
    return {[change = std::move(change)](std::string_view text, TextBudget&) {
                return std::string(change(text));
            },
            std::move(name)};
}
template <class Cut>
Split plain_split(Cut cut, std::string name = {}) {
    return {[cut = std::move(cut)](std::string_view word, bool first, TextBudget&) {
                return cut(word, first);
            },
            std::move(name)};
}

/// A token that is found in the text before anything else.
struct AddedToken {
    std::string content;
    Index id = 0;
    bool single_word = false;  // no letter, digit or mark stands beside it
    bool strips_left = false, strips_right = false;
};

/// A text of more tokens than `most`, those around it among them, loses its last ones, or its first.
struct Truncation {
    Index most = 0;
    bool keeps_end = false;
};

/// What a tokenizer does, in this order: added tokens, rewrites, added tokens of what was rewritten, splits, pieces of each
/// word, truncation, what stands around a text.
struct Tokenizer::Parts {
    std::string file;  // in errors
    std::vector<Rewrite> rewrites;
    std::vector<Split> splits;
    std::shared_ptr<const Vocabulary> vocabulary;
    std::unique_ptr<const PieceModel> model;
    std::vector<AddedToken> added, added_to_rewritten;  // by first byte, then the longest first
    std::map<Index, std::string> added_words;
    std::vector<Index> before, after;
    std::optional<Truncation> truncation;
    bool bytes_are_letters = false;
    bool is_word_level = false;  // each token is a word with a space before it
    bool restarts = false;       // what follows a token of `added` is split as a text's beginning

    std::vector<Piece> encode(std::string_view text, TextBudget& budget) const;
    /// Of a part of the text that holds no added token.
    void encode_plain(std::string_view text, bool first, TextBudget& budget,
                      std::vector<Piece>& out) const;
    void truncate(std::vector<Piece>& pieces) const;
};

/// All of them, each named in the budget's errors.
std::string rewritten(std::string_view text, const std::vector<Rewrite>& rewrites,
                      TextBudget& budget);

inline constexpr std::string_view kSpacePiece = "\u2581";

}  // namespace attn
