// Faults where the keys of a row are split between blocks whose results are merged, and of the sink. b sequence, h head, i query, s split,
// l_s its logsumexp, O_s its output.

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numbers>
#include <set>

#include <fmt/format.h>

#include "core/call.h"
#include "core/scores/score.h"
#include "core/verify/replay.h"
#include "core/verify/row_trials.h"
#include "core/verify/serving.h"

namespace attn::verify {
namespace {

/// How the keys of each sequence are split.
struct Splitting {
    std::string text;                        // "4 splits"
    std::vector<std::vector<Index>> starts;  // of each sequence, as Serving::splits
};

/// Those of the call where it has them, else those that kernels choose.
std::vector<Splitting> splittings(const Subject& subject) {
    const Serving& serving = *subject.serving;
    if (!serving.splits.empty())
        return {{fmt::format("{} splits", serving.splits.front().size() - 1), serving.splits}};
    constexpr Index kCounts[] = {2, 3, 4, 5, 6, 7, 8, 10, 12, 16, 32};
    std::vector<Index> units{1, 16, 32, 64, 128, 256};
    if (serving.paged()) units.push_back(serving.page);
    std::vector<Splitting> made;
    std::set<std::vector<std::vector<Index>>> known;
    const Index longest = std::ranges::max(serving.keys);
    for (const Index count : kCounts)
        for (const Index unit : units) {
            if (count > longest || unit > longest) continue;
            std::vector<std::vector<Index>> starts;
            for (const Index keys : serving.keys) starts.push_back(split_starts(keys, count, unit));
            if (known.insert(starts).second)
                made.push_back(
                    {fmt::format("{} splits, in multiples of {}", count, unit), std::move(starts)});
        }
    return made;
}

/// Results of each split of one row, without the sink.
struct SplitRow {
    std::vector<double> l;
    std::vector<std::vector<double>> weights, context;  // of each split, summing to 1

    Index count() const { return std::ssize(l); }
};

class Splitter {
  public:
    Splitter(const Subject& subject, const Splitting& splitting)
        : subject_(subject), splitting_(splitting) {}

    SplitRow of(const Row& row) const {
        SplitRow made;
        const auto& starts = splitting_.starts[static_cast<std::size_t>(row.b)];
        const Index first =
            subject_.size.tk - subject_.serving->keys[static_cast<std::size_t>(row.b)];
        for (std::size_t s = 0; s + 1 < starts.size(); ++s) {
            std::vector<double> logits(row.logits.size(), kMinusInfinity);
            for (Index j = first + starts[s]; j < first + starts[s + 1]; ++j)
                logits[static_cast<std::size_t>(j)] = row.logits[static_cast<std::size_t>(j)];
            MadeRow one = softmax_of(logits);
            std::vector<double> context(static_cast<std::size_t>(row.v.columns), 0.0);
            for (std::size_t j = 0; j < logits.size(); ++j) {
                if (one.weights[j] == 0.0) continue;
                const auto value = row.v.row(static_cast<Index>(j));
                for (std::size_t c = 0; c < context.size(); ++c)
                    context[c] += one.weights[j] * value[c];
            }
            made.l.push_back(one.logsumexp);
            made.weights.push_back(std::move(one.weights));
            made.context.push_back(std::move(context));
        }
        return made;
    }
    double sink(Index h) const {
        const TensorD& sinks = subject_.inputs.params[Param::sinks];
        return sinks.empty() ? kMinusInfinity : sinks(0, 0, 0, h);
    }

  private:
    const Subject& subject_;
    const Splitting& splitting_;
};

/// Σ_s w_s O_s.
MadeRow weighted(const SplitRow& parts, const std::vector<double>& factors, double logsumexp) {
    MadeRow made{std::vector<double>(parts.weights.front().size(), 0.0), logsumexp,
                 std::vector<double>(parts.context.front().size(), 0.0)};
    for (std::size_t s = 0; s < factors.size(); ++s) {
        if (factors[s] == 0.0) continue;
        for (std::size_t j = 0; j < made.weights.size(); ++j)
            made.weights[j] += factors[s] * parts.weights[s][j];
        for (std::size_t c = 0; c < made.context.size(); ++c)
            made.context[c] += factors[s] * parts.context[s][c];
    }
    return made;
}

/// With these logsumexps in the place of the splits' own, in powers of `base`.
MadeRow merged_by(const SplitRow& parts, const std::vector<double>& l, double sink,
                  double base = std::numbers::e) {
    double most = sink;
    for (const double each : l) most = std::max(most, each);
    std::vector<double> factors(l.size(), 0.0);
    if (most == kMinusInfinity) return weighted(parts, factors, most);
    const double rate = std::log(base);
    double sum = std::exp(rate * (sink - most));
    for (const double each : l) sum += std::exp(rate * (each - most));
    for (std::size_t s = 0; s < l.size(); ++s) factors[s] = std::exp(rate * (l[s] - most)) / sum;
    return weighted(parts, factors, most + std::log(sum) / rate);
}

double right_logsumexp(const SplitRow& parts, double sink) {
    return merged_by(parts, parts.l, sink).logsumexp;
}

/// Tries each way of one splitting.
class MergeTrials {
  public:
    MergeTrials(const Trial& trial, RowTrials& rows, const Splitting& splitting)
        : trial_(trial), rows_(rows), splitting_(splitting), splitter_(trial.subject, splitting) {}

