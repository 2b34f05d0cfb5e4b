#include <algorithm>
#include <utility>

#include "core/large/map_state.h"
#include "core/rounding.h"

namespace attn::large {
namespace {

constexpr double kSnapshotSeconds = 0.030;  // between two of them while there is other work
constexpr double kProgressSeconds = 0.150;  // when only the pass went on: each costs a frame
constexpr double kRefreshSeconds = 0.250;   // of a tile that is exact in part
constexpr double kSearchSeconds = 0.500;    // of a search among rows that are still coming
constexpr double kAffordableSeconds = 2.5;  // that a view may cost without the whole pass
constexpr double kPartGflop = 0.3;

using Strip = HeadState::Strip;

Task begin(const MapState& state, Task::Kind kind, Index index = 0) {
    Task task;
    task.kind = kind;
    task.index = index;
    task.head = state.head;
    return task;
}

std::optional<Task> next_snapshot(MapState& state) {
    if (state.describing || !(state.changed || state.progressed)) return std::nullopt;
    state.describing = true;
    return begin(state, Task::Kind::describe);
}

/// What is NaN is known early: nothing may be called exact before.
std::optional<Task> next_census(MapState& state) {
    if (state.head->census_begun) return std::nullopt;
    state.head->census_begun = true;
    return begin(state, Task::Kind::census);
}

/// Before any strip is begun.
std::optional<Task> next_count(MapState& state) {
    if (state.head->count_begun) return std::nullopt;
    state.head->count_begun = true;
    return begin(state, Task::Kind::count);
}

std::optional<Task> next_score(MapState& state) {
    HeadState& head = *state.head;
    for (const TileId& id : wanted_scores(state)) {
        if (head.scores.find(id) != nullptr || head.scoring.contains(id)) continue;
        head.scoring.insert(id);
        Task task = begin(state, Task::Kind::score);
        task.tile = id;
        return task;
    }
    return std::nullopt;
}

std::optional<Task> next_preview(MapState& state, double now) {
    HeadState& head = *state.head;
    if (head.chunks_handed_out == head.chunk_count()) return std::nullopt;
    if (head.chunks_handed_out == 0) head.preview_started = now;
    return begin(state, Task::Kind::preview, head.chunks_handed_out++);
}

std::optional<Task> next_strip(MapState& state, KeyRange among, double now) {
    HeadState& head = *state.head;
    const auto first = head.strips.begin() + among.begin;
    const auto last = head.strips.begin() + among.end;
    const auto missing = std::find(first, last, Strip::missing);
    if (missing == last) return std::nullopt;
    *missing = Strip::running;
    if (head.strips_running++ == 0) head.pass_resumed = now;
    return begin(state, Task::Kind::strip, missing - head.strips.begin());
}

/// Makes or renews a tile from blocks, where there is something new for it.
std::optional<Task> next_blocks(MapState& state, const TileId& id, double now) {
    HeadState& head = *state.head;
    const KeyRange strips = head.strips_of(id, state.size());
    const Index known = head.strips_done_in(strips);
    const bool all = known == strips.end - strips.begin;
    if (!all && id.level < head.plan.level) return std::nullopt;
    if (head.building.contains(id)) return std::nullopt;
    if (const TileCache::Entry* entry = head.tiles.find(id)) {
        if (entry->strips_known == known) return std::nullopt;
        if (!all && now - entry->made_at < kRefreshSeconds && head.strips_running > 0)
            return std::nullopt;
    }
    head.building.insert(id);
    Task task = begin(state, Task::Kind::blocks);
    task.tile = id;
    task.strips_known = known;
    return task;
}

std::shared_ptr<TileJob> start_job(const MapState& state, const TileId& id) {
    const CellBox cells = cells_of(id, state.size());
    const Index texel_rows = TexelAxis{id.side(), cells.rows.end - cells.rows.begin}.texels();
    const double gflop = state.gflop(static_cast<double>(
        (cells.rows.end - cells.rows.begin) * (cells.columns.end - cells.columns.begin)));
    const auto parts = std::clamp<Index>(static_cast<Index>(gflop / kPartGflop), 1,
                                         std::min<Index>(8, texel_rows));
    auto job = std::make_shared<TileJob>();
    job->tile = std::make_shared<Tile>();
    job->tile->id = id;
    job->part_rows = divide_up(texel_rows, parts);
    job->parts = (texel_rows + job->part_rows - 1) / job->part_rows;
    return job;
}

std::optional<Task> next_part(MapState& state, const TileId& id) {
    HeadState& head = *state.head;
    if (head.tiles.find(id) != nullptr) return std::nullopt;
    std::shared_ptr<TileJob>& job = head.jobs[id];
    if (!job) job = start_job(state, id);
    if (job->handed_out == job->parts) return std::nullopt;
    Task task = begin(state, Task::Kind::part, job->handed_out++);
    task.tile = id;
    task.job = job;
    return task;
}

std::optional<Task> next_visible(MapState& state, double now) {
    HeadState& head = *state.head;
    const bool strips_wanted = state.affordable || state.request->full_pass;
    for (const TileId& id : state.visible) {
        const bool from_blocks = id.level >= head.pyramid.base_level();
        if (from_blocks)
            if (auto task = next_blocks(state, id, now)) return task;
        if (!head.is_exact(id, state.size())) {
            if (!strips_wanted) continue;
            if (auto task = next_strip(state, head.strips_of(id, state.size()), now)) return task;
        } else if (!from_blocks) {
            if (auto task = next_part(state, id)) return task;
        }
    }
    return std::nullopt;
}

std::optional<Task> next_ground(MapState& state, double now) {
    for (const TileId& id : ground_tiles(state))
        if (auto task = next_blocks(state, id, now)) return task;
    return std::nullopt;
}

std::optional<Task> next_top(MapState& state) {
    if (!state.view_key || state.top_key == state.view_key) return std::nullopt;
    state.top_key = state.view_key;
    state.top_ready = false;
    Task task = begin(state, Task::Kind::top);
    task.view = state.view_key;
    task.tiles = state.view_tiles;
    return task;
}

bool valid(const Search& search, const Dimensions& size) {
    const Index count = search.of == Search::Of::key ? size.tk : size.tq;
    return search.index >= 0 && search.index < count;
}

bool is_current(const MapState& state, const SearchResult& found, double now) {
    if (found.search != *state.request->search) return false;
    if (found.search.of == Search::Of::query || state.found_strips == state.head->strips_done)
        return true;
    return state.head->strips_running > 0 && now - state.found_at < kSearchSeconds;
}

std::optional<Task> next_search(MapState& state, double now) {
    if (!state.request->search || state.searching) return std::nullopt;
    if (!valid(*state.request->search, state.size())) return std::nullopt;
    if (state.found && is_current(state, *state.found, now)) return std::nullopt;
    state.searching = state.request->search;
    Task task = begin(state, Task::Kind::search);
    task.strips_known = state.head->strips_done;
    return task;
}

/// Whether the logsumexp that the view lacks is computed even when nobody wants the whole pass: always
/// where single cells are looked at, and where it does not take long.
bool is_affordable(const MapState& state, double now) {
    if (state.level == 0) return true;
    const HeadState& head = *state.head;
    double missing = 0.0;
    KeyRange strips{head.pyramid.strip_count(), 0};
    for (const TileId& id : state.visible) {
        const KeyRange range = head.strips_of(id, state.size());
        strips = {std::min(strips.begin, range.begin), std::max(strips.end, range.end)};
    }
    for (Index s = strips.begin; s < strips.end; ++s)
        if (head.strips[s] != Strip::done) missing += head.strip_pairs[s];
    return state.gflop(missing) <= kAffordableSeconds * state.speed(now);
}

}  // namespace

void adopt(MapState& state, const ViewRequest& request) {
    const bool other_head = !state.request || !(state.request->head == request.head);
    state.request = request;
    if (other_head) {
        state.head = std::make_shared<HeadState>(state.input->source, request.head, state.limits);
        state.view_key.reset();
        state.top_key.reset();
        state.top_ready = false;
        state.view_tiles.clear();
        state.found.reset();
        state.nan_version.reset();
    }
    state.level = level_of(request.view, state.size());
    state.visible = tiles_in_view(request.view, state.level, state.size());
    state.affordability_known = false;
    std::erase_if(state.head->jobs, [&](const auto& job) {
        return std::ranges::find(state.visible, job.first) == state.visible.end();
    });
    state.changed = true;
}

std::vector<TileId> wanted_scores(const MapState& state) {
    std::vector<TileId> tiles;
    if (!state.request->scores) return tiles;
    tiles.push_back({state.head->pyramid.top_level(), 0, 0});
    tiles.insert(tiles.end(), state.visible.begin(), state.visible.end());
    return tiles;
}

std::vector<TileId> ground_tiles(const MapState& state) {
    std::vector<TileId> tiles;
    for (int level = level_count(state.size()) - 1; level >= state.head->plan.level; --level)
        std::ranges::copy(tiles_of_level(level, state.size()), std::back_inserter(tiles));
    return tiles;
}

std::optional<Task> next_task(MapState& state, double now) {
    if (!state.request) return std::nullopt;
    if (now - state.described_at >= (state.changed ? kSnapshotSeconds : kProgressSeconds))
        if (auto task = next_snapshot(state)) return task;
    if (auto task = next_census(state)) return task;
    if (auto task = next_count(state)) return task;
    if (auto task = next_score(state)) return task;
    if (auto task = next_preview(state, now)) return task;
    if (!state.head->preview || state.head->strip_pairs.empty()) return next_snapshot(state);
    if (!state.affordability_known) {
        state.affordable = is_affordable(state, now);
        state.affordability_known = true;
    }
    if (auto task = next_ground(state, now)) return task;
    if (auto task = next_visible(state, now)) return task;
    if (auto task = next_top(state)) return task;
    if (auto task = next_search(state, now)) return task;
    if (state.request->full_pass && !state.request->moving)
        if (auto task = next_strip(state, {0, state.head->pyramid.strip_count()}, now)) return task;
    return next_snapshot(state);
}

}  // namespace attn::large
