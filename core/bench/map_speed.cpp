#include "core/bench/map_speed.h"

#include <algorithm>

#include "core/backend.h"
#include "core/bench/measure.h"
#include "core/bench/timed_map.h"
#include "core/blocks.h"
#include "core/large/planted.h"
#include "core/large/planted_spec.h"

namespace attn::bench {
namespace {

using namespace attn::large;

constexpr Index kWidth = 64;
constexpr int kViewsPerLevel = 5;

/// Median of a level's views, the largest over the levels.
Result<double> slowest_view_seconds(TimedMap& map, Index tokens) {
    double slowest = 0.0;
    std::uint64_t n = 0;
    const auto cells = static_cast<double>(tokens);
    for (int level = 0; kViewRows * cells_per_texel(level) < 2.0 * cells; ++level) {
        const bool fits = kViewColumns * cells_per_texel(level) < cells;
        std::vector<double> seconds;
        for (int view = 0; view < (fits ? kViewsPerLevel : 1); ++view) {
            const auto taken = map.seconds_until(somewhere(tokens, level, n++), is_complete);
            if (!taken) return taken;
            seconds.push_back(*taken);
        }
        slowest = std::max(slowest, median(seconds));
    }
    return slowest;
}

Result<void> time_map(TimedMap& map, MapSpeed& speed) {
    ViewRequest request = whole(speed.tokens);
    const auto preview = map.seconds_until(request, has_preview);
    if (!preview) return tl::unexpected(preview.error());
    request.full_pass = true;
    if (auto exact = map.seconds_until(request, is_complete); !exact)
        return tl::unexpected(exact.error());
    speed.preview_seconds = *preview;
    speed.overview_seconds = map.last().pass.seconds;
    return slowest_view_seconds(map, speed.tokens).map([&](double seconds) {
        speed.slowest_view_ms = 1e3 * seconds;
    });
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
    release_cached_blocks();
    const bool forgotten = clear_peak_memory();
    PlantedSpec spec;
    spec.tokens = tokens;
    spec.d_k = kWidth;
    auto input = plant(spec);
    if (!input) return tl::unexpected(input.error());
    MapSpeed speed;
    speed.tokens = tokens;
    {
        TimedMap map(std::make_shared<const MapInput>(*std::move(input)));
        if (auto timed = time_map(map, speed); !timed) return tl::unexpected(timed.error());
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