    bool missing() {
        for (Index s = 0; s < count(); ++s) {
            if (!with(fmt::format("split {} is missing", s), [s](SplitRow& parts, double sink) {
                    parts.l[static_cast<std::size_t>(s)] = kMinusInfinity;
                    return merged_by(parts, parts.l, sink);
                }))
                return false;
            if (count() > 2 &&
                !with(fmt::format("split {} alone is taken", s), [s](SplitRow& parts, double sink) {
                    for (Index other = 0; other < parts.count(); ++other)
                        if (other != s) parts.l[static_cast<std::size_t>(other)] = kMinusInfinity;
                    return merged_by(parts, parts.l, sink);
                }))
                return false;
        }
        return true;
    }
    bool equal() {
        const auto mean = [](const SplitRow& parts, double sink, bool all) {
            const Index filled = parts.count() - std::ranges::count(parts.l, kMinusInfinity);
            const Index by = all ? parts.count() : std::max<Index>(filled, 1);
            return weighted(parts,
                            std::vector<double>(parts.l.size(), 1.0 / static_cast<double>(by)),
                            right_logsumexp(parts, sink));
        };
        return with("the splits are weighted equally",
                    [&](SplitRow& parts, double sink) { return mean(parts, sink, false); }) &&
               with("the splits are weighted equally, empty ones too",
                    [&](SplitRow& parts, double sink) { return mean(parts, sink, true); }) &&
               with("the splits are added up without weights",
                    [](SplitRow& parts, double sink) {
                        return weighted(parts, std::vector<double>(parts.l.size(), 1.0),
                                        right_logsumexp(parts, sink));
                    }) &&
               with("the splits are weighted by their logsumexp, not by its exponential",
                    [](SplitRow& parts, double sink) {
                        double sum = 0.0;
                        for (const double l : parts.l) sum += l == kMinusInfinity ? 0.0 : l;
                        std::vector<double> factors;
                        for (const double l : parts.l)
                            factors.push_back(l == kMinusInfinity ? 0.0 : l / sum);
                        return weighted(parts, factors, right_logsumexp(parts, sink));
                    });
    }
    bool wrong_base() {
        const std::pair<double, std::string_view> kBases[] = {
            {2.0, "2^l is taken of natural logarithms"},
            {std::exp(std::numbers::log2e), "e^l is taken of logarithms of base 2"}};
        for (const auto& [base, text] : kBases)
            for (const bool right : {true, false})
                if (!with(std::string(text) + (right ? "" : ", in logsumexp too"),
                          [right, by = base](SplitRow& parts, double sink) {
                              MadeRow made = merged_by(parts, parts.l, sink, by);
                              if (right) made.logsumexp = right_logsumexp(parts, sink);
                              return made;
                          }))
                    return false;
        return true;
    }
    bool wrong_slot() {
        const Dimensions& size = trial_.subject.size;
        struct Slot {
            std::string_view text;
            Index b, h, i, s;
        };
        constexpr Slot kSlots[] = {
            {"of the next sequence", 1, 0, 0, 0}, {"of the sequence before", -1, 0, 0, 0},
            {"of the next head", 0, 1, 0, 0},     {"of the head before", 0, -1, 0, 0},
            {"of the next query", 0, 0, 1, 0},    {"of the query before", 0, 0, -1, 0},
            {"of the next split", 0, 0, 0, 1},    {"of the split before", 0, 0, 0, -1}};
        const auto moved = [](Index n, Index by, Index count) { return (n + by + count) % count; };
        for (const Slot& slot : kSlots) {
            const bool same = (slot.b != 0 && size.batch == 1) ||
                              (slot.h != 0 && size.heads == 1) || (slot.i != 0 && size.tq == 1);
            if (!same &&
                !with_row(fmt::format("the logsumexp {} is taken", slot.text),
                          [&](const Row& row, const SplitRow& parts, double sink) {
                              const Row other = rows_.row(moved(row.b, slot.b, size.batch),
                                                          moved(row.h, slot.h, size.heads),
                                                          moved(row.i, slot.i, size.tq));
                              const SplitRow of = splitter_.of(other);
                              std::vector<double> l;
                              for (Index s = 0; s < of.count(); ++s)
                                  l.push_back(
                                      of.l[static_cast<std::size_t>(moved(s, slot.s, of.count()))]);
                              return merged_by(parts, l, sink);
                          }))
                return false;
        }
        for (Index b = 0; b < size.batch && size.batch > 1; ++b)
            if (!with_row(fmt::format("the logsumexp of sequence {} is taken", b),
                          [&](const Row& row, const SplitRow& parts, double sink) {
                              return merged_by(parts, splitter_.of(rows_.row(b, row.h, row.i)).l,
                                               sink);
                          }))
                return false;
        return true;
    }
    /// In each split that has a key, or in all of them.
    bool repeated_sink() {
        for (const bool again : {false, true})
            for (const bool all : {false, true})
                if (!with(fmt::format("the sink is counted in {} split{}",
                                      all ? "every" : "every filled",
                                      again ? ", and once more where they are merged" : ""),
                          [all, again](SplitRow& parts, double sink) {
                              const Index filled =
                                  all ? parts.count()
                                      : parts.count() - std::ranges::count(parts.l, kMinusInfinity);
                              const auto times = static_cast<double>(filled + (again ? 1 : 0));
                              return merged_by(parts, parts.l, sink + std::log(times));
                          }))
                    return false;
        return true;
    }

