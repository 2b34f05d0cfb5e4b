#include "core/large/map_snapshot.h"

#include <algorithm>
#include <tuple>

namespace attn::large {
namespace {

std::shared_ptr<const Tile> cached(TileCache& cache, const TileId& id) {
    const TileCache::Entry* entry = cache.find(id);
    return entry != nullptr ? entry->tile : nullptr;
}

/// The finest tile above `id` that is there.
std::shared_ptr<const Tile> cover(TileCache& cache, TileId id, int top) {
    while (id.level < top) {
        id = parent_of(id);
        if (auto tile = cached(cache, id)) return tile;
    }
    return nullptr;
}

/// The visible tiles that are there, and above the others what covers them; coarse first.
Tiles tiles_to_draw(const MapState& state, TileCache& cache, Tiles& of_view) {
    Tiles tiles;
    for (const TileId& id : state.visible) {
        auto tile = cached(cache, id);
        if (tile) of_view.push_back(tile);
        if (!tile) tile = cover(cache, id, state.head->pyramid.top_level());
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
    const bool counted = !head.strip_pairs.empty();
    if (speed > 0.0 && counted && pass.rows_done < pass.rows)
        pass.seconds_left = state.gflop(left) / speed;
    return pass;
}

void note_view(MapState& state, const MapSnapshot& snapshot, const Tiles& of_view) {
    state.view_key.reset();
    if (!snapshot.complete || of_view.empty() || !is_exact(of_view)) return;
    state.view_key.emplace(ViewKey{{}, snapshot.request.view, snapshot.request.top});
    for (const auto& tile : of_view) state.view_key->versions.push_back(tile->version);
    state.view_tiles = of_view;
}

/// Whether colours and profiles of `before` still hold.
bool same_picture(const MapSnapshot& before, const MapSnapshot& now) {
    const auto colors = [](const ViewRequest& request) {
        return std::tuple(request.head.b, request.head.h, request.pooling, request.low_percentile,
                          request.high_percentile);
    };
    return before.tiles == now.tiles && before.scores.tiles == now.scores.tiles &&
           before.request.view == now.request.view &&
           colors(before.request) == colors(now.request) && before.complete == now.complete;
}

ScorePicture score_picture(MapState& state) {
    ScorePicture scores;
    if (!state.request->scores) return scores;
    Tiles of_view;
    scores.tiles = tiles_to_draw(state, state.head->scores, of_view);
    scores.overview = cached(state.head->scores, {state.head->pyramid.top_level(), 0, 0});
    scores.complete = of_view.size() == state.visible.size();
    return scores;
}

/// Rows of the view that are NaN, among its keys.
void count_nans_in_view(MapState& state) {
    const HeadState& head = *state.head;
    if (state.nan_version == head.nan_version && state.nan_view == state.request->view) return;
    state.nan_version = head.nan_version;
    state.nan_view = state.request->view;
    state.nan_in_view = {};
    if (head.nan.rows == 0) return;
    const CellBox box = cells_of(state.nan_view, state.size());
    for (Index i = box.rows.begin; i < box.rows.end; ++i)
        add_nan_row(state.input->source, head.head, i, head.census->rows[i], box.columns.begin,
                    box.columns.end, state.nan_in_view);
}

NotFinite not_finite(MapState& state) {
    const HeadState& head = *state.head;
    if (!head.census) return {};
    count_nans_in_view(state);
    return {true, head.census->q, head.census->k, head.nan, state.nan_in_view, head.rows_unknown};
}

}  // namespace

SnapshotParts begin_snapshot(MapState& state, double now) {
    HeadState& head = *state.head;
    SnapshotParts parts;
    MapSnapshot& out = parts.snapshot;
    out.request = *state.request;
    out.tiles = tiles_to_draw(state, head.tiles, parts.view_tiles);
    out.scores = score_picture(state);
    out.not_finite = not_finite(state);
    out.overview = cached(head.tiles, {head.pyramid.top_level(), 0, 0});
    out.complete = head.preview && head.census && is_complete(state, parts.view_tiles) &&
                   out.scores.complete == out.request.scores;
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
        out.scores = before->scores;
        return;
    }
    if (out.request.scores) describe_scores(out.request, size, out.scores);
    out.colors = color_stats(out.tiles, out.request, size);
    if (out.complete) out.profiles = profiles_of(parts.view_tiles, out.request.view, size);
}

}  // namespace attn::large
