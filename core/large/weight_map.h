#pragma once

#include <array>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/large/cell.h"
#include "core/large/map_choices.h"
#include "core/large/not_finite.h"

namespace attn::large {

struct MapInput;
struct Tile;

/// What the screen looks at, in cells; may reach beyond the matrix.
struct MapView {
    double top = 0.0;
    double left = 0.0;
    double rows = 0.0;
    double columns = 0.0;
    int level = 0;  // of the tiles that the screen wants
    bool operator==(const MapView&) const = default;
};

/// Everything that the screen wants from a map now. Only the last one counts.
struct ViewRequest {
    Head head;
    MapView view;
    bool full_pass = false;  // compute the exact overview; false also pauses it, nothing is lost
    bool moving = false;     // a person is panning or zooming: leave a processor to whoever draws
    std::optional<Search> search;
    Pooling pooling = Pooling::mean;  // of profiles and percentiles
    double low_percentile = 1.0;      // of the colour range
    double high_percentile = 99.9;
    TopChoice top;
    bool scores = false;  // a picture of scores too; weights go on
    bool operator==(const ViewRequest&) const = default;
};

/// The exact pass over the whole matrix.
struct PassState {
    Index rows_done = 0;
    Index rows = 0;
    bool running = false;
    double seconds = 0.0;       // computing, without pauses
    double seconds_left = 0.0;  // estimated from the speed so far, or of the preview
    double gflops = 0.0;        // 2 · pairs · d_k over the time, in GFLOP/s
};

/// The sampled overview: whole exact rows of evenly spaced queries, so that a texel's mean is an
/// unbiased estimate over its rows.
struct PreviewState {
    bool ready = false;
    Index rows_sampled = 0;
    double seconds = 0.0;
    /// Standard error of a texel's mean, relative to it: median and 95 % over the texels of the preview.
    double relative_error_median = 0.0;
    double relative_error_95 = 0.0;
};

struct WeightedCell {
    Cell cell;
    float weight = 0.0F;
};

struct SearchResult {
    Search search;
    std::vector<WeightedCell> cells;  // strongest first
    double total = 0.0;               // Σ of the whole column (attention received) or row
    Index rows_missing = 0;           // queries whose logsumexp is not known yet (of == key)
    Index nans = 0;                   // in no list, for they have no order
    std::optional<Cell> first_nan;
};

/// Means and sums along the edges of the view, exact when the view is complete; whole texels at its borders.
struct Profiles {
    Index first_row = 0, first_column = 0;  // cells
    Index side = 1;                         // cells for each entry
    /// Mean over the texel row's queries of Σ a over the view's keys: 0…1. NaN where a weight is NaN.
    std::vector<double> rows;
    /// Mean of a over the counted queries and the texel column's keys: 0…1 at every zoom.
    std::vector<double> columns;
    Index keys = 0;              // of the view
    Index queries = 0;           // of the view that `columns` counts
    Index queries_left_out = 0;  // those whose row of texels has a NaN
};

struct ColorStats {
    double low = 0.0;  // percentiles of the pooled weights shown, masked texels left out
    double high = 1.0;
};

/// The scores B of the view (see Finish), each texel their mean over the pairs that may attend. Nothing of them is
/// sampled: see score_tile().
struct ScorePicture {
    std::vector<std::shared_ptr<const Tile>>
        tiles;  // coarse first; only `mean` and `allowed` are filled
    std::shared_ptr<const Tile> overview;
    ColorStats colors;               // percentiles of the finite means
    Index nans = 0, infinities = 0;  // texels in view
    bool complete = false;
};

/// One picture of the map's progress; immutable.
struct MapSnapshot {
    std::uint64_t version = 0;
    ViewRequest request;  // what it answers
    std::string fault;    // why nothing more will come, one sentence; "": it will
    /// Tiles to draw, coarse first: a finer one covers what it knows better.
    std::vector<std::shared_ptr<const Tile>> tiles;
    std::shared_ptr<const Tile> overview;  // the whole matrix in one tile, for the minimap
    /// Every tile of the wanted level in view is there and final. Sampled ones are final where the
    /// rows of the view would take too long and nobody wants the whole pass.
    bool complete = false;
    bool working = true;  // more will come for this request; false: nothing is left to do
    PreviewState preview;
    PassState pass;
    std::size_t tile_bytes = 0;        // of the cache
    std::size_t pyramid_bytes = 0;     // of the exact pass's blocks
    Index block_side = 0;              // cells of one block of it
    std::optional<Profiles> profiles;  // when complete
    std::vector<WeightedCell> top;     // the strongest cells in view, when complete and exact
    std::optional<SearchResult> search;
    ColorStats colors;
    ScorePicture scores;  // when requested
    NotFinite not_finite;
};

struct MapLimits {
    std::size_t tile_bytes = std::size_t{192} << 20;  // of the cache
    std::size_t pyramid_bytes = std::size_t{384}
                                << 20;  // decides the side of a block: 32, 64, 128, …
    std::size_t top_cells = 10;
};

/// Computes what the screen wants, on threads of its own, visible first; where no thread is to be had, on that of work() and
/// settle(). Thread-safe.
///   preview  sampled rows (first)
///   tiles    exact, from Q, K and logsumexp, nearest to the middle of the view first; a tile whose rows
///            have no logsumexp yet computes it first (the strips of the pass that hold those rows);
///            tiles that left the view are given up. Without the whole pass, strips that would take
///            more than about two seconds are not begun, but for views of single cells: coarser,
///            sampled tiles stay
///   pass     strips of whole rows, pooled into blocks: the levels that blocks make up are exact where
///            it has been
class WeightMap {
  public:
    /// `wake` is called from a thread of the map when a new snapshot waits.
    /// `folder` may have the strips of this matrix (stored_strips.h), which are then read in place of being computed.
    WeightMap(std::shared_ptr<const MapInput> input, MapLimits limits, std::function<void()> wake,
              std::filesystem::path folder = {});
    ~WeightMap();
    WeightMap(const WeightMap&) = delete;
    WeightMap& operator=(const WeightMap&) = delete;

    /// Never waits.
    void want(const ViewRequest& request);
    /// The newest; null before the first.
    std::shared_ptr<const MapSnapshot> snapshot() const;
    /// Where there is no thread: goes on for about so long. Whether more is left to do here.
    bool work(double seconds);
    /// Waits until nothing is left to do for the last request (tests, offscreen pictures). False when
    /// `stop` came first.
    bool wait_until_idle(const std::stop_token& stop = {});

  private:
    struct Work;
    std::unique_ptr<Work> work_;
};

}  // namespace attn::large
