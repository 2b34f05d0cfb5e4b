#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/models/text_budget.h"
#include "core/result.h"
#include "core/sizes.h"

namespace attn {

/// Pieces of text by number and by text. The texts lie one behind the other: a million of them take 40 MB.
class Vocabulary {
  public:
    /// Whether the text is new. A number that is there twice keeps the last text, a text that is there twice the last number.
    /// Less than 2³² of each.
    bool add(std::string_view text, Index id);
    std::optional<Index> find(std::string_view text) const;
    /// "" of no number. Holds until the next add().
    std::string_view text(Index id) const;
    Index size() const { return static_cast<Index>(by_id_.size()); }
    /// How many different texts.
    Index texts() const { return static_cast<Index>(entries_.size()); }
    std::size_t longest() const { return longest_; }

  private:
    struct Entry {
        std::size_t begin;
        std::uint32_t bytes;
        std::uint32_t id;
    };
    /// Of the hash table: open addressing, at most two thirds full.
    struct Slot {
        std::uint32_t hash = 0;
        std::uint32_t entry = 0;  // its number + 1; 0: free
    };
    std::string_view text_of(const Entry& entry) const {
        return std::string_view(texts_).substr(entry.begin, entry.bytes);
    }
    /// Where the text stands, or would.
    std::size_t slot_of(std::string_view text, std::uint32_t hash) const;
    void grow();

    std::string texts_;
    std::vector<Entry> entries_;
    std::vector<Slot> slots_;
    std::vector<std::uint32_t> by_id_;  // as Slot::entry
    std::size_t longest_ = 0;           // bytes
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
    virtual void cut(std::string_view word, TextBudget& budget, std::vector<Piece>& out) const = 0;
};

/// "<0xE2>".
std::string byte_piece(unsigned char byte);

/// What stands for text that has no piece: the pieces <0x00> … <0xFF> of its bytes, else one number, else nothing.
struct Unknown {
    std::optional<Index> id;
    bool by_bytes = false;  // the vocabulary has all 256
    bool joined = false;    // neighbours are one

    void add(std::string_view text, const Vocabulary& vocabulary, std::vector<Piece>& out) const;
};

/// Pairs of texts, one behind the other, each with its place in the order of learning: several may have one.
class MergeList {
  public:
    void add(std::string_view left, std::string_view right) {
        add(left, right, static_cast<std::uint32_t>(size()));
    }
    void add(std::string_view left, std::string_view right, std::uint32_t rank);
    std::size_t size() const { return pairs_.size(); }
    /// Hold until the next add().
    std::string_view left(std::size_t n) const { return whole(n).substr(0, pairs_[n].left); }
    std::string_view right(std::size_t n) const { return whole(n).substr(pairs_[n].left); }
    std::string_view whole(std::size_t n) const;
    std::uint32_t rank(std::size_t n) const { return pairs_[n].rank; }

  private:
    struct Pair {
        std::size_t begin;
        std::uint32_t left, right;  // bytes
        std::uint32_t rank;
    };
    std::string texts_;
    std::vector<Pair> pairs_;
};

/// Byte-pair encoding: of the neighbours that a word holds, the pair that was learned first becomes one, again and again.
/// Sennrich et al. 2016, arXiv:1508.07909.
struct BytePairs {
    MergeList merges;
    Unknown unknown;
    bool whole_words = false;   // a word that is a piece stays whole, whatever the merges say
    std::string word_end = {};  // stands behind a word's last code point: "</w>" of CLIP
};
/// Of a pair that is there twice the last counts. An error names a merge whose parts, or whose whole, the vocabulary does not
/// have, and one of the piece for unknown text.
Result<std::unique_ptr<const PieceModel>> byte_pairs(std::shared_ptr<const Vocabulary> vocabulary,
                                                     const BytePairs& settings,
                                                     std::string_view where);

/// The pieces of the largest sum of scores: Kudo 2018, arXiv:1804.10959. A code point without a piece scores 10 less than
/// the least. Neighbours without one are one unknown piece. One that scores kNeverTaken is none of a text's.
inline constexpr double kNeverTaken = std::numeric_limits<double>::lowest();
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

/// Whole words; one that the vocabulary does not have becomes `unknown`, and without that no piece.
std::unique_ptr<const PieceModel> word_level(std::shared_ptr<const Vocabulary> vocabulary,
                                             std::optional<Index> unknown);

}  // namespace attn
