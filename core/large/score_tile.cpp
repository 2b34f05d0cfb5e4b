// q_i, k_j rows of the operands; S, B scaled and biased scores; p position of a query; the "runs" of a query are the
// keys that a mask leaves to it, before a custom mask.

#include "core/large/score_tile.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "core/large/texel_rows.h"
#include "core/large/tile_grid.h"
#include "core/large/weight_cells.h"
#include "core/large/weight_source.h"
#include "core/masks.h"
#include "core/rows.h"

namespace attn::large {
namespace {

using Rows = MatrixView<const float>;
using Sums = std::vector<double>;

void add(std::span<const float> row, std::span<double> sums) {
    for (std::size_t c = 0; c < sums.size(); ++c) sums[c] += static_cast<double>(row[c]);
}

KeyRange common(KeyRange a, KeyRange b) {
    const Index begin = std::max(a.begin, b.begin);
    return {begin, std::max(begin, std::min(a.end, b.end))};
}
Index count(KeyRange range) { return range.end - range.begin; }

/// Σ |d| over the whole numbers from first to last.
double distances(Index first, Index last) {
    const auto up_to = [](Index d) {  // f(d) − f(d − 1) = |d|
        const auto x = static_cast<double>(d);
        return std::copysign(x * (x + 1.0) / 2.0, x);
    };
    return up_to(last) - up_to(first - 1);
}

/// What a texel's pairs sum up to.
struct PairSum {
    double sum = 0.0;
    Index pairs = 0;
};

class ScoreTile {
  public:
    ScoreTile(const WeightSource& source, Head head, const TileId& id)
        : source_(source),
          head_(head),
          q_(source.q->matrix(head.b, head.h)),
          k_(source.k->matrix(head.b, head.h / (source.size.heads / source.size.kv_heads))),
          cells_(cells_of(id, source.size)),
          side_(id.side()),
          finish_(finish_of(source, head)) {
        tile_.id = id;
        Texels& texels = tile_.texels;
        texels.rows = (count(cells_.rows) + side_ - 1) / side_;
        texels.columns = (count(cells_.columns) + side_ - 1) / side_;
        texels.mean.resize(texels.rows * texels.columns);
        if (source.spec.mask.any()) texels.allowed.resize(texels.mean.size());
    }

    std::optional<Tile> make(const std::stop_token& stop) {
        for (Index c = 0; c < tile_.texels.columns; ++c) {
            if (stop.stop_requested()) return std::nullopt;
            key_sums_.push_back(sum_of(k_, keys_of(c)));
        }
        for (Index r = 0; r < tile_.texels.rows; ++r) {
            start_row(r);
            for (Index c = 0; c < tile_.texels.columns; ++c) {
                if (stop.stop_requested()) return std::nullopt;
                store(r, c, texel(c));
            }
        }
        return std::move(tile_);
    }

  private:
    static KeyRange part(KeyRange cells, Index n, Index side) {
        const Index begin = cells.begin + n * side;
        return {begin, std::min(begin + side, cells.end)};
    }
    KeyRange keys_of(Index c) const { return part(cells_.columns, c, side_); }

    Sums sum_of(const Rows& rows, KeyRange of) const {
        Sums sums(static_cast<std::size_t>(source_.size.d_k));
        for (Index t = of.begin; t < of.end; ++t) add(rows.row(t), sums);
        return sums;
    }

    /// The queries of a row of texels, and what the mask leaves all of them and any of them.
    void start_row(Index r) {
        queries_ = part(cells_.rows, r, side_);
        query_sum_ = sum_of(q_, queries_);
        any_ = {source_.size.tk, 0};
        all_ = {0, source_.size.tk};
        runs_.clear();
        for (Index i = queries_.begin; i < queries_.end; ++i) {
            const KeyRuns runs = key_runs(source_.spec.mask, source_.size, head_.b, i);
            runs_.push_back(runs);
            any_ = {std::min(any_.begin, runs.hull().begin), std::max(any_.end, runs.hull().end)};
            all_ = common(all_, runs.split() ? runs.second : runs.first);
        }
    }

    PairSum texel(Index c) const {
        const KeyRange keys = keys_of(c);
        if (keys.begin >= any_.end || keys.end <= any_.begin) return {};
        const Sums& key_sum = key_sums_[c];
        if (source_.spec.mask.custom || !is_finite(key_sum) || !is_finite(query_sum_))
            return pair_by_pair(keys);
        const bool every_pair = keys.begin >= all_.begin && keys.end <= all_.end;
        PairSum of = every_pair ? PairSum{dot(query_sum_, key_sum), count(keys) * count(queries_)}
                                : run_by_run(keys);
        of.sum *= finish_.factor;
        if (finish_.rule.slope != 0.0) of.sum -= finish_.rule.slope * distances_to(keys);
        return of;
    }

