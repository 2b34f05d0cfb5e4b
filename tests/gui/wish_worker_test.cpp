#include "app/wish_worker.h"

#include <doctest/doctest.h>

#include <chrono>
#include <semaphore>
#include <variant>

#include "app/view/requests.h"

namespace attn {
namespace {

SaturationSettings with_seed(std::uint64_t seed) {
    SaturationSettings settings;
    settings.model = SaturationModel::sampled;
    settings.trials = 4;
    settings.seed = seed;
    return settings;
}

/// A worker and a way to wait for its results.
template <class Wish>
struct Rig {
    typename WishWorker<Wish>::Answer answer;
    std::counting_semaphore<> woken{0};
    WishWorker<Wish> worker{answer, [this] { woken.release(); }};

    /// The next result; fails the test after a minute.
    std::optional<view::Action> next() {
        if (!woken.try_acquire_for(std::chrono::minutes(1))) return std::nullopt;
        return worker.take();
    }
};

view::Action sweep(const SaturationSettings& wish, const std::stop_token& stop) {
    return view::answer(wish, stop);
}

/// Answers a number with its square; -1 only once it is stopped.
view::Action square(int wish, const std::stop_token& stop) {
    while (wish == -1 && !stop.stop_requested()) std::this_thread::yield();
    return view::GoToStage{static_cast<Stage>(wish * wish)};
}

int square_in(const std::optional<view::Action>& action) {
    return action ? static_cast<int>(std::get<view::GoToStage>(*action).stage) : -1;
}

}  // namespace

TEST_CASE("a wish that was stopped is never answered, and the next one is") {
    Rig<int> rig{square};
    rig.worker.want(-1);
    rig.worker.want(2);
    CHECK(square_in(rig.next()) == 4);
    CHECK_FALSE(rig.worker.take().has_value());
}

TEST_CASE("a wish that is taken back is given up, and may be made again") {
    Rig<int> rig{square};
    rig.worker.want(-1);
    rig.worker.want(std::nullopt);
    rig.worker.want(3);
    CHECK(square_in(rig.next()) == 9);
    rig.worker.want(std::nullopt);
    rig.worker.want(3);
    CHECK(square_in(rig.next()) == 9);
}

TEST_CASE("a wish for curves is answered once, with its own settings") {
    Rig<SaturationSettings> rig{sweep};
    rig.worker.want(with_seed(7));
    rig.worker.want(with_seed(7));
    const auto action = rig.next();
    REQUIRE(action.has_value());
    const auto* ready = std::get_if<view::SweepReady>(&*action);
    REQUIRE(ready != nullptr);
    CHECK(ready->settings == with_seed(7));
    CHECK(ready->sweep->size() == view::sweep_widths().size());
    CHECK_FALSE(rig.worker.take().has_value());
}

TEST_CASE("the newest wish wins") {
    Rig<SaturationSettings> rig{sweep};
    for (std::uint64_t seed = 1; seed <= 50; ++seed) rig.worker.want(with_seed(seed));
    std::uint64_t last = 0;
    while (last != 50) {
        REQUIRE(rig.woken.try_acquire_for(std::chrono::minutes(1)));
        const auto action = rig.worker.take();  // a result that a later wish made void is not there
        if (!action) continue;
        const std::uint64_t seed = std::get<view::SweepReady>(*action).settings.seed;
        CHECK(seed > last);
        last = seed;
    }
}

TEST_CASE("settings without curves are answered with the reason") {
    Rig<SaturationSettings> rig{sweep};
    SaturationSettings settings = with_seed(1);
    settings.keys = 0;
    rig.worker.want(settings);
    const auto action = rig.next();
    REQUIRE(action.has_value());
    const auto* notice = std::get_if<view::Notify>(&*action);
    REQUIRE(notice != nullptr);
    CHECK(notice->message.severity == view::Severity::error);
    CHECK_FALSE(notice->message.words.empty());
}

TEST_CASE("a worker ends while it computes") {
    SaturationSettings settings = with_seed(1);
    settings.trials = 1'000'000;
    WishWorker<SaturationSettings> worker(sweep, [] {});
    worker.want(settings);
}

}  // namespace attn
