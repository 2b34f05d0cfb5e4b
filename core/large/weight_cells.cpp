// L logsumexp of a row, a weight. A "vector" is a third of a group of G = query_group_lanes() rows; a "pool"
// is what one vector of rows sums up: its lanes are texel rows, or parts of them, that are added at the end.

#include "core/large/weight_cells.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>

#include "core/large/query_lanes.h"
#include "core/large/texel_rows.h"
#include "core/large/texel_sums.h"
#include "core/rounding.h"

namespace attn::large {
namespace {

constexpr Index kVectors = 3;      // of a group
constexpr Index kStripGroups = 8;  // meet a block of keys while it is in the second-level cache
constexpr Index kMostTexels =
    256;  // on a side of what is pooled at once: the pools stay in a cache

/// Which row each lane of each vector takes. Where there are enough texel rows each lane is one of them,
/// and `side` vectors one after another hold their rows: pooling over rows needs nothing across lanes. The
/// rest of the rows just follow each other, and their lanes are added up at the end.
class LaneMap {
  public:
    LaneMap(Index rows, Index side, Index lanes)
        : rows_(rows),
          side_(side),
          lanes_(lanes),
          texel_rows_(divide_up(rows, side)),
          chunks_(texel_rows_ / lanes + (4 * (texel_rows_ % lanes) > 3 * lanes ? 1 : 0)),
          first_rest_(std::min(chunks_ * lanes * side, rows)) {}

    Index lanes() const { return lanes_; }  // of a vector
    Index vectors() const { return chunks_ * side_ + divide_up(rows_ - first_rest_, lanes_); }
    Index pools() const { return vectors() - chunks_ * side_ + chunks_; }
    Index pool(Index vector) const {
        return vector < chunks_ * side_ ? vector / side_ : vector - chunks_ * side_ + chunks_;
    }

    /// −1: none. Lanes whose sums are never read repeat some row.
    Index row(Index vector, Index lane) const {
        const Index last = rows_ - 1;
        const Index rest = vector - chunks_ * side_;
        if (rest >= 0) return std::min(first_rest_ + rest * lanes_ + lane, last);
        const Index texel = vector / side_ * lanes_ + lane;
        const Index row = texel * side_ + vector % side_;
        if (texel >= texel_rows_) return std::min(row, last);
        return row <= last ? row : -1;
    }

    /// The texel row that a lane of a pool adds to; −1: none.
    Index texel_row(Index pool, Index lane) const {
        const Index texel = pool * lanes_ + lane;
        if (pool < chunks_) return texel < texel_rows_ ? texel : -1;
        const Index row = first_rest_ + (pool - chunks_) * lanes_ + lane;
        return row < rows_ ? row / side_ : -1;
    }

  private:
    Index rows_;
    Index side_;
    Index lanes_;
    Index texel_rows_;
    Index chunks_;      // of `lanes` texel rows, `side` vectors each
    Index first_rest_;  // the first row that belongs to none
};

/// At most 256 × 256 texels of a grid, the first of them at (row, column).
class CellTile {
  public:
    CellTile(const WeightSource& source, Head head, const ListedCells& cells, Index row,
             Index column, Texels& out)
        : cells_(cells),
          row_(row),
          column_(column),
          map_(static_cast<Index>(cells.rows.size()), cells.pool_rows,
               query_group_lanes() / kVectors),
          columns_(divide_up(cells.keys.end - cells.keys.begin, cells.pool_keys)),
          pool_floats_(columns_ * kPoolFields * map_.lanes()),
          groups_(std::min(kStripGroups, divide_up(map_.vectors(), kVectors))),
          lanes_(kVectors * map_.lanes()),
          queries_(source, head, groups_),
          listed_(static_cast<std::size_t>(lanes_)),
          out_(out) {
        const Index pools = (map_.pools() + 1) * pool_floats_;  // the last: of vectors past the end
        Carve carve(floats_, Carve::rounded(pools) + Carve::rounded(groups_ * lanes_) +
                                 Carve::rounded(pool_scratch(kBlockKeys)));
        pools_ = carve.next(pools);
        logsumexp_ = carve.next(groups_ * lanes_);
        scratch_ = carve.next(pool_scratch(kBlockKeys));
        std::fill_n(pools_, pools, 0.0F);
    }

    bool run(const std::stop_token& stop) {
        const Index step = kVectors * groups_;
        for (Index vector = 0; vector < map_.vectors(); vector += step) {
            const Index left = divide_up(map_.vectors() - vector, kVectors);
            if (!strip(vector, std::min(groups_, left), stop)) return false;
        }
        for (Index pool = 0; pool < map_.pools(); ++pool) add_pool(pool);
        return true;
    }

  private:
    bool strip(Index first, Index groups, const std::stop_token& stop) {
        for (Index g = 0; g < groups; ++g) start(g, first + g * kVectors);
        const KeyRange any = queries_.any(groups);
        const Index end = std::min(any.end, cells_.keys.end);
        const Index step = block_keys(cells_.pool_keys);
        const Index skipped = std::max<Index>(any.begin - cells_.keys.begin, 0) / step * step;
        for (Index j = cells_.keys.begin + skipped; j < end; j += step) {
            if (stop.stop_requested()) return false;
            for (Index g = 0; g < groups; ++g)
                add(g, first + g * kVectors, {j, std::min(j + step, end)});
        }
        return true;
    }

    /// Lays out the group whose first vector is `vector`.
    void start(Index g, Index vector) {
        for (Index lane = 0; lane < lanes_; ++lane) {
            const Index v = std::min(vector + lane / map_.lanes(), map_.vectors() - 1);
            const Index row = map_.row(v, lane % map_.lanes());
            const auto at = static_cast<std::size_t>(lane);
            listed_[at] = row < 0 ? -1 : cells_.rows[row];
            logsumexp_[g * lanes_ + lane] = row < 0 ? 0.0F : log2_sum(row);
        }
        queries_.set(g, listed_);
    }

