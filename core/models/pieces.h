#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/result.h"
#include "core/tensor.h"

namespace attn {

/// Pieces of text by number and by text.
class Vocabulary {
  public:
    /// A number that is there twice keeps the last text.
    void add(std::string text, Index id);
    std::optional<Index> find(std::string_view text) const;
    /// "" of no number.
    std::string_view text(Index id) const;
    Index size() const { return static_cast<Index>(texts_.size()); }
    std::size_t longest() const { return longest_; }

  private:
    struct Hash {
        using is_transparent = void;
        std::size_t operator()(std::string_view text) const {
            return std::hash<std::string_view>()(text);
        }
    };
    std::vector<std::string> texts_;
    std::unordered_map<std::string, Index, Hash, std::equal_to<>> ids_;
    std::size_t longest_ = 0;  // bytes
};

/// A piece of a word: its number, and the text that it stands for where the vocabulary does not have it.
struct Piece {
    Index id = 0;
    std::string unknown;
};

/// Cuts a word into pieces.
class PieceModel {
  public:
    virtual ~PieceModel() = default;
    virtual void cut(std::string_view word, std::vector<Piece>& out) const = 0;
};

/// What stands for text that has no piece: the pieces <0x00> … <0xFF> of its bytes, else one number, else nothing.
struct Unknown {
    std::optional<Index> id;
    bool by_bytes = false;
    bool joined = false;  // neighbours are one

    void add(std::string_view text, const Vocabulary& vocabulary, std::vector<Piece>& out) const;
};

/// Byte-pair encoding: of the neighbours that a word holds, the pair that was learned first becomes one, again and again.
/// Sennrich et al. 2016, arXiv:1508.07909.
struct BytePairs {
    std::vector<std::pair<std::string, std::string>> merges;  // in the order of learning
    Unknown unknown;
    bool whole_words = false;  // a word that is a piece stays whole, whatever the merges say
};
/// An error names a merge whose parts, or whose whole, the vocabulary does not have.
Result<std::unique_ptr<const PieceModel>> byte_pairs(std::shared_ptr<const Vocabulary> vocabulary,
                                                     const BytePairs& settings,
                                                     std::string_view where);

/// The pieces of the largest sum of scores: Kudo 2018, arXiv:1804.10959. A code point without a piece scores 10 less than
/// the least.
std::unique_ptr<const PieceModel> unigram(std::shared_ptr<const Vocabulary> vocabulary,
                                          std::vector<double> scores, Unknown unknown);

/// From the left the longest piece, later ones after "##": a word that has a part without one is unknown as a whole.
struct WordPieces {
    Index unknown = 0;
    std::string continues = "##";
    std::size_t longest_word = 100;  // code points
};
std::unique_ptr<const PieceModel> word_pieces(std::shared_ptr<const Vocabulary> vocabulary,
                                              WordPieces settings);

}  // namespace attn
