#pragma once

#include <functional>
#include <memory>
#include <thread>

#include "app/common/map/requests.h"
#include "app/common/request.h"

namespace attn::jobs {

/// The map of a large matrix: a request says what is in view, and is answered again and again while that becomes sharper.
/// core's WeightMap has the threads.
class Map : public view::Job {
  public:
    /// `wake` is called from the map's threads when something can be taken.
    explicit Map(std::function<void()> wake) : wake_(std::move(wake)) {}

    void update(const view::AppState& state) override;
    view::Actions take() override;
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

}  // namespace attn::jobs