    /// A row that has no finite logsumexp weighs NaN wherever it may attend.
    float log2_sum(Index row) const {
        const auto natural = static_cast<double>(cells_.logsumexp[row]);
        if (!std::isfinite(natural)) return std::numeric_limits<float>::quiet_NaN();
        return static_cast<float>(natural * std::numbers::log2e);
    }

    void add(Index g, Index vector, KeyRange keys) {
        const KeyRange any = queries_.group(g).any;
        const KeyRange part{std::max(keys.begin, any.begin), std::min(keys.end, any.end)};
        if (!queries_.group(g).attends(part)) return;
        std::array<float*, kVectors> pools;
        for (Index v = 0; v < kVectors; ++v) {
            const bool past = vector + v >= map_.vectors();
            pools[v] = pools_ + (past ? map_.pools() : map_.pool(vector + v)) * pool_floats_;
        }
        add_to_pools(queries_.block(g, part, cells_.keys.begin, cells_.pool_keys),
                     logsumexp_ + g * lanes_, pools.data(), scratch_);
    }

    /// The sums of a pool to the texels of its lanes.
    void add_pool(Index pool) {
        const Index lanes = map_.lanes();
        std::vector<Index> rows;
        for (Index lane = 0; lane < lanes; ++lane) rows.push_back(map_.texel_row(pool, lane));
        const float* from = pools_ + pool * pool_floats_;
        for (Index c = 0; c < columns_; ++c, from += kPoolFields * lanes)
            for (Index lane = 0; lane < lanes; ++lane) {
                const Index row = rows[lane];
                if (row < 0) break;
                const std::size_t at = out_.at(row_ + row, column_ + c);
                out_.mean[at] += from[lane];
                out_.max[at] = std::max(out_.max[at], from[lanes + lane]);
                out_.log_mean[at] += from[2 * lanes + lane];
                if (!out_.allowed.empty())
                    out_.allowed[at] = pair_count(static_cast<Index>(out_.allowed[at]) +
                                                  static_cast<Index>(from[3 * lanes + lane]));
            }
    }

    ListedCells cells_;
    Index row_;
    Index column_;
    LaneMap map_;
    Index columns_;
    Index pool_floats_;  // of one pool
    Index groups_;
    Index lanes_;  // of a group
    QueryLanes queries_;
    std::vector<Index> listed_;
    Texels& out_;
    AlignedFloats floats_;
    float* pools_ = nullptr;
    float* logsumexp_ = nullptr;  // [groups, G], base 2
    float* scratch_ = nullptr;
};

/// The cells of a tile of texels.
ListedCells part_of(const ListedCells& cells, Index row, Index column) {
    const auto first = static_cast<std::size_t>(row * cells.pool_rows);
    const auto most = static_cast<std::size_t>(kMostTexels * cells.pool_rows);
    const std::size_t count = std::min(most, cells.rows.size() - first);
    const Index key = cells.keys.begin + column * cells.pool_keys;
    const Index end = std::min(key + kMostTexels * cells.pool_keys, cells.keys.end);
    return {cells.rows.subspan(first, count),
            cells.logsumexp.subspan(first, count),
            {key, end},
            cells.pool_rows,
            cells.pool_keys};
}

/// The sums of every texel: see texel_sums.h.
bool sum_cells(const WeightSource& source, Head head, const ListedCells& cells,
               const std::stop_token& stop, Texels& out) {
    start_texels(divide_up(static_cast<Index>(cells.rows.size()), cells.pool_rows),
                 divide_up(cells.keys.end - cells.keys.begin, cells.pool_keys),
                 source.spec.mask.any(), out);
    for (Index row = 0; row < out.rows; row += kMostTexels)
        for (Index column = 0; column < out.columns; column += kMostTexels)
            if (!CellTile(source, head, part_of(cells, row, column), row, column, out).run(stop))
                return false;
    return true;
}

}  // namespace

bool pool_listed(const WeightSource& source, Head head, const ListedCells& cells,
                 const std::stop_token& stop, Texels& out) {
    if (!sum_cells(source, head, cells, stop, out)) return false;
    finish_texels({static_cast<Index>(cells.rows.size()), cells.keys.end - cells.keys.begin,
                   cells.pool_rows, cells.pool_keys},
                  out);
    spread_empty_rows(source, head, cells.rows, cells.logsumexp, cells.pool_rows, out);
    return true;
}

bool sum_scores(const WeightSource& source, Head head, KeyRange rows, KeyRange keys, Index side,
                const std::stop_token& stop, Texels& out) {
    std::vector<Index> listed(rows.end - rows.begin);
    std::iota(listed.begin(), listed.end(), rows.begin);
    std::vector<float> level;  // in place of L, so that B − L is B itself
    const QueryLanes queries(source, head, 1);
    for (const Index i : listed)
        level.push_back(static_cast<float>(queries.far(i) * std::numbers::ln2));
    if (!sum_cells(source, head, {listed, level, keys, side, side}, stop, out)) return false;
    std::ranges::transform(out.log_mean, out.mean.begin(),
                           [](float sum) { return sum * std::numbers::ln2_v<float>; });
    return true;
}

bool pool_cells(const WeightSource& source, Head head, std::span<const float> logsumexp, Index row,
                Index column, Index rows, Index columns, Index side, const std::stop_token& stop,
                Texels& out) {
    std::vector<Index> listed(rows);
    std::iota(listed.begin(), listed.end(), row);
    return pool_listed(source, head, {listed, logsumexp, {column, column + columns}, side, side},
                       stop, out);
}

}  // namespace attn::large
