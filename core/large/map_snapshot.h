#pragma once

#include "core/large/map_state.h"
#include "core/large/view_stats.h"

namespace attn::large {

/// What a snapshot is made of, taken under the lock.
struct SnapshotParts {
    MapSnapshot snapshot;  // without colours and profiles
    Tiles view_tiles;      // of the wanted level in view; all there when complete
};

/// Fills what needs no arithmetic. Notes in `state` that this was described, and which view is complete.
SnapshotParts begin_snapshot(MapState& state, double now);

/// Colours, and profiles where the view is complete; those of `before` where nothing changed.
void finish_snapshot(SnapshotParts& parts, const MapSnapshot* before, const Dimensions& size);

}  // namespace attn::large
