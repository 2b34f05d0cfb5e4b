#include "core/large/map_snapshot.h"

#include <algorithm>
#include <tuple>

namespace attn::large {
namespace {

std::shared_ptr<const Tile> cached(HeadState& head, const TileId& id) {
    const TileCache::Entry* entry = head.tiles.find(id);
    return entry != nullptr ? entry->tile : nullptr;
}

/// The finest tile above `id` that is there.
std::shared_ptr<const Tile> cover(HeadState& head, TileId id, int top) {
    while (id.level < top) {
        id = parent_of(id);
        if (auto tile = cached(head, id)) return tile;
    }
    return nullptr;
}

/// The visible tiles that are there, and above the others what covers them; coarse first.
Tiles tiles_to_draw(MapState& state, Tiles& of_view) {
    HeadState& head = *state.head;
    Tiles tiles;
    for (const TileId& id : state.visible) {
        auto tile = cached(head, id);
        if (tile) of_view.push_back(tile);
        if (!tile) tile = cover(head, id, head.pyramid.top_level());
        if (tile && std::ranges::find(tiles, tile) == tiles.end()) tiles.push_back(tile);
    }
    std::ranges::stable_sort(
        tiles, [](const auto& a, const auto& b) { return a->id.level > b->id.level; });
    return tiles;
}

/// Every visible tile is there, and no more is to come for any of them.
bool is_complete(const MapState& state, const Tiles& of_view) {
    if (of_view.size() != state.visible.size()) return false;
    const bool more = state.affordable || state.request->full_pass;
    return std::ranges::all_of(
        of_view, [&](const auto& tile) { return tile->origin == TileOrigin::exact || !more; });
}

bool is_exact(const Tiles& tiles) {
    return std::ranges::all_of(tiles,
                               [](const auto& tile) { return tile->origin == TileOrigin::exact; });
}

PreviewState preview_state(const HeadState& head) {
    PreviewState state;
    state.ready = head.preview != nullptr;
    state.rows_sampled = static_cast<Index>(head.plan.rows.size());
    state.seconds = head.preview_seconds;
    if (!head.preview) return state;
    state.relative_error_median = head.preview->relative_error_median;
    state.relative_error_95 = head.preview->relative_error_95;
    return state;
}

PassState pass_state(const MapState& state, double now) {
    const HeadState& head = *state.head;
    PassState pass;
    pass.rows_done = head.rows_done;
    pass.rows = state.size().tq;
    pass.running = head.strips_running > 0;
    pass.seconds = state.pass_seconds(now);
    if (pass.seconds > 0.0) pass.gflops = state.gflop(head.pass_pairs) / pass.seconds;
    double left = -head.pass_pairs;
    for (const double pairs : head.strip_pairs) left += pairs;
    const double speed = state.speed(now);
    if (speed > 0.0 && pass.rows_done < pass.rows) pass.seconds_left = state.gflop(left) / speed;
    return pass;
}

void note_view(MapState& state, const MapSnapshot& snapshot, const Tiles& of_view) {
    state.view_key.reset();
    if (!snapshot.complete || of_view.empty() || !is_exact(of_view)) return;
    state.view_key.emplace(ViewKey{{}, snapshot.request.view});
    for (const auto& tile : of_view) state.view_key->versions.push_back(tile->version);
    state.view_tiles = of_view;
}

/// Whether colours and profiles of `before` still hold.
bool same_picture(const MapSnapshot& before, const MapSnapshot& now) {
    const auto colors = [](const ViewRequest& request) {
        return std::tuple(request.head.b, request.head.h, request.pooling, request.low_percentile,
                          request.high_percentile);
    };
    return before.tiles == now.tiles && before.request.view == now.request.view &&
           colors(before.request) == colors(now.request) && before.complete == now.complete;
}

}  // namespace

SnapshotParts begin_snapshot(MapState& state, double now) {
    HeadState& head = *state.head;
    SnapshotParts parts;
    MapSnapshot& out = parts.snapshot;
    out.request = *state.request;
    out.tiles = tiles_to_draw(state, parts.view_tiles);
    out.overview = cached(head, {head.pyramid.top_level(), 0, 0});
    out.complete = head.preview && is_complete(state, parts.view_tiles);
    out.preview = preview_state(head);
    out.pass = pass_state(state, now);
    out.tile_bytes = head.tiles.bytes();
    out.pyramid_bytes = head.pyramid.bytes();
    out.block_side = head.pyramid.block_side();
    note_view(state, out, parts.view_tiles);
    if (state.top_ready && state.top_key == state.view_key) out.top = state.top;
    if (state.found && state.request->search == state.found->search) out.search = state.found;
    state.changed = state.progressed = false;
    state.described_at = now;
    return parts;
}

void finish_snapshot(SnapshotParts& parts, const MapSnapshot* before, const Dimensions& size) {
    MapSnapshot& out = parts.snapshot;
    if (before != nullptr && same_picture(*before, out)) {
        out.colors = before->colors;
        out.profiles = before->profiles;
        return;
    }
    out.colors = color_stats(out.tiles, out.request, size);
    if (out.complete) out.profiles = profiles_of(parts.view_tiles, out.request.view, size);
}

}  // namespace attn::large
