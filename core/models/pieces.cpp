#include "core/models/pieces.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <queue>

#include <fmt/format.h>

#include "core/note.h"
#include "core/text.h"

namespace attn {

namespace {

std::uint32_t hash_of(std::string_view text) {
    return static_cast<std::uint32_t>(std::hash<std::string_view>()(text));
}

}  // namespace

std::size_t Vocabulary::slot_of(std::string_view text, std::uint32_t hash) const {
    const std::size_t mask = slots_.size() - 1;
    std::size_t at = hash & mask;
    while (slots_[at].entry != 0 &&
           (slots_[at].hash != hash || text_of(entries_[slots_[at].entry - 1]) != text))
        at = (at + 1) & mask;
    return at;
}

void Vocabulary::grow() {
    std::vector<Slot> old(slots_.empty() ? 64 : 2 * slots_.size());
    old.swap(slots_);
    const std::size_t mask = slots_.size() - 1;
    for (const Slot& slot : old) {
        if (slot.entry == 0) continue;
        std::size_t at = slot.hash & mask;
        while (slots_[at].entry != 0) at = (at + 1) & mask;
        slots_[at] = slot;
    }
}

bool Vocabulary::add(std::string_view text, Index id) {
    if (3 * (entries_.size() + 1) > 2 * slots_.size()) grow();
    if (id >= size()) by_id_.resize(static_cast<std::size_t>(id) + 1);
    longest_ = std::max(longest_, text.size());
    const std::uint32_t hash = hash_of(text);
    Slot& slot = slots_[slot_of(text, hash)];
    const bool fresh = slot.entry == 0;
    if (fresh) {
        entries_.push_back({texts_.size(), static_cast<std::uint32_t>(text.size()), 0});
        texts_ += text;
        slot = {hash, static_cast<std::uint32_t>(entries_.size())};
    }
    entries_[slot.entry - 1].id = static_cast<std::uint32_t>(id);
    by_id_[id] = slot.entry;
    return fresh;
}

std::optional<Index> Vocabulary::find(std::string_view text) const {
    if (slots_.empty()) return std::nullopt;
    const Slot& slot = slots_[slot_of(text, hash_of(text))];
    if (slot.entry == 0) return std::nullopt;
    return entries_[slot.entry - 1].id;
}

std::string_view Vocabulary::text(Index id) const {
    const std::uint32_t entry = id < 0 || id >= size() ? 0 : by_id_[id];
    return entry == 0 ? std::string_view{} : text_of(entries_[entry - 1]);
}

void MergeList::add(std::string_view left, std::string_view right, std::uint32_t rank) {
    pairs_.push_back({texts_.size(), static_cast<std::uint32_t>(left.size()),
                      static_cast<std::uint32_t>(right.size()), rank});
    texts_ += left;
    texts_ += right;
}

std::string_view MergeList::whole(std::size_t n) const {
    const Pair& pair = pairs_[n];
    return std::string_view(texts_).substr(pair.begin, pair.left + pair.right);
}

std::string byte_piece(unsigned char byte) { return fmt::format("<0x{:02X}>", byte); }

void Unknown::add(std::string_view text, const Vocabulary& vocabulary,
                  std::vector<Piece>& out) const {
    for (const char byte : by_bytes ? text : std::string_view{})
        out.push_back({*vocabulary.find(byte_piece(static_cast<unsigned char>(byte))), {}});
    if (by_bytes) return;
    if (!id) return;
    if (joined && !out.empty() && !out.back().unknown.empty())
        out.back().unknown += text;
    else
        out.push_back({*id, std::string(text)});
}

namespace {

/// Of a look into the vocabulary, for TextBudget.
constexpr std::size_t kWorkOfPiece = 50;

std::vector<std::string_view> code_points(std::string_view text) {
    std::vector<std::string_view> points;
    while (!text.empty()) {
        const std::size_t bytes = first_code_point(text).bytes;
        points.push_back(text.substr(0, bytes));
        text.remove_prefix(bytes);
    }
    return points;
}

/// What two neighbours become, by their numbers: a hash table of open addressing, at most two thirds full.
class Merges {
  public:
    struct Merge {
        std::uint32_t left = 0, right = 0;
        std::uint32_t rank = 0;  // + 1; 0: free
        std::uint32_t whole = 0;
    };

