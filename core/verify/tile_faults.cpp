// Faults of kernels that go through queries and keys in tiles. b batch entry, h head, i query row, j key column; a tile
// of Bq queries meets tiles of Bk keys.

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "core/masks.h"
#include "core/scores/operands.h"
#include "core/scores/score.h"
#include "core/stop.h"
#include "core/text.h"
#include "core/verify/replay.h"
#include "core/verify/row_trials.h"

namespace attn::verify {
namespace {

constexpr Index kMostTiles = 64;  // each of so many is tried by itself

std::size_t place_at(Index n) { return static_cast<std::size_t>(n); }

/// The logits where keep(j), −∞ elsewhere.
template <class Keep>
std::vector<double> retained(std::span<const double> logits, Keep keep) {
    std::vector<double> made(logits.size(), kMinusInfinity);
    for (std::size_t j = 0; j < made.size(); ++j)
        if (keep(static_cast<Index>(j))) made[j] = logits[j];
    return made;
}

/// A row that is left without a key: 0, or NaN as 0/0 gives it.
MadeRow softmax_or(const std::vector<double>& logits, double empty) {
    MadeRow made = softmax_of(logits);
    if (made.logsumexp == kMinusInfinity) std::ranges::fill(made.weights, empty);
    return made;
}

constexpr std::pair<double, std::string_view> kEmpty[] = {
    {0.0, ""}, {std::numeric_limits<double>::quiet_NaN(), ", rows without a key NaN"}};

// ---- where the diagonal meets tiles

/// How far a causal call's queries reach: key j ≤ i + reach; and the rest of its mask.
struct Causal {
    Index reach = 0;
    Mask others;
};

std::optional<Causal> causal_of(const Subject& subject) {
    const MaskSpec& mask = subject.spec.mask;
    if (!mask.causal) return std::nullopt;
    MaskSpec rest = mask;
    rest.causal.reset();
    const Index corner = subject.size.tk - subject.size.tq;
    const bool top = *mask.causal == CausalAlign::top_left;
    return Causal{top ? subject.size.query_offset : corner, materialise(rest, subject.size)};
}

/// Rows and columns of a tile, and where a tile of queries ends among the keys.
struct Tile {
    Index queries = 1, keys = 1;

