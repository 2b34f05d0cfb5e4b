#pragma once

#include <map>
#include <memory>
#include <span>

#include "core/large/tiles.h"

namespace attn::large {

/// Tiles by id; the longest unused are dropped first. Not thread-safe.
class TileCache {
  public:
    struct Entry {
        std::shared_ptr<const Tile> tile;
        Index strips_known = 0;  // exact strips of its rows when it was made
        double made_at = 0.0;    // seconds
        std::uint64_t used = 0;
    };

    /// Null when it is not there. A tile that is found counts as used now.
    const Entry* find(const TileId& id);
    void put(std::shared_ptr<const Tile> tile, Index strips_known, double made_at);
    /// Drops tiles until at most `budget` bytes are left, but never one of `keep`.
    void trim(std::size_t budget, std::span<const TileId> keep);
    std::size_t bytes() const { return bytes_; }

  private:
    std::map<TileId, Entry> entries_;
    std::size_t bytes_ = 0;
    std::uint64_t clock_ = 0;
};

}  // namespace attn::large