    /// f(i, run) for what the mask leaves of `keys` to each query i of the row: its runs that are not empty.
    template <class Function>
    void for_runs(KeyRange keys, const Function& f) const {
        for (Index i = queries_.begin; i < queries_.end; ++i) {
            const KeyRuns& runs = runs_[i - queries_.begin];
            for (const KeyRange each : {runs.first, runs.second})
                if (const KeyRange run = common(each, keys); count(run) > 0) f(i, run);
        }
    }

    /// Σ |p − j| over the pairs that may attend.
    double distances_to(KeyRange keys) const {
        double sum = 0.0;
        for_runs(keys, [&](Index i, KeyRange run) {
            const Index p = i + finish_.offset;
            sum += distances(run.begin - p, run.end - 1 - p);
        });
        return sum;
    }

    static bool is_finite(const Sums& sums) {
        return std::ranges::all_of(sums, [](double each) { return std::isfinite(each); });
    }

    /// Products alone. Running sums over the keys: those of a run are a difference of two.
    PairSum run_by_run(KeyRange keys) const {
        const auto width = static_cast<std::size_t>(source_.size.d_k);
        Sums running(width * static_cast<std::size_t>(count(keys) + 1));
        const auto at = [&](Index j) {
            return std::span(running).subspan(static_cast<std::size_t>(j - keys.begin) * width,
                                              width);
        };
        for (Index j = keys.begin; j < keys.end; ++j) {
            std::ranges::copy(at(j), at(j + 1).begin());
            add(k_.row(j), at(j + 1));
        }
        PairSum of;
        for_runs(keys, [&](Index i, KeyRange run) {
            of.pairs += count(run);
            of.sum += dot(q_.row(i), at(run.end)) - dot(q_.row(i), at(run.begin));
        });
        return of;
    }

    bool allows(Index i, Index j) const {
        if (!source_.spec.mask.custom) return true;
        const auto row = broadcast_row(*source_.spec.mask.custom, head_.b, head_.h, i);
        return row[row.size() == 1 ? 0 : static_cast<std::size_t>(j)] != 0;
    }

    PairSum pair_by_pair(KeyRange keys) const {
        PairSum of;
        for_runs(keys, [&](Index i, KeyRange run) {
            for (Index j = run.begin; j < run.end; ++j) {
                if (!allows(i, j)) continue;
                ++of.pairs;
                // NaN stays: it needs no more products
                if (!std::isnan(of.sum)) of.sum += finish_(dot(q_.row(i), k_.row(j)), i, j);
            }
        });
        return of;
    }

    void store(Index r, Index c, const PairSum& of) {
        const std::size_t at = tile_.texels.at(r, c);
        if (!tile_.texels.allowed.empty()) tile_.texels.allowed[at] = pair_count(of.pairs);
        if (of.pairs > 0)
            tile_.texels.mean[at] = static_cast<float>(of.sum / static_cast<double>(of.pairs));
    }

    const WeightSource& source_;
    Head head_;
    Rows q_, k_;
    CellBox cells_;
    Index side_;
    Finish finish_;
    Tile tile_;
    std::vector<Sums> key_sums_;
    // of the row of texels that is being made
    KeyRange queries_, any_, all_;
    Sums query_sum_;
    std::vector<KeyRuns> runs_;
};

/// Under a cap a sum of scores is no product of sums, and a bias has a number of its own for each pair.
std::optional<Tile> pair_tile(const WeightSource& source, Head head, const TileId& id,
                              const std::stop_token& stop) {
    const CellBox cells = cells_of(id, source.size);
    Tile tile;
    tile.id = id;
    Texels& texels = tile.texels;
    if (!sum_scores(source, head, cells.rows, cells.columns, id.side(), stop, texels))
        return std::nullopt;
    for (Index r = 0; r < texels.rows; ++r)
        for (Index c = 0; c < texels.columns; ++c) {
            const std::size_t at = texels.at(r, c);
            const Index height = std::min(id.side(), count(cells.rows) - r * id.side());
            const Index width = std::min(id.side(), count(cells.columns) - c * id.side());
            const Index pairs = texels.allowed.empty() ? height * width : texels.allowed[at];
            texels.mean[at] /= static_cast<float>(std::max<Index>(pairs, 1));
        }
    return tile;
}

}  // namespace

std::optional<Tile> score_tile(const WeightSource& source, Head head, const TileId& id,
                               const std::stop_token& stop) {
    if (source.spec.softcap || source.spec.mask.bias) return pair_tile(source, head, id, stop);
    return ScoreTile(source, head, id).make(stop);
}

}  // namespace attn::large