  private:
    Index count() const { return std::ssize(splitting_.starts.front()) - 1; }
    template <class Make>
    bool with_row(const std::string& text, Make make) {
        return rows_.attempt(fmt::format("{} ({})", text, splitting_.text), [&](const Row& row) {
            SplitRow parts = splitter_.of(row);
            return make(row, parts, splitter_.sink(row.h));
        });
    }
    template <class Make>
    bool with(const std::string& text, Make make) {
        return with_row(
            text, [&](const Row&, SplitRow& parts, double sink) { return make(parts, sink); });
    }

    const Trial& trial_;
    RowTrials& rows_;
    const Splitting& splitting_;
    Splitter splitter_;
};

}  // namespace

Reason wrong_merge(const Trial& trial, const Take& take) {
    if (!trial.subject.serving)
        return "nothing indicates splits: there are neither pages, cu_seqlens nor splits";
    RowTrials rows(trial, take, RowTrials::Sinks::counted);
    for (const Splitting& splitting : splittings(trial.subject)) {
        MergeTrials trials(trial, rows, splitting);
        if (!trials.missing() || !trials.equal() || !trials.wrong_base() || !trials.wrong_slot())
            return {};
    }
    return rows.reason();
}

Reason wrong_sinks(const Trial& trial, const Take& take) {
    const Subject& subject = trial.subject;
    const Index heads = subject.size.heads;
    const Replay right = replay_of(subject);
    if (right.sinks.empty()) return "the call has no sinks";
    Replay none = right;
    none.sinks = {};
    if (!take("dropped", run(subject, none))) return {};
    TraceD without = subject.reference;
    Subject whole = subject;
    whole.screen.reset();
    without.logsumexp = run(whole, none).logsumexp;
    if (!take("left out of logsumexp alone", std::move(without))) return {};
    const auto with = [&](const std::string& text, const std::function<double(Index h)>& sink) {
        Replay replay = right;
        for (Index h = 0; h < heads; ++h) replay.sinks(0, 0, 0, h) = sink(h);
        return take(text, run(subject, replay));
    };
    const auto of = [&](Index h) { return right.sinks(0, 0, 0, h); };
    const Index group = heads / subject.size.kv_heads;
    const double factor = score_factor(subject.spec, subject.size.d_k);
    if (!with("of head 0 in every head", [&](Index) { return of(0); })) return {};
    if (!with("of the next head", [&](Index h) { return of((h + 1) % heads); })) return {};
    if (!with("of the head before", [&](Index h) { return of((h + heads - 1) % heads); }))
        return {};
    if (!with("of the heads in reverse order", [&](Index h) { return of(heads - 1 - h); }))
        return {};
    if (!with("of head h / (H / Hkv)", [&](Index h) { return of(h / group); })) return {};
    if (!with("multiplied by the scale", [&](Index h) { return factor * of(h); })) return {};
    if (!with("of the wrong sign", [&](Index h) { return -of(h); })) return {};
    if (!with("0 in every head", [](Index) { return 0.0; })) return {};
    if (!with("in base 2", [&](Index h) { return of(h) * std::numbers::ln2; })) return {};
    for (const double times : {2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 16.0})
        if (!with(fmt::format("counted {} times, as once per split", times),
                  [&](Index h) { return of(h) + std::log(times); }))
            return {};
    if (!subject.serving) return {};
    RowTrials rows(trial, take, RowTrials::Sinks::counted);
    for (const Splitting& splitting : splittings(subject))
        if (!MergeTrials(trial, rows, splitting).repeated_sink()) return {};
    return {};
}

}  // namespace attn::verify
