// Faults of kernels that serve sequences from pages, or from one array of all sequences. b sequence, n its queries, m its keys, h head, i
// query row, p position of a key, P rows of a page.

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include <fmt/format.h>

#include "core/bias.h"
#include "core/entries.h"
#include "core/kernels/reference_parts.h"
#include "core/qk_norm.h"
#include "core/rotary.h"
#include "core/scores/operands.h"
#include "core/scores/score.h"
#include "core/spec_arrays.h"
#include "core/text.h"
#include "core/verify/replay.h"
#include "core/verify/row_trials.h"
#include "core/verify/serving.h"

namespace attn::verify {
namespace {

std::size_t serving_place(Index n) { return static_cast<std::size_t>(n); }

enum class Operands { both, keys, values };
constexpr std::pair<Operands, std::string_view> kOperands[] = {
    {Operands::both, ""}, {Operands::keys, ", of K alone"}, {Operands::values, ", of V alone"}};

/// The rows that a kernel reads in the place of one sequence's keys.
struct Reading {
    Index count = 0;   // positions that it goes through
    Index length = 0;  // m as it knows it, from which it counts the positions of its queries
    std::function<Index(Index p)> row =
        {};  // of the stored rows; −1: zeros; −2: the position is left out
    Operands operands = Operands::both;  // what `row` is of; the other is read rightly
    bool open_end = false;               // positions from m on are seen whatever the mask is
    const double* query = nullptr;       // another query's numbers, before RoPE
};

constexpr Index kZeros = -1, kLeftOut = -2;

/// Rows of a call as a serving kernel makes them.
class ServingRows {
  public:
    explicit ServingRows(const Trial& trial)
        : subject_(trial.subject), serving_(*trial.subject.serving) {
        const AttentionSpec& spec = subject_.spec;
        if (spec.qk_norm)
            normalised_ = normalise_rows(
                serving_.k_rows, subject_.inputs.params[Param::k_norm_weight], *spec.qk_norm);
        if (!spec.rope || spec.rope->tables) return;
        Index positions = subject_.size.tk;
        for (Index b = 0; b < sequences(); ++b) positions = std::max(positions, capacity(b));
        for (Index p = 0; p <= positions; ++p)
            for (Index c = 0; c < turning_columns() / 2; ++c) turns_.push_back(turn_at(p, c));
    }

    Index keys(Index b) const { return serving_.keys[serving_place(b)]; }
    Index queries(Index b) const { return serving_.queries[serving_place(b)]; }
    Index sequences() const { return std::ssize(serving_.keys); }
    Index page() const { return serving_.page; }
    Index stored() const { return serving_.k_rows.shape().t; }

    /// The stored row of position p; kZeros: none.
    Index row(Index b, Index p) const {
        const auto& rows = serving_.rows[serving_place(b)];
        if (p < 0 || rows.empty()) return kZeros;
        if (serving_.packed) return rows.front() + p < stored() ? rows.front() + p : kZeros;
        return p < std::ssize(rows) ? rows[serving_place(p)] : kZeros;
    }
    /// Positions that a sequence's pages, or its part of a packed array, can hold.
    Index capacity(Index b) const { return std::ssize(serving_.rows[serving_place(b)]); }

    MadeRow make(const Row& row, const Reading& reading) const {
        const Index m = keys(row.b), first = subject_.size.tk - m;
        const Index g = row.h / (subject_.size.heads / subject_.size.kv_heads);
        const std::vector<double> q = query(row, reading);
        std::vector<double> scratch;
        std::vector<Entry> entries;
        for (Index p = 0; p < reading.count; ++p) {
            if (!sees(row, p, reading)) continue;
            const Index own = this->row(row.b, p), other = reading.row ? reading.row(p) : own;
            if (other == kLeftOut) continue;
            const Index key = reading.operands == Operands::values ? own : other;
            const Index value = reading.operands == Operands::keys ? own : other;
            entries.push_back(
                {logit(row, key_numbers(row.b, key, p, g, scratch), q, p, reading),
                 p < m ? first + p : -1,
                 value < 0 ? nullptr : serving_.v_rows.matrix(0, g).row(value).data()});
        }
        const TensorD& sinks = subject_.inputs.params[Param::sinks];
        if (!sinks.empty()) entries.push_back({sinks(0, 0, 0, row.h), -1, nullptr});
        return softmax_over(row, entries);
    }