    explicit Merges(std::size_t count) : slots_(std::bit_ceil(count + count / 2 + 2)) {}

    /// The last of a pair counts.
    void add(const Merge& merge) { slots_[slot_of(merge.left, merge.right)] = merge; }
    const Merge* find(Index left, Index right) const {
        const Merge& slot =
            slots_[slot_of(static_cast<std::uint32_t>(left), static_cast<std::uint32_t>(right))];
        return slot.rank == 0 ? nullptr : &slot;
    }

  private:
    std::size_t slot_of(std::uint32_t left, std::uint32_t right) const {
        const std::uint64_t pair = std::uint64_t{left} << 32 | right;
        const std::size_t mask = slots_.size() - 1;
        std::size_t at = static_cast<std::size_t>((pair * 0x9E3779B97F4A7C15ULL) >> 32) & mask;
        while (slots_[at].rank != 0 && (slots_[at].left != left || slots_[at].right != right))
            at = (at + 1) & mask;
        return at;
    }

    std::vector<Merge> slots_;
};

class BytePairModel : public PieceModel {
  public:
    BytePairModel(std::shared_ptr<const Vocabulary> vocabulary, Merges merges, Unknown unknown,
                  bool whole_words, std::string word_end)
        : vocabulary_(std::move(vocabulary)),
          merges_(std::move(merges)),
          unknown_(unknown),
          whole_words_(whole_words),
          word_end_(std::move(word_end)) {}

    void cut(std::string_view word, TextBudget& budget, std::vector<Piece>& out) const override {
        if (whole_words_)
            if (const auto whole = vocabulary_->find(word)) return out.push_back({*whole, {}});
        std::vector<Piece> pieces;
        const auto points = code_points(word);
        for (const std::string_view& point : points) {
            budget.spend(kWorkOfPiece);
            const bool last = &point == &points.back();
            if (const auto found = last && !word_end_.empty()
                                       ? vocabulary_->find(std::string(point) + word_end_)
                                       : vocabulary_->find(point))
                pieces.push_back({*found, {}});
            else
                unknown_.add(point, *vocabulary_, pieces);
        }
        merge(pieces, budget);
        std::ranges::move(pieces, std::back_inserter(out));
    }

  private:
    /// Neighbours that may become one, the first learned on top; of equal ones the left.
    struct Candidate {
        std::uint32_t rank;
        std::size_t left, right;
        Index left_id, right_id;
        bool operator>(const Candidate& other) const {
            return std::pair(rank, left) > std::pair(other.rank, other.left);
        }
    };

    void merge(std::vector<Piece>& pieces, TextBudget& budget) const {
        const std::size_t count = pieces.size();
        std::vector<std::size_t> before(count), after(count);
        for (std::size_t n = 0; n < count; ++n) before[n] = n - 1, after[n] = n + 1;
        std::priority_queue<Candidate, std::vector<Candidate>, std::greater<>> queue;
        const auto consider = [&](std::size_t left, std::size_t right) {
            if (left >= count || right >= count) return;
            if (!pieces[left].unknown.empty() || !pieces[right].unknown.empty()) return;
            if (const auto* found = merges_.find(pieces[left].id, pieces[right].id))
                queue.push({found->rank, left, right, pieces[left].id, pieces[right].id});
        };
        std::vector<bool> gone(count, false);
        for (std::size_t n = 0; n + 1 < count; ++n) consider(n, n + 1);
        while (!queue.empty()) {
            budget.spend(kWorkOfPiece);
            const Candidate best = queue.top();
            queue.pop();
            if (gone[best.left] || gone[best.right] || after[best.left] != best.right ||
                pieces[best.left].id != best.left_id || pieces[best.right].id != best.right_id)
                continue;
            pieces[best.left].id = merges_.find(best.left_id, best.right_id)->whole;
            gone[best.right] = true;
            after[best.left] = after[best.right];
            if (after[best.left] < count) before[after[best.left]] = best.left;
            consider(before[best.left], best.left);
            consider(best.left, after[best.left]);
        }
        std::size_t retained = 0;
        for (std::size_t n = 0; n < count; ++n)
            if (!gone[n]) {
                if (retained != n) pieces[retained] = std::move(pieces[n]);
                ++retained;
            }
        pieces.resize(retained);
    }