    Index first_key(Index i, Index reach) const { return i / queries * queries + reach; }
    /// One past the last key that a query of the tile may see.
    Index end_key(Index i, Index reach, Index tq) const {
        return std::min(tq, (i / queries + 1) * queries) + reach;
    }
    Index down(Index n) const { return n <= 0 ? 0 : n / keys * keys; }
    Index up(Index n) const { return n <= 0 ? 0 : (n + keys - 1) / keys * keys; }
    std::string text() const { return fmt::format("tiles of {} × {}", queries, keys); }
};

/// Which keys a query sees instead.
struct CausalAlignment {
    std::string_view text;
    bool (*sees)(const Tile& tile, Index i, Index j, Index reach, Index tq);
};

constexpr CausalAlignment kSkipped[] = {
    {"the tiles of keys that the diagonal crosses are skipped",
     [](const Tile& t, Index i, Index j, Index reach, Index) {
         return j <= i + reach && j < t.down(t.first_key(i, reach));
     }},
    {"the last tile of keys of each tile of queries is skipped",
     [](const Tile& t, Index i, Index j, Index reach, Index tq) {
         return j <= i + reach && j < t.up(t.end_key(i, reach, tq)) - t.keys;
     }},
    {"the last, partial tile of keys of each tile of queries is skipped",
     [](const Tile& t, Index i, Index j, Index reach, Index tq) {
         return j <= i + reach && j < t.down(t.end_key(i, reach, tq));
     }},
};
constexpr CausalAlignment kUnmasked[] = {
    {"the tiles that the diagonal crosses are not masked",
     [](const Tile& t, Index i, Index j, Index reach, Index tq) {
         // With one tile of queries that is no mask at all: mask_dropped.
         return j <= i + reach || (t.queries < tq && j < t.up(t.end_key(i, reach, tq)));
     }},
    {"only the last tile is masked, though the diagonal crosses several",
     [](const Tile& t, Index i, Index j, Index reach, Index tq) {
         return j <= i + reach || j < t.up(t.end_key(i, reach, tq)) - t.keys;
     }},
};

bool attempt_causal(RowTrials& rows, const Causal& causal,
                    std::span<const CausalAlignment> variants) {
    const Dimensions& size = rows.subject().size;
    for (const CausalAlignment& variant : variants)
        for (const Index queries : kTiles)
            for (const Index keys : kTiles) {
                if (keys >= size.tk) continue;
                const Tile tile{queries, keys};
                for (const auto& [empty, text] : kEmpty)
                    if (!rows.attempt(fmt::format("{}, {}{}", variant.text, tile.text(), text),
                                      [&, weight = empty](const Row& row) {
                                          return softmax_or(
                                              retained(row.open,
                                                       [&](Index j) {
                                                           return causal.others(row.b, row.h, row.i,
                                                                                j) != 0 &&
                                                                  variant.sees(tile, row.i, j,
                                                                               causal.reach,
                                                                               size.tq);
                                                       }),
                                              weight);
                                      }))
                        return false;
            }
    return true;
}

// ---- tiles of queries that nobody wrote

/// Whether a row of the results is all `value`, and the reference's is not.
bool is_unwritten(const Trial& trial, Index b, Index h, Index i, bool nan) {
    const auto right = trial.subject.reference[Stage::context].matrix(b, h).row(i);
    const auto shown = trial.results[Stage::context].matrix(b, h).row(i);
    return std::ranges::all_of(shown, [&](float x) { return nan ? std::isnan(x) : x == 0.0F; }) &&
           std::ranges::any_of(right, [](double x) { return std::isfinite(x) && x != 0.0; });
}

/// The largest tiles that the rows of a head that were not written consist of; 0: they do not.
Index unwritten_tile(const std::vector<bool>& rows) {
    const Index count = std::ssize(rows);
    for (auto tile = std::rbegin(kTiles); tile != std::rend(kTiles); ++tile) {
        if (*tile >= count) continue;
        bool whole = true;
        for (Index i = 0; i < count; ++i)
            whole = whole && rows[place_at(i)] == rows[place_at(i / *tile * *tile)];
        if (whole) return *tile;
    }
    return 0;
}

bool attempt_unwritten(const Trial& trial, RowTrials& rows) {
    if (trial.results[Stage::context].empty()) return true;
    const Dimensions& size = trial.subject.size;
    for (const bool nan : {false, true}) {
        Index tile = std::numeric_limits<Index>::max(), count = 0;
        TensorD unwritten({size.batch, size.heads, size.tq, 1});
        for (Index b = 0; b < size.batch; ++b)
            for (Index h = 0; h < size.heads; ++h) {
                std::vector<bool> of_head;
                for (Index i = 0; i < size.tq; ++i) {
                    end_if_stopped();
                    of_head.push_back(is_unwritten(trial, b, h, i, nan));
                }
                const Index rows_of_head = std::ranges::count(of_head, true);
                if (rows_of_head == 0) continue;
                const bool all = rows_of_head == size.tq;
                tile = std::min(tile, all ? size.tq : unwritten_tile(of_head));
                count += rows_of_head;
                for (Index i = 0; i < size.tq; ++i) {
                    end_if_stopped();
                    unwritten(b, h, i, 0) = of_head[place_at(i)] ? 1 : 0;
                }
            }
        if (count == 0 || tile == 0) continue;
        const double value = nan ? std::nan("") : 0.0;
        const std::string text =
            tile == size.tq
                ? fmt::format("{} whole heads are not written", count / size.tq)
                : fmt::format("{} rows of queries are not written, whole tiles of {}", count, tile);
        if (!rows.attempt(text + (nan ? ": NaN" : ": 0"), [&](const Row& row) {
                MadeRow made = softmax_of({row.logits.begin(), row.logits.end()});
                if (unwritten(row.b, row.h, row.i, 0) == 0.0) return made;
                made.context.assign(place_at(row.v.columns), value);
                const Tensor& shown = trial.results.logsumexp;  // written, or not either
                const bool lse = !shown.empty() && (nan ? std::isnan(shown(row.b, row.h, row.i, 0))
                                                        : shown(row.b, row.h, row.i, 0) == 0.0F);
                if (lse) made.logsumexp = value;
                return made;
            }))
            return false;
    }
    return true;
}

bool attempt_skipped(RowTrials& rows) {
    const Index keys = rows.subject().size.tk;
    for (const Index tile : kTiles)
        for (Index n = 0; n < std::min(keys / tile, kMostTiles); ++n) {
            if (tile >= keys) break;
            for (const auto& [empty, text] : kEmpty)
                if (!rows.attempt(fmt::format("keys {}–{} are skipped, tile {} of {}{}", n * tile,
                                              (n + 1) * tile - 1, n, counted(tile, "key"), text),
                                  [&, weight = empty](const Row& row) {
                                      return softmax_or(
                                          retained(row.logits,
                                                   [&](Index j) { return j / tile != n; }),
                                          weight);
                                  }))
                    return false;
        }
    return true;
}

// ---- the last, partial tile of keys

/// What is read at a place p ≥ `first` of the last tile of keys.
struct Tail {
    Index tile, first;  // first = its first key
    Index keys;         // Tk

