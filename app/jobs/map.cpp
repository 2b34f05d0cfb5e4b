#include "app/jobs/map.h"

#include <fmt/format.h>

#include <new>
#include <system_error>
#include <utility>

#include "core/blocks.h"

namespace attn::jobs {

void Map::update(const view::AppState& state) {
    const auto request = view::requested_map(state);
    if (!request) return;
    head_ = request->view.head;
    if (request->input != input_) replace(request->input);
    if (map_) map_->want(request->view);
}

/// The old map first: nothing as large may come again.
void Map::replace(std::shared_ptr<const large::MapInput> input) {
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

view::Actions Map::take() {
    if (!fault_.empty()) {
        auto failed = std::make_shared<large::MapSnapshot>();
        failed->request.head = head_;
        failed->fault = std::exchange(fault_, {});
        return {view::MapReady{input_, std::move(failed)}};
    }
    const auto snapshot = map_ ? map_->snapshot() : nullptr;
    if (!snapshot || snapshot->version == seen_) return {};
    seen_ = snapshot->version;
    return {view::MapReady{input_, snapshot}};
}

void Map::settle() {
    if (map_) map_->settle();
}

}  // namespace attn::jobs
