#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/models/pieces.h"
#include "core/models/split.h"
#include "core/models/tokenizer.h"

namespace attn {

using Rewrite = std::function<std::string(std::string_view)>;
/// `first`: the word begins where the whole text does.
using Split = std::function<Words(std::string_view word, bool first)>;

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

    std::vector<Piece> encode(std::string_view text) const;
    /// Of a part of the text that holds no added token.
    void encode_plain(std::string_view text, bool first, std::vector<Piece>& out) const;
    void truncate(std::vector<Piece>& pieces) const;
};

inline constexpr std::string_view kSpacePiece = "\u2581";

}  // namespace attn