    Index end() const { return first + tile; }
};
struct TailMode {
    std::string_view text;
    Index (*reads)(const Tail& tail, Index p);  // −1: zeros
    bool beyond;                                // places beyond the last key count too
};
constexpr TailMode kTails[] = {
    {"its places beyond the last key count as keys of zeros",
     [](const Tail& t, Index p) { return p < t.keys ? p : -1; }, true},
    {"its places beyond the last key read the last key again",
     [](const Tail& t, Index p) { return std::min(p, t.keys - 1); }, true},
    {"it is read from Tk − {0} on, so that it ends with the last key",
     [](const Tail& t, Index p) { return t.keys - t.tile + p - t.first; }, false},
    {"it is read from Tk − {0} on, and all of it counts, some keys twice",
     [](const Tail& t, Index p) { return t.keys - t.tile + p - t.first; }, true},
    {"it reads the rows of the tile before", [](const Tail& t, Index p) { return p - t.tile; },
     false},
    {"it reads the first rows", [](const Tail& t, Index p) { return p - t.first; }, false},
    {"it reads one row too far", [](const Tail& t, Index p) { return std::min(p + 1, t.keys - 1); },
     false},
    {"it reads one row too early", [](const Tail&, Index p) { return p - 1; }, false},
};

/// K, V or both are read where the way says.
enum class Reads { both, keys, values };

MadeRow with_tail(const Row& row, const Tail& tail, const TailMode& variant, Reads reads) {
    std::vector<Entry> entries;
    const Index end = variant.beyond ? tail.end() : tail.keys;
    for (Index p = 0; p < end; ++p) {
        if (p < tail.keys && row.logits[place_at(p)] == kMinusInfinity) continue;
        const Index read = p < tail.first ? p : variant.reads(tail, p);
        const Index key = reads == Reads::values && p < tail.keys ? p : read;
        const Index value = reads == Reads::keys && p < tail.keys ? p : read;
        entries.push_back({key < 0 ? 0.0 : row.open[place_at(key)], value,
                           value < 0 ? nullptr : row.v.row(value).data()});
    }
    return softmax_over(row, entries);
}

/// Places beyond the last key read on in memory: the next head's rows, as [B,Hkv,Tk,d] lies, and after the last head
/// zeros, or nothing.
MadeRow with_next_head(const Trial& trial, const Row& row, const Tail& tail, bool zeros) {
    const Subject& subject = trial.subject;
    const TensorD& q = operand(subject, Stage::q_rot);
    const TensorD& k = operand(subject, Stage::k_rot);
    const TensorD& v = subject.reference[Stage::v];
    const Dimensions& size = subject.size;
    const double factor = product_factor(subject.spec, size.d_k);
    const Index head = row.b * size.kv_heads + row.h / (size.heads / size.kv_heads);
    std::vector<Entry> entries;
    for (Index p = 0; p < tail.end(); ++p) {
        if (p < tail.keys) {
            if (row.logits[place_at(p)] != kMinusInfinity)
                entries.push_back({row.logits[place_at(p)], p, row.v.row(p).data()});
            continue;
        }
        const Index flat = head * size.tk + p;
        if (flat >= size.batch * size.kv_heads * size.tk) {
            if (zeros) entries.push_back({});
            continue;
        }
        double dot = 0.0;
        for (Index c = 0; c < size.d_k; ++c)
            dot += q(row.b, row.h, row.i, c) * k.data()[flat * size.d_k + c];
        entries.push_back({factor * dot, -1, v.data() + flat * size.d_v});
    }
    return softmax_over(row, entries);
}

bool attempt_tail(const Trial& trial, RowTrials& rows, Index tile) {
    const Subject& subject = trial.subject;
    const Index keys = subject.size.tk;
    const Tail tail{tile, keys / tile * tile, keys};
    const bool several = tile < keys;
    if (several)
        for (const auto& [empty, text] : kEmpty)
            if (!rows.attempt(fmt::format("keys {}–{} are left out, the last, partial tile of {}{}",
                                          tail.first, keys - 1, tile, text),
                              [&, weight = empty](const Row& row) {
                                  return softmax_or(
                                      retained(row.logits, [&](Index j) { return j < tail.first; }),
                                      weight);
                              }))
                return false;
    const MaskSpec& mask = subject.spec.mask;
    const bool open_end = !mask.causal && !mask.windowed();
    for (const TailMode& variant : kTails) {
        if (variant.beyond && !open_end) continue;
        if (variant.reads(tail, tail.first) < 0 && variant.reads(tail, keys - 1) < 0) continue;
        if (!several && variant.reads(tail, 0) != 0) continue;  // there is no tile before
        constexpr std::pair<Reads, std::string_view> kReads[] = {
            {Reads::both, ""}, {Reads::keys, ", of K alone"}, {Reads::values, ", of V alone"}};
        for (const auto& [reads, of] : kReads) {
            const std::string does = fmt::format(fmt::runtime(variant.text), tile);
            if (!rows.attempt(fmt::format("the last, partial tile of {}: {}{}", tile, does, of),
                              [&, part = reads](const Row& row) {
                                  return with_tail(row, tail, variant, part);
                              }))
                return false;
        }
    }
    if (!open_end || subject.spec.score != Score::dot || subject.spec.biases()) return true;
    for (const bool zeros : {true, false})
        if (!rows.attempt(
                fmt::format("the last, partial tile of {}: it reads on into the next head's rows{}",
                            tile, zeros ? ", and zeros after the last head's" : ""),
                [&](const Row& row) { return with_next_head(trial, row, tail, zeros); }))
            return false;
    return true;
}

// ---- tiles of queries in the place of others

/// Which query's row stands in the place of query i; i itself: the right one.
using SourceOf = std::function<Index(Index i)>;

bool attempt_source(RowTrials& rows, const std::string& text, const SourceOf& source) {
    const TraceD& t = rows.subject().reference;
    const Index queries = rows.subject().size.tq;
    const auto from = [&](Index i) { return std::clamp<Index>(source(i), 0, queries - 1); };
    if (!rows.attempt(text, [&](const Row& row) {
            const Index i = from(row.i);
            const auto weights = t[Stage::weights].matrix(row.b, row.h).row(i);
            return MadeRow{{weights.begin(), weights.end()}, t.logsumexp(row.b, row.h, i, 0)};
        }))
        return false;
    return rows.attempt(text + ", under the mask of its place", [&](const Row& row) {
        const Row other = rows.row(row.b, row.h, from(row.i));
        return softmax_of(retained(
            other.open, [&](Index j) { return row.logits[place_at(j)] != kMinusInfinity; }));
    });
}

bool attempt_one_tile(RowTrials& rows, Index tile) {
    const Index tiles = (rows.subject().size.tq + tile - 1) / tile;
    for (Index n = 0; n < std::min(tiles, kMostTiles); ++n)
        for (const Index other : {n - 1, n + 1, Index{0}}) {
            if (other < 0 || other >= tiles || other == n) continue;
            if (!attempt_source(
                    rows,
                    fmt::format("tile {} of {} shows tile {}", n, counted(tile, "querie"), other),
                    [=](Index i) { return i / tile == n ? i + (other - n) * tile : i; }))
                return false;
        }
    return true;
}

}  // namespace

Reason skipped_tile(const Trial& trial, const Take& take) {
    RowTrials rows(trial, take);
    if (!rows.possible()) return rows.reason();
    if (whole_value(trial.results)) return "the whole output is 0 or NaN: no tile is right";
    if (!attempt_unwritten(trial, rows) || !attempt_skipped(rows)) return {};
    if (const auto causal = causal_of(trial.subject)) attempt_causal(rows, *causal, kSkipped);
    return rows.reason();
}

Reason wrong_tail(const Trial& trial, const Take& take) {
    RowTrials rows(trial, take);
    if (!rows.possible()) return rows.reason();
    bool any = false;
    for (const Index tile : kTiles) {
        if (trial.subject.size.tk % tile == 0) continue;
        any = true;
        if (!attempt_tail(trial, rows, tile)) return {};
    }
    return any ? rows.reason() : "Tk is a multiple of 128: no tile is partial";
}

Reason unmasked_tile(const Trial& trial, const Take& take) {
    RowTrials rows(trial, take);
    if (!rows.possible()) return rows.reason();
    const auto causal = causal_of(trial.subject);
    if (!causal) return "the call has no causal mask";
    attempt_causal(rows, *causal, kUnmasked);
    return rows.reason();
}

Reason wrong_query_tile(const Trial& trial, const Take& take) {
    RowTrials rows(trial, take);
    if (!rows.possible()) return rows.reason();
    const Index queries = trial.subject.size.tq;
    if (queries == 1) return "there is one query";
    if (!attempt_source(rows, "each row shows the row before", [](Index i) { return i - 1; }))
        return {};
    if (!attempt_source(rows, "each row shows the row after", [](Index i) { return i + 1; }))
        return {};
    for (const Index tile : kTiles) {
        if (tile >= queries) continue;
        const auto text = [&](std::string_view what) {
            return fmt::format("each tile of {} shows the tile {}", counted(tile, "querie"), what);
        };
        if (!attempt_source(rows, text("before"),
                            [=](Index i) { return i < tile ? i : i - tile; }) ||
            !attempt_source(rows, text("after"),
                            [=](Index i) { return i + tile < queries ? i + tile : i; }))
            return {};
        const Index last = queries / tile * tile;
        if (queries % tile != 0 &&
            !attempt_source(rows,
                            fmt::format("the last, partial tile of {} starts at Tq − {}",
                                        counted(tile, "querie"), tile),
                            [=](Index i) { return i < last ? i : queries - tile + i - last; }))
            return {};
        if (!attempt_one_tile(rows, tile)) return {};
    }
    return rows.reason();
}

}  // namespace attn::verify
