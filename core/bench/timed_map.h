#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>

#include "core/large/weight_map.h"
#include "core/result.h"
#include "core/rng.h"
#include "core/stopwatch.h"

namespace attn::large {

// What the measurements of a map share: a screen of so many texels, and how long it waits.
inline constexpr double kViewRows = 800.0;
inline constexpr double kViewColumns = 1200.0;

inline double cells_per_texel(int level) { return static_cast<double>(Index{1} << level); }

/// A map, and the moment when a picture of it fulfils a condition.
class TimedMap {
  public:
    explicit TimedMap(std::shared_ptr<const MapInput> input)
        : map_(std::move(input), {}, [this] { news_.notify_all(); }) {}

    /// A failure where the map ended before: nothing more would come.
    template <class Condition>
    Result<double> seconds_until(const ViewRequest& request, const Condition& fulfilled) {
        const Stopwatch watch;
        map_.want(request);
        std::unique_lock lock(mutex_);
        while (true) {
            last_ = map_.snapshot();
            if (last_ && !last_->fault.empty()) return failed(last_->fault);
            if (last_ && last_->request == request && fulfilled(*last_)) return watch.seconds();
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

inline bool has_preview(const MapSnapshot& snapshot) {
    return snapshot.preview.ready && !snapshot.tiles.empty();
}
inline bool is_complete(const MapSnapshot& snapshot) { return snapshot.complete; }

/// The whole matrix, at the level that a screen wants.
inline ViewRequest whole(Index tokens) {
    ViewRequest request;
    const auto cells = static_cast<double>(tokens);
    int level = 0;
    while (kViewRows * cells_per_texel(level) < cells) ++level;
    request.view = {0.0, 0.0, cells, cells, level};
    return request;
}

/// The n-th view of a level; no two are alike.
inline ViewRequest somewhere(Index tokens, int level, std::uint64_t n) {
    const auto cells = static_cast<double>(tokens);
    const double rows = std::min(kViewRows * cells_per_texel(level), cells);
    const double columns = std::min(kViewColumns * cells_per_texel(level), cells);
    ViewRequest request;
    request.view = {uniform(2, 2 * n) * (cells - rows), uniform(2, 2 * n + 1) * (cells - columns),
                    rows, columns, level};
    return request;
}

}  // namespace attn::large