  private:
    /// p of the query less p of the key.
    Index distance(const Row& row, Index p, Index length) const {
        const Index m = keys(row.b);
        return row.i + subject_.size.query_offset - (subject_.size.tk - m + p) + length - m;
    }
    bool sees(const Row& row, Index p, const Reading& reading) const {
        const Index m = keys(row.b);
        if (p >= m && reading.open_end) return true;
        if (reading.length == m && p < m)
            return subject_.allowed(row.b, row.h, row.i, subject_.size.tk - m + p) != 0;
        const MaskSpec& mask = subject_.spec.mask;
        const Index distance = this->distance(row, p, reading.length);
        const auto within = [](std::optional<Index> most, Index value) {
            return !most || value <= *most;
        };
        return (!mask.causal || distance >= 0) && within(mask.window, std::abs(distance)) &&
               within(mask.window_left, distance) && within(mask.window_right, -distance);
    }
    // ---- queries and keys after RoPE, at the positions of their own sequence

    Index turning_columns() const { return subject_.spec.rope->dims.value_or(subject_.size.d_k); }
    RotaryTurn turn_at(Index p, Index c) const {
        const double angle =
            static_cast<double>(p) * rope_frequency(*subject_.spec.rope, c, turning_columns());
        return {std::cos(angle), std::sin(angle)};
    }
    template <class Turn>
    void turn(double* x, const Turn& turn_of_pair) const {
        const Rope& rope = *subject_.spec.rope;
        const Index dims = turning_columns();
        for (Index c = 0; c < dims / 2; ++c) {
            const bool half = rope.pairs == RopePairs::half;
            double &a = x[half ? c : 2 * c], &b = x[half ? c + dims / 2 : 2 * c + 1];
            const RotaryTurn by = turn_of_pair(c);
            const double old = a;
            a = old * by.cosine - b * by.sine;
            b = old * by.sine + b * by.cosine;
        }
    }
    std::vector<double> query(const Row& row, const Reading& reading) const {
        const auto own = operand(subject_, Stage::q_norm).matrix(row.b, row.h).row(row.i);
        const double* const from = reading.query != nullptr ? reading.query : own.data();
        std::vector<double> q(from, from + own.size());
        if (!subject_.spec.rope) return q;
        const bool tables = subject_.spec.rope->tables != nullptr;
        const Index position =
            row.i + subject_.size.query_offset - subject_.size.tk + reading.length;
        turn(q.data(), [&](Index c) {
            return tables ? rotary_turn(*subject_.spec.rope, subject_.size, Rotated::queries,
                                        {row.b, row.i, c})
                          : turn_at(position, c);
        });
        return q;
    }
    /// The stored row `key` as that of position p; empty: zeros.
    std::span<const double> key_numbers(Index b, Index key, Index p, Index g,
                                        std::vector<double>& scratch) const {
        if (key < 0) return {};
        const TensorD& rows = subject_.spec.qk_norm ? normalised_ : serving_.k_rows;
        const auto stored = rows.matrix(0, g).row(key);
        if (!subject_.spec.rope) return stored;
        scratch.assign(stored.begin(), stored.end());
        const Index pairs = turning_columns() / 2;
        const Index column = std::min(subject_.size.tk - keys(b) + p, subject_.size.tk - 1);
        turn(scratch.data(), [&](Index c) {
            return turns_.empty() ? rotary_turn(*subject_.spec.rope, subject_.size, Rotated::keys,
                                                {b, column, c})
                                  : turns_[serving_place(p * pairs + c)];
        });
        return scratch;
    }

