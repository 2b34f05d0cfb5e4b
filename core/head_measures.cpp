#include "core/head_measures.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>

#include "core/stop.h"

namespace attn {
namespace {

using enum HeadMeasure;

constexpr std::string_view kClark = "Clark et al. 2019, arXiv:1906.04341";
constexpr std::string_view kPlaces = "as many queries as keys, or a query offset";
constexpr double kUnbounded = std::numeric_limits<double>::infinity();
constexpr std::string_view kTokens = "a token that occurs twice";

constexpr std::array<HeadMeasureInfo, kHeadMeasureCount> kTable{{
    {entropy, "entropy", "entropy", "mean of −Σ a ln a, nats", kUnbounded, "", kClark},
    {evenness, "evenness", "evenness", "mean of entropy / ln n, n keys allowed", 1.0,
     "a row of two keys", kClark},
    {previous, "previous", "previous token", "mean of a[i,i−1], i ≥ 1", 1.0, kPlaces, kClark},
    {diagonal, "diagonal", "own token", "mean of a[i,i]", 1.0, kPlaces, kClark},
    {next, "next", "next token", "mean of a[i,i+1], i ≤ T−2", 1.0, kPlaces, kClark},
    {sink, "sink", "first token", "mean of a[i,0], i ≥ 1", 1.0, "a query that is not the first",
     "Xiao et al. 2023, arXiv:2309.17453"},
    {duplicate, "duplicate", "duplicate token", "mean of Σ a[i,j], j ≠ i, token j = token i", 1.0,
     kTokens, "Wang et al. 2022, arXiv:2211.00593"},
    {induction, "induction", "induction", "mean of Σ a[i,j+1], j < i, token j = token i", 1.0,
     kTokens, "Olsson et al. 2022, arXiv:2209.11895"},
    {distance, "distance", "distance", "Σ a |i−j| / Σ a", kUnbounded, kPlaces,
     "Vig and Belinkov 2019, arXiv:1906.04284"},
    {confidence, "confidence", "confidence", "mean of max a[i,j] over j", 1.0, "",
     "Voita et al. 2019, arXiv:1905.09418"},
    {norm_share, "norm_share", "output share",
     "‖α V W_O‖ (‖α V‖ if there is no W_O) / Σ over heads", 1.0, "values",
     "Kobayashi et al. 2020, arXiv:2004.10102"},
    {change, "change", "change",
     "mean over rows of Σ_j α_j ln(α_j / β_j), α untouched, β now, where finite", kUnbounded,
     "interventions in a trained model", "Kullback and Leibler 1951, doi:10.1214/aoms/1177729694"},
}};

constexpr std::array kPatterns{previous, diagonal, next, duplicate, induction};

bool may(const HeadRows& head, Index i, Index j) {
    const auto at = static_cast<std::size_t>(i * head.weights.columns + j);
    return head.allowed.empty() || head.allowed[at] != 0;
}

enum class RowKind : std::uint8_t { without_keys, probabilities, other };

RowKind kind_of_row(const HeadRows& head, Index i) {
    bool any = false;
    bool negative = false;
    double sum = 0.0;
    for (Index j = 0; j < head.weights.columns; ++j) {
        if (!may(head, i, j)) continue;
        any = true;
        negative |= head.weights(i, j) < 0.0F;
        sum += head.weights(i, j);
    }
    if (!any) return RowKind::without_keys;
    const bool reaches_1 = head.sinks ? sum > 0.0 : sum >= 1.0 - kUnitRow;
    const bool valid = !negative && reaches_1 && sum <= 1.0 + kUnitRow;  // false for NaN
    return valid ? RowKind::probabilities : RowKind::other;
}

/// The rows that count, and the number of rows that are not probabilities.
struct CountedRows {
    std::vector<Index> rows;
    Index excluded = 0;
};
CountedRows rows_that_count(const HeadRows& head) {
    CountedRows counted;
    for (Index i = 0; i < head.weights.rows; ++i) {
        end_if_stopped();
        const RowKind kind = kind_of_row(head, i);
        if (kind == RowKind::probabilities) counted.rows.push_back(i);
        if (kind == RowKind::other) ++counted.excluded;
    }
    return counted;
}

/// Adds up what rows have; not defined of none.
struct Mean {
    double sum = 0.0;
    Index count = 0;
    void add(double value) {
        sum += value;
        ++count;
    }
    std::optional<double> value() const {
        if (count == 0) return std::nullopt;
        return sum / static_cast<double>(count);
    }
};

double entropy_of(std::span<const float> row) {
    double sum = 0.0;
    for (const float weight : row) {
        const double a = weight;
        if (a > 0.0) sum -= a * std::log(a);
    }
    return std::max(sum, 0.0);
}

Index keys_of(const HeadRows& head, Index i) {
    Index count = 0;
    for (Index j = 0; j < head.weights.columns; ++j) count += may(head, i, j) ? 1 : 0;
    return count;
}

float largest_weight(const HeadRows& head, Index i) {
    float largest = 0.0F;
    for (Index j = 0; j < head.weights.columns; ++j)
        if (may(head, i, j)) largest = std::max(largest, head.weights(i, j));
    return largest;
}

bool knows_tokens(const HeadRows& head) {
    const auto count = static_cast<Index>(head.tokens.size());
    return head.weights.rows == head.weights.columns && head.offset == 0 &&
           count == head.weights.rows && count > 0;
}

/// The keys that a pattern means for row i, ascending.
void fill_targets(const HeadRows& head, HeadMeasure pattern, Index i, std::vector<Index>& keys) {
    const Index last = head.weights.columns - 1;
    keys.clear();
    const auto add_at = [&](Index position) {
        if (position >= 0 && position <= last) keys = {position};
    };
    if (pattern == previous) add_at(head.position(i) - 1);
    if (pattern == diagonal) add_at(head.position(i));
    if (pattern == next) add_at(head.position(i) + 1);
    if ((pattern != duplicate && pattern != induction) || !knows_tokens(head)) return;
    const auto token = [&](Index j) { return head.tokens[j]; };
    const Index end = pattern == duplicate ? last : i - 1;
    for (Index j = 0; j <= end; ++j)
        if (j != i && token(j) == token(i)) keys.push_back(pattern == duplicate ? j : j + 1);
    std::erase_if(keys, [&](Index j) { return !may(head, i, j); });
}

std::optional<double> mean_mass(const HeadRows& head, const std::vector<Index>& rows,
                                HeadMeasure pattern) {
    if (!head.has_positions()) return std::nullopt;
    Mean mean;
    std::vector<Index> keys;
    for (const Index i : rows) {
        fill_targets(head, pattern, i, keys);
        if (keys.empty()) continue;
        double mass = 0.0;
        for (const Index j : keys) mass += may(head, i, j) ? head.weights(i, j) : 0.0;
        mean.add(mass);
    }
    return mean.value();
}

std::optional<double> mean_distance(const HeadRows& head, const std::vector<Index>& rows) {
    if (!head.has_positions()) return std::nullopt;
    double far = 0.0;
    double sum = 0.0;
    for (const Index i : rows)
        for (Index j = 0; j < head.weights.columns; ++j) {
            if (!may(head, i, j)) continue;
            sum += head.weights(i, j);
            far += head.weights(i, j) * static_cast<double>(std::abs(head.position(i) - j));
        }
    return far / sum;
}

/// Of rows, added up as HeadLabel has them.
struct Evidence {
    double taken = 0.0, even = 0.0, rest = 0.0;
    Index rows = 0;
    Index heavy_rows = 0;  // with at least kLeastRest of their weight in `rest`
    void add_rest(double weight) {
        rest += weight;
        ++rows;
        heavy_rows += weight >= kLeastRest ? 1 : 0;
    }
    std::optional<HeadLabel> label(HeadMeasure name) const {
        if (heavy_rows < kLeastNamedRows) return std::nullopt;
        const double mean = rest / static_cast<double>(rows);
        const HeadLabel made{name, taken / rest, even / rest, mean, rows};
        if (made.even >= 1.0) return std::nullopt;
        return made;
    }
};

/// What row i gives to the keys after the first, and how many they are.
struct Rest {
    double weight = 0.0;
    Index keys = 0;
};
Rest rest_of(const HeadRows& head, Index i) {
    Rest rest;
    for (Index j = 1; j < head.weights.columns; ++j) {
        if (!may(head, i, j)) continue;
        rest.weight += head.weights(i, j);
        ++rest.keys;
    }
    return rest;
}

/// `also`: a second pattern whose keys count too.
std::optional<HeadLabel> pattern_label(const HeadRows& head, const std::vector<Index>& rows,
                                       HeadMeasure pattern,
                                       std::optional<HeadMeasure> also = std::nullopt) {
    Evidence evidence;
    std::vector<Index> keys, more;
    for (const Index i : rows) {
        const Rest rest = rest_of(head, i);
        fill_targets(head, pattern, i, keys);
        if (also) fill_targets(head, *also, i, more);
        keys.insert(keys.end(), more.begin(), more.end());
        std::erase_if(keys, [&](Index j) { return j == 0 || !may(head, i, j); });
        if (keys.empty() || rest.keys < 2) continue;
        for (const Index j : keys) evidence.taken += head.weights(i, j);
        const auto share = static_cast<double>(keys.size()) / static_cast<double>(rest.keys);
        evidence.even += rest.weight * share;
        evidence.add_rest(rest.weight);
    }
    return evidence.label(pattern);
}

/// Of a head that looks at its own token: the same with the other places of that word, where they get at least half as
/// much in the rows that may attend to one.
std::optional<HeadLabel> same_word_label(const HeadRows& head, const std::vector<Index>& rows) {
    double own = 0.0, others = 0.0;
    Index counted = 0;
    std::vector<Index> keys;
    for (const Index i : rows) {
        fill_targets(head, duplicate, i, keys);
        if (keys.empty() || !may(head, i, i)) continue;
        own += head.weights(i, i);
        for (const Index j : keys) others += head.weights(i, j);
        ++counted;
    }
    if (counted < kLeastNamedRows || others < own / 2.0) return std::nullopt;
    auto label = pattern_label(head, rows, diagonal, duplicate);
    if (label) label->same_word = true;
    return label;
}

std::optional<HeadLabel> sink_label(const HeadRows& head, const std::vector<Index>& rows) {
    Evidence evidence;
    for (const Index i : rows) {
        const Index keys = keys_of(head, i);
        if (head.position(i) == 0 || keys < 2 || !may(head, i, 0)) continue;
        evidence.taken += head.weights(i, 0);
        evidence.even += 1.0 / static_cast<double>(keys);
        evidence.add_rest(1.0);
    }
    return evidence.label(sink);
}

}  // namespace

std::span<const HeadMeasureInfo, kHeadMeasureCount> head_measure_table() { return kTable; }

const HeadMeasureInfo& info(HeadMeasure measure) {
    return kTable[static_cast<std::size_t>(measure)];
}

std::optional<HeadMeasure> find_head_measure(std::string_view key) {
    const auto found = std::ranges::find(kTable, key, &HeadMeasureInfo::key);
    if (found == kTable.end()) return std::nullopt;
    return found->measure;
}

bool is_head_label(HeadMeasure measure) {
    return measure == sink || std::ranges::find(kPatterns, measure) != kPatterns.end();
}

std::string_view title_of(const HeadLabel& label) {
    return label.same_word ? "same word" : info(label.name).title;
}

std::vector<Index> token_numbers(std::span<const std::string> tokens) {
    std::unordered_map<std::string_view, Index> seen;
    std::vector<Index> numbers;
    for (const std::string& token : tokens)
        numbers.push_back(seen.try_emplace(token, std::ssize(seen)).first->second);
    return numbers;
}

HeadMeasures measure_head(const HeadRows& head) {
    HeadMeasures measures;
    const auto [rows, excluded] = rows_that_count(head);
    measures.rows = std::ssize(rows);
    measures.excluded = excluded;
    if (rows.empty()) return measures;
    Mean entropies;
    Mean even;
    Mean first;
    Mean largest;
    for (const Index i : rows) {
        const double row = entropy_of(head.weights.row(i));
        const Index keys = keys_of(head, i);
        entropies.add(row);
        largest.add(largest_weight(head, i));
        if (keys >= 2) even.add(row / std::log(static_cast<double>(keys)));
        if (head.position(i) >= 1) first.add(may(head, i, 0) ? head.weights(i, 0) : 0.0);
    }
    measures[entropy] = entropies.value();
    measures[evenness] = even.value();
    measures[sink] = first.value();
    measures[confidence] = largest.value();
    for (const HeadMeasure pattern : kPatterns) measures[pattern] = mean_mass(head, rows, pattern);
    measures[distance] = mean_distance(head, rows);
    return measures;
}

double head_output_norm(MatrixView<const float> context, MatrixView<const float> w_o) {
    double squares = 0.0;
    std::vector<double> row;
    for (Index i = 0; i < context.rows; ++i) {
        end_if_stopped();
        if (w_o.rows == 0) {
            for (const float value : context.row(i)) squares += double{value} * value;
            continue;
        }
        row.assign(w_o.columns, 0.0);
        for (Index c = 0; c < context.columns; ++c) {
            const double by = context(i, c);
            const auto weights = w_o.row(c);
            for (std::size_t o = 0; o < row.size(); ++o) row[o] += by * weights[o];
        }
        for (const double value : row) squares += value * value;
    }
    return std::sqrt(squares);
}

std::vector<std::optional<double>> norm_shares(std::span<const double> norms) {
    double sum = 0.0;
    for (const double norm : norms) sum += norm;
    std::vector<std::optional<double>> shares(norms.size());
    if (!std::isfinite(sum) || sum <= 0.0) return shares;
    for (std::size_t n = 0; n < norms.size(); ++n) shares[n] = norms[n] / sum;
    return shares;
}

double row_divergence(std::span<const float> a, std::span<const float> b) {
    double sum = 0.0;
    for (std::size_t j = 0; j < a.size(); ++j) {
        const double p = a[j];
        const double q = b[j];
        if (std::isnan(p) || std::isnan(q)) return std::numeric_limits<double>::quiet_NaN();
        if (p == 0.0) continue;
        if (q == 0.0) sum = std::numeric_limits<double>::infinity();
        if (std::isfinite(sum)) sum += p * std::log(p / q);
    }
    return sum;
}

std::optional<HeadLabel> propose_label(const HeadRows& head) {
    const std::vector<Index> rows = rows_that_count(head).rows;
    if (rows.empty()) return std::nullopt;
    std::optional<HeadLabel> best;
    if (head.has_positions())
        for (const HeadMeasure pattern : kPatterns) {
            const auto label = pattern_label(head, rows, pattern);
            if (!label || label->rest < kLeastRest || label->lift() < kNamedLift) continue;
            if (!best || label->lift() > best->lift()) best = label;
        }
    if (best && best->name == diagonal)
        if (const auto text = same_word_label(head, rows)) best = text;
    if (best) return best;
    const auto first = sink_label(head, rows);
    if (first && first->lift() >= kSinkLift) return first;
    return std::nullopt;
}

}  // namespace attn