    std::shared_ptr<const Vocabulary> vocabulary_;
    Merges merges_;
    Unknown unknown_;
    bool whole_words_;
    std::string word_end_;
};

class UnigramModel : public PieceModel {
  public:
    UnigramModel(std::shared_ptr<const Vocabulary> vocabulary, std::vector<double> scores,
                 Unknown unknown)
        : vocabulary_(std::move(vocabulary)), scores_(std::move(scores)), unknown_(unknown) {
        std::optional<double> least;
        for (const double score : scores_)
            if (score > kNeverTaken) least = std::min(score, least.value_or(score));
        unknown_score_ = least.value_or(0.0) - 10.0;
    }

    void cut(std::string_view word, TextBudget& budget, std::vector<Piece>& out) const override {
        const std::vector<Arrival> best = best_paths(word, budget);
        std::vector<std::size_t> ends;
        for (std::size_t at = word.size(); at > 0; at = best[at].from) ends.push_back(at);
        std::size_t known = 0;  // before it all is in pieces
        for (std::size_t n = ends.size(); n-- > 0;) {
            const Arrival& arrival = best[ends[n]];
            if (!arrival.id || arrival.id == unknown_.id) continue;
            add_unknown(word.substr(known, arrival.from - known), out);
            out.push_back({*arrival.id, {}});
            known = ends[n];
        }
        add_unknown(word.substr(known), out);
    }

  private:
    /// The best way to a place in the word.
    struct Arrival {
        double score = -std::numeric_limits<double>::infinity();
        std::size_t from = 0;
        std::optional<Index> id;  // of the last piece; not set: unknown
    };

    /// A run without pieces; the piece for unknown text is one where it stands alone.
    void add_unknown(std::string_view text, std::vector<Piece>& out) const {
        if (text.empty()) return;
        if (const auto id = vocabulary_->find(text))
            out.push_back({*id, {}});
        else
            unknown_.add(text, *vocabulary_, out);
    }

    std::vector<Arrival> best_paths(std::string_view word, TextBudget& budget) const {
        std::vector<Arrival> best(word.size() + 1);
        best[0].score = 0.0;
        for (std::size_t at = 0; at < word.size(); at += first_code_point(word.substr(at)).bytes) {
            const std::size_t one = first_code_point(word.substr(at)).bytes;
            bool known = false;
            std::size_t end = at;
            while (end < word.size()) {
                end += first_code_point(word.substr(end)).bytes;
                if (end - at > vocabulary_->longest()) break;
                budget.spend(kWorkOfPiece + end - at);
                const auto id = vocabulary_->find(word.substr(at, end - at));
                if (!id) continue;
                known |= end - at == one;
                arrive(best, at, end, scores_[*id], id);
            }
            if (!known) arrive(best, at, at + one, unknown_score_, std::nullopt);
        }
        return best;
    }

    static void arrive(std::vector<Arrival>& best, std::size_t from, std::size_t to, double score,
                       std::optional<Index> id) {
        const double sum = best[from].score + score;
        if (sum > best[to].score) best[to] = {sum, from, id};
    }

    std::shared_ptr<const Vocabulary> vocabulary_;
    std::vector<double> scores_;
    Unknown unknown_;
    double unknown_score_ = 0.0;
};

class WordLevelModel : public PieceModel {
  public:
    WordLevelModel(std::shared_ptr<const Vocabulary> vocabulary, std::optional<Index> unknown)
        : vocabulary_(std::move(vocabulary)), unknown_(unknown) {}

    void cut(std::string_view word, TextBudget& budget, std::vector<Piece>& out) const override {
        budget.spend(kWorkOfPiece + word.size());
        if (const auto id = vocabulary_->find(word))
            out.push_back({*id, {}});
        else if (unknown_)
            out.push_back({*unknown_, std::string(word)});
    }

