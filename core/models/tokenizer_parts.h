#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/models/pieces.h"
#include "core/models/split.h"
#include "core/models/tokenizer.h"

namespace attn {

using Rewrite = std::function<std::string(std::string_view)>;
using Split = std::function<Words(std::string_view)>;

/// A token that is found in the text before anything else.
struct AddedToken {
    std::string content;
    Index id = 0;
    bool strips_left = false, strips_right = false;
};

/// What a tokenizer does, in this order: added tokens, rewrites, splits, pieces of each word, what stands around a text.
struct Tokenizer::Parts {
    std::vector<Rewrite> rewrites;
    std::vector<Split> splits;
    std::shared_ptr<const Vocabulary> vocabulary;
    std::unique_ptr<const PieceModel> model;
    std::vector<AddedToken> added;  // the longest first
    std::map<Index, std::string> added_words;
    std::vector<Index> before, after;
    bool bytes_are_letters = false;

    void encode(std::string_view text, std::vector<Piece>& out) const;
    /// Of a part of the text that holds no added token.
    void encode_plain(std::string_view text, std::vector<Piece>& out) const;
};

inline constexpr std::string_view kSpacePiece = "\u2581";

}  // namespace attn
