#include <functional>
#include <memory>
#include <new>
#include <system_error>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "app/common/map/actions.h"
#include "app/common/map/requests.h"
#include "app/common/request.h"
#include "core/blocks.h"

namespace attn::view {
namespace {

/// The map of a large matrix: a request says what is in view, and is answered again and again while that becomes sharper.
/// core's WeightMap has the threads.
class MapJob : public Job {
  public:
    /// `wake` is called from the map's threads when something can be taken.
    explicit MapJob(std::function<void()> wake) : wake_(std::move(wake)) {}

    void update(const AppState& state) override;
    Actions take() override;
    void settle() override;

  private:
    void replace(std::shared_ptr<const large::MapInput> input);

    std::function<void()> wake_;
    std::shared_ptr<const large::MapInput> input_;
    std::shared_ptr<large::WeightMap> map_;
    large::Head head_;         // that was requested last
    std::string fault_;        // why there is no map of `input_`
    std::uint64_t seen_ = 0;   // version of the snapshot that was taken
    std::jthread retirement_;  // of the map before: its threads end without the window waiting
};

void MapJob::update(const AppState& state) {
    const auto request = requested_map(state);
    if (!request) return;
    head_ = request->view.head;
    if (request->input != input_) replace(request->input);
    if (map_) map_->want(request->view);
}

/// The old map first: nothing as large may come again.
void MapJob::replace(std::shared_ptr<const large::MapInput> input) {
    auto old = std::exchange(map_, nullptr);
    input_ = std::move(input);
    fault_.clear();
    seen_ = 0;
    const auto retire = [](std::shared_ptr<large::WeightMap> map) {
        map.reset();
        release_kept_blocks();
    };
    try {
        if (old) retirement_ = std::jthread(retire, std::move(old));
        map_ = std::make_shared<large::WeightMap>(input_, large::MapLimits{}, wake_);
    } catch (const std::system_error& error) {
        fault_ = fmt::format("no thread could be started for the map: {}", error.what());
        wake_();
    } catch (const std::bad_alloc&) {
        fault_ = "there is not enough memory for the map";
        wake_();
    }
}

Actions MapJob::take() {
    if (!fault_.empty()) {
        auto failed = std::make_shared<large::MapSnapshot>();
        failed->request.head = head_;
        failed->fault = std::exchange(fault_, {});
        return {MapReady{input_, std::move(failed)}};
    }
    const auto snapshot = map_ ? map_->snapshot() : nullptr;
    if (!snapshot || snapshot->version == seen_) return {};
    seen_ = snapshot->version;
    return {MapReady{input_, snapshot}};
}

void MapJob::settle() {
    if (map_) map_->settle();
}

}  // namespace

std::unique_ptr<Job> make_map_job(std::function<void()> wake) {
    return std::make_unique<MapJob>(std::move(wake));
}

}  // namespace attn::view
