#pragma once

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/corpus/exact_sum.h"
#include "core/corpus/texts.h"
#include "core/head_measures.h"
#include "core/heads/place.h"
#include "core/result.h"

namespace attn {

// What the measures of every head are over many texts. All of it is kept so that parts of a corpus, in whatever order and
// grouping they are put together, give the same bits as all of it at once.

/// The text that shows an extreme; of equal values the one that comes first in its file, of several files by their names.
struct Extreme {
    double value = 0.0;
    std::shared_ptr<const CorpusText> text;
};

/// One measure of one head.
class MeasureStatistics {
  public:
    void add(double value, const std::shared_ptr<const CorpusText>& text);
    void add(const MeasureStatistics& other);

    Index texts = 0;  // of which it is defined
    ExactSum sum, squares;
    std::optional<Extreme> least, most;

    /// nullopt: it is defined of no text.
    std::optional<double> mean() const;
    /// √(Σ (x − mean)² / n), from sums that were not rounded.
    std::optional<double> deviation() const;
};

/// Measures that a head has of a text by itself: not those of a change.
inline constexpr std::size_t kCorpusMeasures = kHeadMeasureCount - 1;

struct CorpusHead {
    HeadPlace place;
    std::array<MeasureStatistics, kCorpusMeasures> measures;
    const MeasureStatistics& operator[](HeadMeasure measure) const {
        return measures[static_cast<std::size_t>(measure)];
    }
};

/// Texts first … end − 1 of a file.
struct TextRange {
    Index first = 0, end = 0;
    auto operator<=>(const TextRange&) const = default;
};
/// The texts of a file that were looked at: ranges in order, with gaps between them.
struct TextsOf {
    std::string name;
    std::vector<TextRange> ranges;
    bool contains(Index number) const;
    bool contains(const TextRange& range) const;
};

/// Texts that are not among those that are measured.
struct LeftOutTexts {
    static constexpr std::size_t kMostNamed = 20;
    Index count = 0;
    std::set<std::pair<Index, std::string>> first;  // number and file of the first ones
    void add(Index number, const std::string& file);
    void add(const LeftOutTexts& other);
};

/// What was measured with what: only results of the same are put together.
struct CorpusModel {
    std::string path;    // as it was opened; not compared
    std::string mark;    // fingerprint() of it
    std::string family;  // in words
    Index layers = 0, heads = 0;
    Index batch = 0;  // texts that were computed together: rounding depends on it
};

class CorpusResult {
  public:
    CorpusResult() = default;
    explicit CorpusResult(CorpusModel of);

    CorpusModel model;
    std::map<std::string, TextsOf> files;  // by their fingerprint()
    Index texts = 0, tokens = 0;           // that were measured
    std::array<LeftOutTexts, kLeftOutCount> left_out;
    std::vector<CorpusHead> heads;  // layer by layer

    /// A text of `tokens` tokens, with the measures of each head.
    void add(const std::shared_ptr<const CorpusText>& text, Index tokens,
             const std::vector<HeadMeasures>& measures);
    void leave_out(const CorpusText& text, LeftOut why);
    /// Texts of that file were looked at.
    void cover(const std::string& mark, const std::string& name, TextRange range);
    /// An error, and nothing changed, where the models are others, or a text is in both.
    Result<void> merge(const CorpusResult& other);

    /// Whether every text that the other looked at was looked at here.
    bool contains(const CorpusResult& other) const;

    const CorpusHead& head(HeadPlace place) const {
        return heads[place.layer * model.heads + place.head];
    }
};

}  // namespace attn
