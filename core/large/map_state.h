#pragma once

#include <filesystem>
#include <optional>
#include <set>
#include <stop_token>
#include <vector>

#include "core/large/map_input.h"
#include "core/large/not_finite.h"
#include "core/large/preview.h"
#include "core/large/pyramid.h"
#include "core/large/tile_cache.h"
#include "core/large/tile_grid.h"

namespace attn::large {

// What a map of weights knows and what it is doing. One lock guards all of it; what tasks compute with
// is immutable, or belongs to one task alone.

/// A tile that threads make together, each some rows of its texels.
struct TileJob {
    std::shared_ptr<Tile> tile;
    Index part_rows = 0;  // texel rows of a part
    Index parts = 0;
    Index handed_out = 0;
    Index done = 0;
};

/// What the top cells of a view depend on.
struct ViewKey {
    std::vector<std::uint64_t> versions;  // of its tiles
    MapView view;
    TopChoice choice;
    bool operator==(const ViewKey&) const = default;
};

/// One piece of work for a thread. `stop` ends it early.
struct Task {
    enum class Kind : std::uint8_t {
        describe,
        census,
        count,
        preview,
        strip,
        part,
        blocks,
        score,
        top,
        search
    };
    Kind kind = Kind::describe;
    Index index = 0;  // of the preview's chunk, the strip or the part
    TileId tile;
    Index strips_known = 0;  // of the tile's rows when the task began
    std::shared_ptr<TileJob> job;
    std::optional<ViewKey> view;  // whose top cells are looked for, among these tiles
    std::vector<std::shared_ptr<const Tile>> tiles;
    std::shared_ptr<struct HeadState> head;
    std::stop_source stop;
};

/// Everything computed for one head.
struct HeadState {
    HeadState(const WeightSource& source, Head head_, const MapLimits& limits);

    enum class Strip : std::uint8_t { missing, running, done };

    const Head head;
    Pyramid pyramid;
    const PreviewPlan plan;

    std::vector<TexelRow> sampled;  // a row of texels for each of plan.rows
    Index chunks_handed_out = 0;
    Index chunks_done = 0;
    double preview_started = 0.0;
    double preview_seconds = 0.0;
    double preview_gflops = 0.0;
    double preview_pairs = 0.0;              // of its rows, counted as strip_pairs are
    std::shared_ptr<const Preview> preview;  // when it is ready

    std::vector<Strip> strips;
    bool count_begun = false;
    std::vector<double>
        strip_pairs;  // that may attend, before a custom mask; empty: not counted yet
    Index strips_done = 0;
    Index rows_done = 0;
    Index strips_running = 0;
    double pass_pairs = 0.0;  // allowed pairs of the strips that are done
    double pass_seconds = 0.0;
    double pass_resumed = 0.0;  // when the strips that run now began

    TileCache tiles;
    std::map<TileId, std::shared_ptr<TileJob>> jobs;
    std::set<TileId> building;  // tiles of blocks that some thread makes now

    TileCache scores;          // tiles of scores
    std::set<TileId> scoring;  // that some thread makes now

    bool census_begun = false;
    std::optional<Census> census;  // its rows are as they turned out where their logsumexp is known
    NanWeights nan;                // of all rows
    Index rows_unknown = 0;
    std::uint64_t nan_version = 0;  // differs after each change of the two

    Index chunk_count() const;
    /// Of plan.rows.
    KeyRange chunk_rows(Index chunk) const;
    Index strips_done_in(KeyRange strips) const;
    KeyRange strips_of(const TileId& id, const Dimensions& size) const;
    /// Runs of rows whose logsumexp is there.
    std::vector<KeyRange> known_rows() const;
    bool is_exact(const TileId& id, const Dimensions& size) const;

    /// Takes what Q, K and the mask say of the rows; strips that are done know better.
    void keep_census(const WeightSource& source, Census&& found);
    /// What strip_pairs becomes; strips that are read cost no pairs. Without the lock: it takes a while.
    std::vector<double> count_pairs(const WeightSource& source,
                                    const std::filesystem::path& strips_read) const;
    /// Rows whose logsumexp is there now.
    void resolve_fates(const WeightSource& source, KeyRange rows);

  private:
    /// Whether the row turned out to be NaN only now.
    bool resolve_fate(const WeightSource& source, Index row);
};

struct MapState {
    MapState(std::shared_ptr<const MapInput> input_, MapLimits limits_)
        : input(std::move(input_)), limits(limits_) {}

    const std::shared_ptr<const MapInput> input;
    const MapLimits limits;
    std::filesystem::path strips;  // of stored_strips.h; "": there are none

    std::optional<ViewRequest> request;
    std::shared_ptr<HeadState> head;
    int level = 0;                // that answers the view
    std::vector<TileId> visible;  // of that level, the middle first
    bool affordability_known = false;
    bool affordable = true;  // the logsumexp that the view lacks does not take long

    bool changed = false;     // what is to be seen, since the last snapshot
    bool progressed = false;  // the pass, since the last snapshot
    bool describing = false;  // some thread makes a snapshot
    double described_at = -1.0;

    std::optional<ViewKey> view_key;  // of a view that is complete and exact
    std::vector<std::shared_ptr<const Tile>> view_tiles;
    std::optional<ViewKey> top_key;  // of `top`, or of the search for it that runs
    std::vector<WeightedCell> top;
    bool top_ready = false;

    NanWeights nan_in_view;  // of `nan_view`, at `nan_version`
    MapView nan_view;
    std::optional<std::uint64_t> nan_version;

    std::optional<SearchResult> found;
    std::optional<Search> searching;
    Index found_strips = 0;  // known when `found` was made
    double found_at = 0.0;

    const Dimensions& size() const { return input->source.size; }
    double gflop(double pair_count) const {
        return 2e-9 * pair_count * static_cast<double>(size().d_k);
    }
    /// GFLOP/s of strips so far, or of the preview.
    double speed(double now) const;
    double pass_seconds(double now) const;
};

/// Takes a new request: what is visible, and whether it is affordable; forgets another head.
void adopt(MapState& state, const ViewRequest& request);

/// The score tiles of the request: the one of the whole matrix, then the visible ones.
std::vector<TileId> wanted_scores(const MapState& state);

/// Tiles that are made from blocks and cover everything: the preview's level and coarser ones.
std::vector<TileId> ground_tiles(const MapState& state);

/// The most urgent thing that nobody does yet, noted as begun; null when there is none at `now`.
/// The snapshot, the preview, the view from its middle outward, then the whole pass.
std::optional<Task> next_task(MapState& state, double now);

}  // namespace attn::large
