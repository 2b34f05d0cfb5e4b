#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "core/models/tokenizer_parts.h"

namespace attn {

/// What a piece is, by the numbers that SentencePiece and GGUF have for it.
enum class PieceKind : std::uint8_t { normal = 1, unknown, control, user, unused, byte };

/// A tokenizer of SentencePiece: byte pairs, where of all neighbours that a piece stands for those whose piece scores most are
/// joined, the left of equal ones; or Unigram. Kudo & Richardson 2018, arXiv:1808.06226.
struct ScoredPieces {
    struct Piece {
        std::string text;
        double score = 0.0;
        PieceKind kind = PieceKind::normal;
    };
    std::vector<Piece> pieces;  // by number
    bool unigram = false;
    bool prefix = true;    // a space stands before a text
    bool restarts = true;  // and before what follows a control token in it
    bool squeezes = true;  // spaces at the ends go, and of several one is left
    bool by_bytes = false;
    std::string characters = {};  // the file's map of characters, which comes first; "": none
    Index unknown = 0;
    std::vector<Index> before = {}, after = {};  // around a text
    nlohmann::json added =
        nlohmann::json::array();  // as tokenizer.json has them; those of `pieces` need not be there

    Index size() const { return static_cast<Index>(pieces.size()); }
    bool is_text(Index id) const { return id >= 0 && id < size(); }
};

/// tokenizer.model, a protocol buffer. Source: sentencepiece_model.proto. Refused by name: models of words and of characters,
/// spaces that are kept or stand behind words.
Result<ScoredPieces> parse_sentence_pieces(std::string_view bytes, std::string_view where);

// What follows throws TokenizerFault.

/// The map of a tokenizer.json, as Hugging Face's program reads it: a grapheme of up to 5 bytes, else each of its code points,
/// becomes what stands for the shortest text of the map that it begins with.
Rewrite precompiled_map(std::string bytes);

std::vector<Rewrite> rewrites_of(const ScoredPieces& from);
std::vector<Split> splits_of(const ScoredPieces& from);
/// Of byte pairs: every way to make a piece of two, those of the largest score first.
MergeList merges_of(const ScoredPieces& from, const Vocabulary& vocabulary);
/// added_tokens, model and post_processor of a tokenizer.json; the model of byte pairs without its vocabulary and merges.
nlohmann::json root_of(const ScoredPieces& from);

}  // namespace attn
