#include "app/sweep_worker.h"

#include <doctest/doctest.h>

#include <chrono>
#include <semaphore>
#include <variant>

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
struct Rig {
    std::counting_semaphore<> woken{0};
    SweepWorker worker{[this] { woken.release(); }};

    /// The next result; fails the test after a minute.
    std::optional<view::Action> next() {
        if (!woken.try_acquire_for(std::chrono::minutes(1))) return std::nullopt;
        return worker.take();
    }
};

}  // namespace

TEST_CASE("a wish for curves is answered once, with its own settings") {
    Rig rig;
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
    Rig rig;
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
    Rig rig;
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
    SweepWorker worker([] {});
    worker.want(settings);
}

}  // namespace attn