    double logit(const Row& row, std::span<const double> k, const std::vector<double>& q, Index p,
                 const Reading& reading) const {
        const AttentionSpec& spec = subject_.spec;
        const Index width = subject_.size.d_k, m = keys(row.b);
        double dot = 0.0;
        for (std::size_t c = 0; c < k.size(); ++c) dot += q[c] * k[c];
        const double scaled = product_factor(spec, width) * dot;
        const double bias = spec.mask.bias && p < m
                                ? bias_at(spec.mask, row.b, row.h, row.i, subject_.size.tk - m + p)
                                : 0.0;
        double value = spec.bias_before_softcap ? scaled + bias : scaled;
        if (spec.softcap) value = *spec.softcap * std::tanh(value / *spec.softcap);
        if (!spec.bias_before_softcap) value += bias;
        if (!spec.alibi) return value;
        const auto away = static_cast<double>(std::abs(distance(row, p, reading.length)));
        return value - alibi_slope(row.h, subject_.size.heads) * away;
    }

    const Subject& subject_;
    const Serving& serving_;
    TensorD normalised_;             // the stored rows of K after QK-norm
    std::vector<RotaryTurn> turns_;  // of each position and column pair; empty: RoPE has tables
};

/// "": faults of the kernel's reads can be tried.
Reason not_served(const Trial& trial) {
    const Subject& subject = trial.subject;
    if (!subject.serving || subject.serving->k_rows.empty())
        return "K and V are given whole: neither pages nor one array of all sequences";
    if (subject.spec.score != Score::dot) return "only dot products are tried";
    return {};
}

/// Tries readings, of every sequence or of one alone.
class Readings {
  public:
    Readings(const Trial& trial, const Take& take)
        : rows(trial), trials_(trial, take, RowTrials::Sinks::counted) {}

    /// False: no other way needs to be tried.
    template <class Make>
    bool every(const std::string& text, Make reading) {
        return trials_.attempt(text,
                               [&](const Row& row) { return rows.make(row, reading(row.b)); });
    }
    /// The same where one sequence alone is read otherwise.
    template <class Make>
    bool one(const std::string& text, Index b, Make reading) {
        if (!concerns(b)) return true;
        return trials_.attempt(text, [&](const Row& row) {
            return row.b == b ? rows.make(row, reading(b)) : trials_.right({row.b, row.h, row.i});
        });
    }
    bool with(const std::string& text, const MakeRow& make) { return trials_.attempt(text, make); }
    Reading right(Index b) const { return {rows.keys(b), rows.keys(b)}; }
    bool concerns(Index b) const { return trials_.concerns(b); }
    Reason reason() const { return trials_.reason(); }

    const ServingRows rows;

