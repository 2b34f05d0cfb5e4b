#pragma once

#include <mutex>
#include <vector>

#include "core/large/texel_rows.h"
#include "core/large/tiles.h"
#include "core/masks.h"

namespace attn::large {

/// The exact part of a map that is kept for good: the logsumexp of rows, and blocks of side × side cells
/// with all coarser levels of them. It grows by strips of rows, in any order and from several threads;
/// memory is taken as they come.
class Pyramid {
  public:
    /// The blocks have the smallest side from 32 on whose pyramid fits `budget_bytes`; smaller ones
    /// where the whole matrix is only a few tiles.
    Pyramid(const WeightSource& source, std::size_t budget_bytes);

    int base_level() const { return base_level_; }
    int top_level() const { return top_level_; }
    Index block_side() const { return Index{1} << base_level_; }

    Index strip_count() const { return strip_count_; }
    KeyRange strip_rows(Index strip) const;
    /// The strips that hold these rows.
    KeyRange strips_of(KeyRange rows) const;

    /// What pool_rows gave for the rows of a strip, pooled by block_side() both ways. Once for each.
    void add_strip(Index strip, PooledRows&& pooled);

    /// Null until every strip below it is there. base_level() <= level <= top_level().
    TexelRow row(int level, Index row) const;
    /// Of rows whose strips were added, and this thread knows it.
    std::span<const float> logsumexp(KeyRange rows) const;
    std::size_t bytes() const;

    TexelAxis queries(int level) const { return {Index{1} << level, tq_}; }
    TexelAxis keys(int level) const { return {Index{1} << level, tk_}; }

  private:
    struct Level {
        std::vector<TexelRow> rows;
        std::vector<char> taken;  // some thread makes it, or has made it
    };

    void add_row(int level, Index row, Texels&& texels);
    /// Whether it falls to the caller to make this row: both rows below are there and nobody has begun.
    bool take(int level, Index row);
    Texels fold(int level, Index row) const;
    Level& at(int level) { return levels_[level - base_level_]; }
    const Level& at(int level) const { return levels_[level - base_level_]; }

    Index tq_;
    Index tk_;
    int top_level_;
    int base_level_;
    Index strip_height_;
    Index strip_count_;
    std::vector<float> logsumexp_;

    mutable std::mutex mutex_;  // of what follows
    std::vector<Level> levels_;
    std::size_t bytes_ = 0;
};

}  // namespace attn::large
