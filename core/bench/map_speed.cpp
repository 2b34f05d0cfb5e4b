#include "core/bench/map_speed.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>

#include "core/bench/measure.h"
#include "core/blocks.h"
#include "core/large/planted.h"
#include "core/large/weight_map.h"
#include "core/rng.h"

namespace attn::bench {
namespace {

using namespace attn::large;
using Clock = std::chrono::steady_clock;

constexpr Index kWidth = 64;
constexpr double kViewRows = 800.0;  // texels
constexpr double kViewColumns = 1200.0;
constexpr int kViewsPerLevel = 5;

double cells_per_texel(int level) { return static_cast<double>(Index{1} << level); }

/// A map, and the moment when a picture of it fulfils a condition.
class TimedMap {
  public:
    explicit TimedMap(std::shared_ptr<const MapInput> input)
        : map_(std::move(input), {}, [this] { news_.notify_all(); }) {}

    template <class Condition>
    double seconds_until(const MapWish& wish, const Condition& fulfilled) {
        const Clock::time_point start = Clock::now();
        map_.want(wish);
        std::unique_lock lock(mutex_);
        while (true) {
            last_ = map_.snapshot();
            if (last_ && last_->wish == wish && fulfilled(*last_))
                return std::chrono::duration<double>(Clock::now() - start).count();
            news_.wait_for(lock, std::chrono::milliseconds(1));
        }
    }
    const MapSnapshot& last() const { return *last_; }

  private:
    std::mutex mutex_;
    std::condition_variable news_;
    std::shared_ptr<const MapSnapshot> last_;
    WeightMap map_;
};

bool has_preview(const MapSnapshot& snapshot) {
    return snapshot.preview.ready && !snapshot.tiles.empty();
}
bool is_complete(const MapSnapshot& snapshot) { return snapshot.complete; }

MapWish whole(Index tokens) {
    MapWish wish;
    const auto cells = static_cast<double>(tokens);
    int level = 0;
    while (kViewRows * cells_per_texel(level) < cells) ++level;
    wish.view = {0.0, 0.0, cells, cells, level};
    return wish;
}

MapWish somewhere(Index tokens, int level, std::uint64_t n) {
    const auto cells = static_cast<double>(tokens);
    const double rows = std::min(kViewRows * cells_per_texel(level), cells);
    const double columns = std::min(kViewColumns * cells_per_texel(level), cells);
    MapWish wish;
    wish.view = {uniform(2, 2 * n) * (cells - rows), uniform(2, 2 * n + 1) * (cells - columns),
                 rows, columns, level};
    return wish;
}

double slowest_view_seconds(TimedMap& map, Index tokens) {
    double slowest = 0.0;
    std::uint64_t n = 0;
    const auto cells = static_cast<double>(tokens);
    for (int level = 0; kViewRows * cells_per_texel(level) < 2.0 * cells; ++level) {
        const bool fits = kViewColumns * cells_per_texel(level) < cells;
        std::vector<double> seconds;
        for (int view = 0; view < (fits ? kViewsPerLevel : 1); ++view)
            seconds.push_back(map.seconds_until(somewhere(tokens, level, n++), is_complete));
        slowest = std::max(slowest, median(seconds));
    }
    return slowest;
}

Result<double> fused_gflops() {
    const Workload work{.heads = 8, .n = 2048, .d = kWidth};
    return measure(*find_backend("fused"), work, make_inputs(work), {})
        .map([](const Measured& one) { return one.gflops; });
}

}  // namespace

Result<MapSpeed> measure_map(Index tokens) {
    const auto before = fused_gflops();
    if (!before) return tl::unexpected(before.error());
    release_kept_blocks();
    const bool forgotten = forget_peak_memory();
    PlantedSpec spec;
    spec.tokens = tokens;
    spec.d_k = kWidth;
    auto input = plant(spec);
    if (!input) return tl::unexpected(input.error());
    MapSpeed speed;
    speed.tokens = tokens;
    {
        TimedMap map(std::make_shared<const MapInput>(*std::move(input)));
        MapWish wish = whole(tokens);
        speed.preview_seconds = map.seconds_until(wish, has_preview);
        wish.full_pass = true;
        map.seconds_until(wish, is_complete);
        speed.overview_seconds = map.last().pass.seconds;
        speed.slowest_view_ms = 1e3 * slowest_view_seconds(map, tokens);
        if (forgotten) speed.peak_bytes = peak_process_bytes().value_or(0.0);
    }
    const auto n = static_cast<double>(tokens);
    return fused_gflops().map([&](double after) {
        speed.fused_gflops = 0.5 * (*before + after);
        speed.overview_ratio =
            speed.overview_seconds * speed.fused_gflops / (2e-9 * n * n * kWidth);
        return speed;
    });
}

}  // namespace attn::bench