  private:
    std::shared_ptr<const Vocabulary> vocabulary_;
    std::optional<Index> unknown_;
};

class WordPieceModel : public PieceModel {
  public:
    WordPieceModel(std::shared_ptr<const Vocabulary> vocabulary, WordPieces settings)
        : vocabulary_(std::move(vocabulary)), settings_(std::move(settings)) {}

    void cut(std::string_view word, TextBudget& budget, std::vector<Piece>& out) const override {
        const std::vector<std::string_view> points = code_points(word);
        std::vector<Piece> pieces;
        std::size_t from = 0;
        while (from < points.size() && points.size() <= settings_.longest_word) {
            const auto [id, end] = longest(points, from, budget);
            if (end == from) break;
            pieces.push_back({id, {}});
            from = end;
        }
        if (from < points.size()) return out.push_back({settings_.unknown, std::string(word)});
        std::ranges::move(pieces, std::back_inserter(out));
    }

  private:
    std::pair<Index, std::size_t> longest(const std::vector<std::string_view>& points,
                                          std::size_t from, TextBudget& budget) const {
        std::string text = from > 0 ? settings_.continues : std::string();
        std::size_t end = from;
        while (end < points.size() && text.size() + points[end].size() <= vocabulary_->longest())
            text += points[end++];
        for (; end > from; text.resize(text.size() - points[--end].size())) {
            budget.spend(kWorkOfPiece + text.size());
            if (const auto id = vocabulary_->find(text)) return {*id, end};
        }
        return {0, from};
    }

    std::shared_ptr<const Vocabulary> vocabulary_;
    WordPieces settings_;
};

}  // namespace

Result<std::unique_ptr<const PieceModel>> byte_pairs(std::shared_ptr<const Vocabulary> vocabulary,
                                                     const BytePairs& settings,
                                                     std::string_view where) {
    const MergeList& list = settings.merges;
    Merges merges(list.size());
    for (std::size_t n = 0; n < list.size(); ++n) {
        const auto a = vocabulary->find(list.left(n));
        const auto b = vocabulary->find(list.right(n));
        const auto whole = vocabulary->find(list.whole(n));
        if (!a || !b || !whole)
            return bad_input(
                fmt::format("{}: merge {} is '{}' + '{}'; the vocabulary does not have '{}'", where,
                            n, shortened(list.left(n)), shortened(list.right(n)),
                            shortened(!a   ? list.left(n)
                                      : !b ? list.right(n)
                                           : list.whole(n))));
        if (settings.unknown.id && (a == settings.unknown.id || b == settings.unknown.id))
            return bad_input(fmt::format(
                "{}: merge {} is '{}' + '{}'; expected none of the piece for unknown text", where,
                n, shortened(list.left(n)), shortened(list.right(n))));
        merges.add({static_cast<std::uint32_t>(*a), static_cast<std::uint32_t>(*b),
                    list.rank(n) + 1, static_cast<std::uint32_t>(*whole)});
    }
    return std::make_unique<const BytePairModel>(std::move(vocabulary), std::move(merges),
                                                 settings.unknown, settings.whole_words,
                                                 settings.word_end);
}

std::unique_ptr<const PieceModel> unigram(std::shared_ptr<const Vocabulary> vocabulary,
                                          std::vector<double> scores, Unknown unknown) {
    return std::make_unique<const UnigramModel>(std::move(vocabulary), std::move(scores), unknown);
}

std::unique_ptr<const PieceModel> word_pieces(std::shared_ptr<const Vocabulary> vocabulary,
                                              WordPieces settings) {
    return std::make_unique<const WordPieceModel>(std::move(vocabulary), std::move(settings));
}

std::unique_ptr<const PieceModel> word_level(std::shared_ptr<const Vocabulary> vocabulary,
                                             std::optional<Index> unknown) {
    return std::make_unique<const WordLevelModel>(std::move(vocabulary), unknown);
}

}  // namespace attn