  private:
    RowTrials trials_;
};

// ---- pages

/// Which row a kernel reads at position p of sequence b.
struct PageRead {
    std::string_view text;
    Index (*row)(const ServingRows& rows, Index b, Index p);
};
Index or_own(const ServingRows& rows, Index b, Index p, Index other) {
    const Index row = rows.row(b, other);
    return row < 0 ? rows.row(b, p) : row;
}
constexpr PageRead kPageReads[] = {
    {"the first row of every page is left out",
     [](const ServingRows& rows, Index b, Index p) {
         return p % rows.page() == 0 ? kLeftOut : rows.row(b, p);
     }},
    {"the last row of every page is left out",
     [](const ServingRows& rows, Index b, Index p) {
         return p % rows.page() == rows.page() - 1 ? kLeftOut : rows.row(b, p);
     }},
    {"the first row of every page but the first is left out",
     [](const ServingRows& rows, Index b, Index p) {
         return p > 0 && p % rows.page() == 0 ? kLeftOut : rows.row(b, p);
     }},
    {"the last row of every page is read from the next page",
     [](const ServingRows& rows, Index b, Index p) {
         return p % rows.page() == rows.page() - 1 ? or_own(rows, b, p, p + rows.page())
                                                   : rows.row(b, p);
     }},
    {"the first row of every page is read from the page before",
     [](const ServingRows& rows, Index b, Index p) {
         return p % rows.page() == 0 ? or_own(rows, b, p, p - rows.page()) : rows.row(b, p);
     }},
    {"the first row of every page is the last one of the page before",
     [](const ServingRows& rows, Index b, Index p) {
         return p % rows.page() == 0 ? or_own(rows, b, p, p - 1) : rows.row(b, p);
     }},
    {"the last row of every page is the first one of the next page",
     [](const ServingRows& rows, Index b, Index p) {
         return p % rows.page() == rows.page() - 1 ? or_own(rows, b, p, p + 1) : rows.row(b, p);
     }},
    {"rows are read one row late",
     [](const ServingRows& rows, Index b, Index p) { return or_own(rows, b, p, p + 1); }},
    {"rows are read one row early",
     [](const ServingRows& rows, Index b, Index p) { return or_own(rows, b, p, p - 1); }},
    {"rows of a page are read in reverse order",
     [](const ServingRows& rows, Index b, Index p) {
         return or_own(rows, b, p,
                       p / rows.page() * rows.page() + rows.page() - 1 - p % rows.page());
     }},
};

Index whole_pages(Index keys, Index page) { return (keys + page - 1) / page * page; }

bool try_page_tails(Readings& readings) {
    const ServingRows& rows = readings.rows;
    const Index page = rows.page();
    const std::string of = fmt::format("the last page, of {} rows", page);
    if (!readings.every(of + ", is left out where it is not full", [&](Index b) {
            return Reading{rows.keys(b) / page * page, rows.keys(b)};
        }))
        return false;
    for (const bool zeros : {false, true})
        for (const bool open : {true, false})
            for (const auto& [operands, alone] : kOperands) {
                if (zeros && operands == Operands::keys) continue;
                const auto reading = [&, part = operands](Index b) {
                    const Index m = rows.keys(b), count = m > 0 ? whole_pages(m, page) : 0;
                    return Reading{count, open ? m : count,
                                   [&rows, zeros, b, m](Index p) {
                                       return zeros && p >= m ? kZeros : rows.row(b, p);
                                   },
                                   part, open};
                };
                if (operands != Operands::both && !zeros) continue;
                if (!readings.every(
                        fmt::format("{} is read whole, its rows beyond seq_len count{}{}{}", of,
                                    zeros ? " as zeros" : "",
                                    open ? "" : ", and positions are counted from its end", alone),
                        reading))
                    return false;
            }
    return true;
}

// ---- tables

constexpr Index kMostPageTrials = 4096;

std::string page_text(Index b, Index n, Index read, Index own) {
    return fmt::format("sequence {} reads page {} in place of page {}, entry {} of its row", b,
                       read, own, n);
}

/// Every stored page in the place of every page, or those that lie near in the table where there are many.
bool try_stale_pages(Readings& readings, Index b) {
    const ServingRows& rows = readings.rows;
    const Index page = rows.page(), m = rows.keys(b), count = whole_pages(m, page) / page;
    const Index stored = rows.stored() / page;
    for (Index n = 0; n < count; ++n) {
        const Index own = rows.row(b, n * page) / page;
        std::vector<Index> others;
        if (count * stored <= kMostPageTrials)
            for (Index c = 0; c < stored; ++c) others.push_back(c);
        else
            for (const Index at : {n - 1, n + 1})
                if (const Index row = rows.row(b, at * page); row >= 0)
                    others.push_back(row / page);
        if (std::ranges::count(others, 0) == 0) others.push_back(0);
        for (const Index other : others) {
            if (other == own) continue;
            for (const auto& [operands, alone] : kOperands)
                if (!readings.one(page_text(b, n, other, own) + std::string(alone), b,
                                  [&, part = operands](Index) {
                                      return Reading{m, m,
                                                     [&, n, other, page, b](Index p) {
                                                         return p / page == n
                                                                    ? other * page + p % page
                                                                    : rows.row(b, p);
                                                     },
                                                     part};
                                  }))
                    return false;
        }
    }
    return true;
}

/// Entry n of every row of the table is read as entry other(n).
bool try_shifted_entries(Readings& readings) {
    const ServingRows& rows = readings.rows;
    const Index page = rows.page();
    constexpr std::pair<Index, std::string_view> kSteps[] = {
        {1, "the table is read one entry late"}, {-1, "the table is read one entry early"}};
    for (const auto& [step, text] : kSteps)
        for (const auto& [operands, alone] : kOperands)
            if (!readings.every(std::string(text) + std::string(alone),
                                [&, by = step, part = operands](Index b) {
                                    return Reading{rows.keys(b), rows.keys(b),
                                                   [&rows, by, page, b](Index p) {
                                                       return or_own(rows, b, p, p + by * page);
                                                   },
                                                   part};
                                }))
                return false;
    return readings.every("every entry of the table is read as its first", [&](Index b) {
        return Reading{rows.keys(b), rows.keys(b),
                       [&rows, page, b](Index p) { return rows.row(b, p % page); }};
    });
}

/// Sequence b has the rows of another one; positions that it does not have stay.
bool try_other_rows(Readings& readings) {
    const ServingRows& rows = readings.rows;
    const Index count = rows.sequences();
    const auto reads = [&](Index b, Index other, Operands operands) {
        return Reading{rows.keys(b), rows.keys(b),
                       [&rows, b, other](Index p) {
                           const Index row = rows.row(other, p);
                           return row < 0 ? rows.row(b, p) : row;
                       },
                       operands};
    };
    struct OtherSequence {
        std::string_view text;
        Index step;
    };
    constexpr OtherSequence kOthers[] = {{"the next sequence", 1}, {"the sequence before", -1}};
    for (const auto& [operands, alone] : kOperands) {
        for (const OtherSequence& other : kOthers)
            if (!readings.every(
                    fmt::format("every sequence reads the rows of {}{}", other.text, alone),
                    [&, part = operands](Index b) {
                        return reads(b, (b + other.step + count) % count, part);
                    }))
                return false;
        if (!readings.every(fmt::format("every sequence reads the rows of sequence 0{}", alone),
                            [&, part = operands](Index b) { return reads(b, 0, part); }))
            return false;
        for (Index b = 0; b < count && count <= 64; ++b)
            for (Index other = 0; other < count; ++other)
                if (b != other &&
                    !readings.one(
                        fmt::format("sequence {} reads the rows of sequence {}{}", b, other, alone),
                        b, [&, part = operands](Index) { return reads(b, other, part); }))
                    return false;
    }
    return true;
}

// ---- lengths

/// m in the place of a sequence's own. Without a key: 0, or 0/0.
bool try_lengths(Readings& readings, const std::string& text, std::optional<Index> alone,
                 const std::function<Index(Index b)>& length) {
    const ServingRows& rows = readings.rows;
    constexpr std::pair<double, std::string_view> kNoKey[] = {
        {0.0, ""}, {std::numeric_limits<double>::quiet_NaN(), ", rows without a key NaN"}};
    for (const auto& [empty, of_empty] : kNoKey)
        if (!readings.with(text + std::string(of_empty), [&, value = empty](const Row& row) {
                const bool own = alone && *alone != row.b;
                const Index m = own ? rows.keys(row.b) : std::max<Index>(length(row.b), 0);
                MadeRow made = rows.make(row, {m, m});
                if (made.logsumexp == kMinusInfinity)
                    std::ranges::fill(made.weights, value), std::ranges::fill(made.context, value);
                return made;
            }))
            return false;
    return true;
}

// ---- queries of a packed array

/// Row r of sequence b in the array of all queries, and the place of a row of it.
struct QueryPlace {
    Index b, i;
};
std::vector<QueryPlace> packed_queries_of(const Subject& subject) {
    std::vector<QueryPlace> places;
    for (Index b = 0; b < subject.size.batch; ++b)
        for (Index i = subject.serving->padding_of_queries(b, subject.size.tq); i < subject.size.tq;
             ++i)
            places.push_back({b, i});
    return places;
}

bool try_moved_queries(const Trial& trial, Readings& readings) {
    const Subject& subject = trial.subject;
    const std::vector<QueryPlace> places = packed_queries_of(subject);
    const auto at = [&](Index b, Index i) {
        Index n = 0;
        for (const QueryPlace& place : places) {
            if (place.b == b && place.i == i) break;
            ++n;
        }
        return n;
    };
    const TensorD& q = operand(subject, Stage::q_norm);
    const TraceD& t = subject.reference;
    for (const Index step : {1, -1}) {
        const std::string_view where = step > 0 ? "one row late" : "one row early";
        const auto other = [&](const Row& row) {
            const Index n = at(row.b, row.i) + step;
            return n < 0 || n >= std::ssize(places) ? QueryPlace{row.b, row.i}
                                                    : places[serving_place(n)];
        };
        if (!readings.with(fmt::format("queries are read {}", where), [&](const Row& row) {
                const QueryPlace place = other(row);
                Reading reading = readings.right(row.b);
                reading.query = q.matrix(place.b, row.h).row(place.i).data();
                return readings.rows.make(row, reading);
            }))
            return false;
        if (!readings.with(fmt::format("rows of the output are stored {}",
                                       step > 0 ? "one row early" : "one row late"),
                           [&](const Row& row) {
                               const QueryPlace place = other(row);
                               const auto context =
                                   t[Stage::context].matrix(place.b, row.h).row(place.i);
                               const auto weights =
                                   t[Stage::weights].matrix(place.b, row.h).row(place.i);
                               return MadeRow{{weights.begin(), weights.end()},
                                              t.logsumexp(place.b, row.h, place.i, 0),
                                              {context.begin(), context.end()},
                                              true};
                           }))
            return false;
    }
    return true;
}

// ---- scales

/// The scale of entry (b, h, t, c) in the place of its own; `s` is the right one.
struct ScaleFault {
    std::string_view text;
    double (*other)(const TensorD& scale, Index b, Index h, Index t, Index c);
};
constexpr ScaleFault kScaleFaults[] = {
    {"is ignored", [](const TensorD&, Index, Index, Index, Index) { return 1.0; }},
    {"is applied twice", [](const TensorD& s, Index b, Index h, Index t,
                            Index c) { return s(b, h, t, c) * s(b, h, t, c); }},
    {"is divided by",
     [](const TensorD& s, Index b, Index h, Index t, Index c) { return 1.0 / s(b, h, t, c); }},
    {"of head 0 is taken in every head",
     [](const TensorD& s, Index b, Index, Index t, Index c) { return s(b, 0, t, c); }},
    {"of the next head is taken", [](const TensorD& s, Index b, Index h, Index t,
                                     Index c) { return s(b, (h + 1) % s.shape().h, t, c); }},
    {"of the head before is taken",
     [](const TensorD& s, Index b, Index h, Index t, Index c) {
         return s(b, (h + s.shape().h - 1) % s.shape().h, t, c);
     }},
    {"of the heads in reverse order is taken",
     [](const TensorD& s, Index b, Index h, Index t, Index c) {
         return s(b, s.shape().h - 1 - h, t, c);
     }},
    {"of sequence 0 is taken in every sequence",
     [](const TensorD& s, Index, Index h, Index, Index c) { return s(0, h, s.shape().t - 1, c); }},
    {"of the next sequence is taken",
     [](const TensorD& s, Index b, Index h, Index t, Index c) {
         return s((b + 1) % s.shape().b, h, std::max(t, s.shape().t - 1), c);
     }},
    {"of the next token is taken",
     [](const TensorD& s, Index b, Index h, Index t, Index c) {
         return s(b, h, std::min(t + 1, s.shape().t - 1), c);
     }},
    {"of the token before is taken", [](const TensorD& s, Index b, Index h, Index t,
                                        Index c) { return s(b, h, std::max<Index>(t - 1, 0), c); }},
    {"of the first block of a row is taken in all of it",
     [](const TensorD& s, Index b, Index h, Index t, Index) { return s(b, h, t, 0); }},
};

/// x with each entry's scale replaced.
TensorD rescaled(TensorD x, const TensorD& right,
                 const std::function<double(Index, Index, Index, Index)>& other) {
    const Shape shape = x.shape();
    for_each_entry(shape, [&](Index b, Index h, Index t, Index c) {
        const double own = right(b, h, t, right.shape().d == 1 ? 0 : c);
        if (own != 0.0) x(b, h, t, c) *= other(b, h, t, c) / own;
    });
    return x;
}

}  // namespace

Reason wrong_page_rows(const Trial& trial, const Take& take) {
    if (Reason reason = not_served(trial); !reason.empty()) return reason;
    if (!trial.subject.serving->paged()) return "K and V have no pages";
    Readings readings(trial, take);
    const ServingRows& rows = readings.rows;
    for (const PageRead& read : kPageReads)
        for (const auto& [operands, alone] : kOperands)
            if (!readings.every(
                    std::string(read.text) + std::string(alone), [&, part = operands](Index b) {
                        return Reading{rows.keys(b), rows.keys(b),
                                       [&rows, &read, b](Index p) { return read.row(rows, b, p); },
                                       part};
                    }))
                return {};
    if (!try_page_tails(readings)) return {};
    return readings.reason();
}

Reason wrong_page_table(const Trial& trial, const Take& take) {
    if (Reason reason = not_served(trial); !reason.empty()) return reason;
    if (!trial.subject.serving->paged()) return "K and V have no pages";
    Readings readings(trial, take);
    if (readings.rows.sequences() > 1 && !try_other_rows(readings)) return {};
    if (!try_shifted_entries(readings)) return {};
    for (Index b = 0; b < readings.rows.sequences(); ++b)
        if (readings.concerns(b) && !try_stale_pages(readings, b)) return {};
    return readings.reason();
}

Reason wrong_sequence_length(const Trial& trial, const Take& take) {
    if (Reason reason = not_served(trial); !reason.empty()) return reason;
    Readings readings(trial, take);
    const ServingRows& rows = readings.rows;
    const Index count = rows.sequences();
    struct OtherLength {
        std::string_view text;
        std::function<Index(Index b)> length;
    };
    const OtherLength lengths[] = {
        {"one key too few", [&](Index b) { return rows.keys(b) - 1; }},
        {"one key too many", [&](Index b) { return rows.keys(b) + 1; }},
        {"0", [](Index) { return Index{0}; }},
        {"1", [](Index) { return Index{1}; }},
        {"that of the next sequence", [&](Index b) { return rows.keys((b + 1) % count); }},
        {"that of the sequence before",
         [&](Index b) { return rows.keys((b + count - 1) % count); }},
        {"that of sequence 0", [&](Index) { return rows.keys(0); }},
        {"the longest one's", [&](Index) { return trial.subject.size.tk; }},
        {"all that its pages, or its part of the array, hold",
         [&](Index b) { return rows.capacity(b); }},
        {"without the queries' own keys", [&](Index b) { return rows.keys(b) - rows.queries(b); }},
    };
    for (const OtherLength& other : lengths)
        if (!try_lengths(readings,
                         fmt::format("the number of keys of every sequence: {}", other.text),
                         std::nullopt, other.length))
            return {};
    for (Index b = 0; b < count; ++b)
        for (const OtherLength& other : lengths)
            if (readings.concerns(b) &&
                !try_lengths(readings,
                             fmt::format("the number of keys of sequence {}: {}", b, other.text), b,
                             other.length))
                return {};
    return readings.reason();
}

Reason wrong_sequence_start(const Trial& trial, const Take& take) {
    if (Reason reason = not_served(trial); !reason.empty()) return reason;
    const Serving& serving = *trial.subject.serving;
    if (!serving.packed && !serving.packed_queries)
        return "sequences do not lie one after another: cu_seqlens is missing";
    Readings readings(trial, take);
    const ServingRows& rows = readings.rows;
    for (const Index step : {1, -1}) {
        if (!serving.packed) continue;
        for (const auto& [operands, alone] : kOperands)
            if (!readings.every(fmt::format("the keys of a sequence begin one row {}{}",
                                            step > 0 ? "late" : "early", alone),
                                [&, by = step, part = operands](Index b) {
                                    return Reading{rows.keys(b), rows.keys(b),
                                                   [&rows, by, b](Index p) {
                                                       const Index row = rows.row(b, p);
                                                       const Index other = row < 0 ? row : row + by;
                                                       return other < 0 || other >= rows.stored()
                                                                  ? row
                                                                  : other;
                                                   },
                                                   part};
                                }))
                return {};
        // The number of keys is a difference of two entries: with the start it moves too.
        if (!readings.every(
                fmt::format(
                    "the first row of every sequence is {}",
                    step > 0 ? "left out" : "preceded by the last one of the sequence before"),
                [&, by = step](Index b) {
                    const Index m = rows.keys(b) - by;
                    return Reading{m, rows.keys(b) - by, [&rows, by, b](Index p) {
                                       const Index row = rows.row(b, 0) + p + by;
                                       return row < 0 || row >= rows.stored() ? kLeftOut : row;
                                   }};
                }))
            return {};
    }
    if (serving.packed_queries && !try_moved_queries(trial, readings)) return {};
    return readings.reason();
}

Reason wrong_code_scale(const Trial& trial, const Take& take) {
    const Subject& subject = trial.subject;
    const auto has_scales = [&] {
        return subject.serving &&
               (!subject.serving->q_scale.empty() || !subject.serving->k_scale.empty() ||
                !subject.serving->v_scale.empty());
    };
    if (!has_scales()) return "the call has no scales of codes";
    const Serving& serving = *subject.serving;
    struct Scaled {
        std::string_view name;
        const TensorD& scale;
        Stage stage;
    };
    const Scaled operands[] = {{"q_scale", serving.q_scale, Stage::q},
                               {"k_scale", serving.k_scale, Stage::k},
                               {"v_scale", serving.v_scale, Stage::v}};
    const auto score_with = [&](const Scaled& one, const TensorD& numbers, Replay& replay) {
        TensorD turned = whole_operand(subject, one.stage, numbers);
        if (one.stage == Stage::q)
            set_scores(subject, std::move(turned), operand(subject, Stage::k_rot), replay);
        else
            set_scores(subject, operand(subject, Stage::q_rot), std::move(turned), replay);
    };
    const auto planted = [&](const Scaled& one, TensorD numbers) {
        Replay replay = replay_of(subject);
        if (one.stage == Stage::v) {
            replay.v = std::move(numbers);
            replay.right_weights = true;
        } else {
            score_with(one, numbers, replay);
        }
        return run(subject, replay);
    };
    const auto numbers_of = [&](const Scaled& one) -> const TensorD& {
        return subject.reference[one.stage];
    };
    for (const Scaled& one : operands) {
        if (one.scale.empty()) continue;
        const bool blocks = one.scale.shape().d > 1;
        for (const ScaleFault& fault : kScaleFaults) {
            const auto other = [&](Index b, Index h, Index t, Index c) {
                return fault.other(one.scale, b, h, t, blocks ? c : 0);
            };
            if (!take(fmt::format("{} {}", one.name, fault.text),
                      planted(one, rescaled(numbers_of(one), one.scale, other))))
                return {};
        }
    }
    const TensorD &k = serving.k_scale, &v = serving.v_scale;
    if (k.empty() || v.empty() || k.shape() != v.shape()) return {};
    const auto of = [](const TensorD& scale) {
        return [&scale](Index b, Index h, Index t, Index c) {
            return scale(b, h, t, scale.shape().d == 1 ? 0 : c);
        };
    };
    if (!take("V is multiplied by k_scale",
              planted(operands[2], rescaled(numbers_of(operands[2]), v, of(k)))))
        return {};
    const TensorD swapped_k = rescaled(numbers_of(operands[1]), k, of(v));
    if (!take("K is multiplied by v_scale", planted(operands[1], swapped_k))) return {};
    Replay both = replay_of(subject);
    score_with(operands[1], swapped_k, both);
    both.v = rescaled(numbers_of(operands[2]), v, of(k));
    take("K is multiplied by v_scale and V by k_scale", run(subject, both));
    return {};
}

}  // namespace attn::verify
