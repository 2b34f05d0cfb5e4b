#include "core/large/tile_cache.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace attn::large {

const TileCache::Entry* TileCache::find(const TileId& id) {
    const auto found = entries_.find(id);
    if (found == entries_.end()) return nullptr;
    found->second.used = ++clock_;
    return &found->second;
}

void TileCache::put(std::shared_ptr<const Tile> tile, Index strips_known, double made_at) {
    Entry& entry = entries_[tile->id];
    if (entry.tile) bytes_ -= entry.tile->bytes();
    bytes_ += tile->bytes();
    entry = {std::move(tile), strips_known, made_at, ++clock_};
}

void TileCache::trim(std::size_t budget, std::span<const TileId> keep) {
    if (bytes_ <= budget) return;
    std::vector<std::pair<std::uint64_t, TileId>> by_use;
    for (const auto& [id, entry] : entries_)
        if (std::ranges::find(keep, id) == keep.end()) by_use.emplace_back(entry.used, id);
    std::ranges::sort(by_use);
    for (const auto& [used, id] : by_use) {
        if (bytes_ <= budget) return;
        bytes_ -= entries_[id].tile->bytes();
        entries_.erase(id);
    }
}

}  // namespace attn::large
