#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>

#include "app/view/actions.h"
#include "app/view/large/view.h"

namespace attn::cli {

/// Queries, keys and mask from a file that `trace` reads, or generated. Errors name the file or setting.
Result<large::MapInput> make_map_input(const view::MapOrigin& origin, const RunControl& control);

/// What the Large workspace shows, computed beside the window: makes the input on a thread of its own,
/// hands wishes to the map and brings back what it answers. Before the first input, while nothing else
/// computes, it may measure the machine.
class MapWorker {
  public:
    /// `wake` is called from other threads when something waits to be taken.
    enum class Measure : std::uint8_t { machine, nothing };
    MapWorker(std::function<void()> wake, Measure measure);
    ~MapWorker();
    MapWorker(const MapWorker&) = delete;
    MapWorker& operator=(const MapWorker&) = delete;

    /// What the screen wants now; nullopt changes nothing. Never waits.
    void want(const std::optional<view::WantedMap>& wanted);
    /// What came since the last time, oldest first.
    view::Actions take();
    /// Waits until the last wish is answered in full; take() brings the answer.
    void settle();

  private:
    using Lock = std::unique_lock<std::mutex>;

    void work(const std::stop_token& quit);
    bool has_work() const;
    void measure(Lock& lock);
    void make(Lock& lock);
    void inspect(Lock& lock);

    std::function<void()> wake_;
    std::mutex mutex_;  // of what follows
    std::condition_variable_any changed_;
    std::optional<view::WantedMap> wanted_;
    bool measured_;
    bool busy_ = false;
    std::stop_source job_;               // of the input being made
    std::optional<std::uint64_t> made_;  // `opened` of what follows
    view::MapOrigin origin_;             // the same
    bool announced_ = false;             // the screen knows the input: its wishes fit it
    std::shared_ptr<const large::MapInput> input_;
    std::shared_ptr<large::WeightMap> map_;
    std::uint64_t seen_ = 0;  // version of the snapshot that was taken
    std::shared_ptr<const view::MapCell> cell_;
    view::Actions results_;
    std::jthread thread_;  // last: started when all else is there
};

}  // namespace attn::cli
