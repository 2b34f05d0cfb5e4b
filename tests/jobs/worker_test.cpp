#include "app/jobs/worker.h"
#include "app/common/actions.h"
#include "app/common/state.h"
#include "app/workspaces/saturation/actions.h"
#include "app/workspaces/saturation/state.h"
#include "app/workspaces/step/actions.h"

#include <doctest/doctest.h>

#include <chrono>
#include <functional>
#include <new>
#include <semaphore>
#include <stdexcept>
#include <thread>

#include <fmt/format.h>

#include "app/common/or_throw.h"
#include "app/common/text.h"
#include "app/window/requests.h"
#include "core/text.h"
#include "core/train/run.h"
#include "tests/support/no_threads.h"
#include "tests/support/results.h"

namespace attn {
namespace {

view::SweepRequest with_seed(std::uint64_t seed) {
    SaturationSettings settings;
    settings.model = SaturationModel::sampled;
    settings.trials = 4;
    settings.seed = seed;
    return {settings};
}

/// A request that brings what answers it.
template <class What>
struct Asked {
    What what;
    std::function<view::Action(const What&, const RunControl&)> run;
    bool operator==(const Asked& other) const { return what == other.what; }
};
template <class What>
view::Action run(const Asked<What>& asked, const RunControl& control) {
    return asked.run(asked.what, control);
}

/// A worker and a way to wait for its answers.
template <class What>
struct Rig {
    std::function<view::Action(const What&, const RunControl&)> run;
    view::RequestKind kind{
        "test", [](const view::AppState&) -> std::optional<view::Request> { return std::nullopt; }};
    std::counting_semaphore<> woken{0};
    jobs::Worker worker{kind, {}, [this] { woken.release(); }};

    void update(const std::optional<What>& what) {
        if (!what) return worker.update(std::optional<view::Request>());
        worker.update(std::optional<view::Request>(Asked<What>{*what, run}));
    }
    bool wait() { return woken.try_acquire_for(std::chrono::minutes(1)); }
    /// What comes next; nothing after a minute.
    view::Actions next() {
        if (!wait()) return {};
        return worker.take();
    }
};

view::Action sweep(const view::SweepRequest& request, const RunControl& control) {
    return view::run(request, control);
}

void wait_for_stop(const RunControl& control) {
    while (!control.stop.stop_requested()) std::this_thread::yield();
}

/// Answers a number with its square; -1 only once it is stopped.
view::Action square(int request, const RunControl& control) {
    if (request == -1) wait_for_stop(control);
    return view::StepBy{request * request};
}

/// The same; -1 reports its progress, once before it is stopped and once after.
view::Action reported_square(int request, const RunControl& control) {
    if (request == -1) control.progress(0.25);
    const view::Action answer = square(request, control);
    if (request == -1) control.progress(0.75);
    return answer;
}

/// Of the one action that was taken; -1 when it is another or not alone.
int square_in(const view::Actions& taken) {
    const auto* answer = taken.size() == 1 ? taken.front().as<view::StepBy>() : nullptr;
    return answer ? answer->steps : -1;
}

/// The one answer that was taken.
template <class Answer>
Answer only(const view::Actions& taken) {
    REQUIRE(taken.size() == 1);
    const auto* answer = taken.front().as<Answer>();
    REQUIRE(answer != nullptr);
    return *answer;
}

}  // namespace

TEST_CASE("a request that was stopped is never answered, and the next one is") {
    Rig<int> rig{square};
    rig.update(-1);
    rig.update(2);
    CHECK(square_in(rig.next()) == 4);
    CHECK(rig.worker.take().empty());
}

TEST_CASE("a request that is not made any more is given up, and may be made again") {
    Rig<int> rig{square};
    rig.update(-1);
    rig.update(std::nullopt);
    rig.update(3);
    CHECK(square_in(rig.next()) == 9);
    rig.update(std::nullopt);
    rig.update(3);
    CHECK(square_in(rig.next()) == 9);
}

TEST_CASE("an answer that was not taken is thrown away with its request") {
    Rig<int> rig{square};
    rig.update(3);
    REQUIRE(rig.wait());
    rig.update(std::nullopt);
    CHECK(rig.worker.take().empty());
}

TEST_CASE("a request for curves is answered once, with its own settings") {
    Rig<view::SweepRequest> rig{sweep};
    rig.update(with_seed(7));
    rig.update(with_seed(7));
    const auto ready = only<view::SweepReady>(rig.next());
    CHECK(ready.settings == with_seed(7).settings);
    CHECK(ready.fault.empty());
    CHECK(ready.sweep->size() == view::sweep_widths().size());
    rig.worker.wait_until_idle();
    CHECK(rig.worker.take().empty());
}

TEST_CASE("the newest request wins") {
    Rig<view::SweepRequest> rig{sweep};
    for (std::uint64_t seed = 1; seed <= 50; ++seed) rig.update(with_seed(seed));
    std::uint64_t last = 0;
    while (last != 50) {
        REQUIRE(rig.wait());
        const view::Actions taken = rig.worker.take();  // an answer that a later request made void
        if (taken.empty()) continue;                    // is not there
        const std::uint64_t seed = only<view::SweepReady>(taken).settings.seed;
        CHECK(seed > last);
        last = seed;
    }
}

#ifdef __GLIBC__
TEST_CASE("without a thread the newest request is answered by whoever asks for the answer") {
    const test::NoThreads none;
    Rig<view::SweepRequest> rig{sweep};
    rig.update(with_seed(1));
    rig.update(with_seed(2));
    CHECK(only<view::SweepReady>(rig.next()).settings.seed == 2);
    rig.update(with_seed(3));
    rig.worker.wait_until_idle();
    CHECK(only<view::SweepReady>(rig.worker.take()).settings.seed == 3);
    CHECK(rig.worker.take().empty());
}
#endif

TEST_CASE("a request that throws is answered with the reason") {
    Rig<int> rig{[](int request, const RunControl&) -> view::Action {
        if (request == 1) throw std::bad_alloc();
        if (request == 2) throw std::runtime_error("too many links");
        if (request == 3) throw bad_input("the file has no heads");
        if (request == 4) throw tl::unexpected<Error>(Error{"it is full"});
        if (request == 5) static_cast<void>(product(Index{1} << 62, Index{4}));
        throw 6;
    }};
    for (const auto& [request, text] : {std::pair{1, "Test: there is not enough memory for it."},
                                        {2, "Test: too many links."},
                                        {3, "Test: the file has no heads."},
                                        {4, "Test: it is full."},
                                        {5,
                                         "Test: a size is 4611686018427387904 × 4; expected a "
                                         "number from 0 to 2^63 − 1 that memory can address."},
                                        {6, "Test: an unknown exception was thrown."}}) {
        rig.update(request);
        const view::FailedRequest failed = only<view::RequestFailed>(rig.next()).what;
        CHECK(failed.job == "test");
        CHECK(failed.text == text);
        CHECK(failed.request->as<Asked<int>>()->what == request);
    }
}

TEST_CASE("an error that is thrown is an exception, and keeps whose fault it is") {
    const auto border = [](const std::function<void()>& work) {
        return must_fail(contained(work));
    };
    CHECK_THROWS_AS(throw bad_input("x"), std::exception);
    CHECK_THROWS_WITH(throw failed("the disk is full"), "the disk is full");
    CHECK_THROWS_AS(or_throw(Result<int>(bad_input("x"))), std::exception);
    CHECK(border([] { throw bad_input("x"); }).kind == ErrorKind::input);
    CHECK(border([] { throw failed("x"); }).kind == ErrorKind::failure);
    CHECK(border([] { throw std::runtime_error("x"); }).text() == "x");
    CHECK(border([] { throw std::bad_alloc(); }).kind == ErrorKind::failure);
    CHECK(border([] { throw "text"; }).kind == ErrorKind::failure);
    CHECK(border([] { static_cast<void>(product(Index{1} << 62, Index{4})); }).kind ==
          ErrorKind::input);
}

TEST_CASE("the sentence of an error is bounded, and keeps its beginning and its end") {
    const auto sentence_of = [](const std::string& value) {
        return bad_input(fmt::format("--role is '{}'; expected NAME=ROLE", value)).value().text();
    };
    CHECK(sentence_of("x=y") == "--role is 'x=y'; expected NAME=ROLE");
    for (const std::string& part : {std::string("a"), std::string("√"), std::string("\x80")}) {
        std::string value;
        for (int n = 0; n < 40000; ++n) value += part;
        const std::string sentence = sentence_of(value);
        CHECK(sentence.size() <= kMostErrorBytes);
        CHECK(sentence.starts_with("--role is '" + part));
        CHECK(sentence.ends_with(part + "'; expected NAME=ROLE"));
        if (part != "\x80") CHECK(valid_utf8(sentence) == sentence);
    }
}

TEST_CASE("settings without curves are answered with the reason") {
    Rig<view::SweepRequest> rig{sweep};
    view::SweepRequest request = with_seed(1);
    request.settings.keys = 0;
    rig.update(request);
    const auto ready = only<view::SweepReady>(rig.next());
    CHECK(ready.sweep == nullptr);
    CHECK_FALSE(ready.fault.empty());
    view::AppState state = view::initial_state();
    view::apply(state, ready);
    CHECK(state.message.severity == view::Severity::error);
    CHECK(state.message.text == view::sentence(ready.fault));
}

TEST_CASE("a state is asked for its request, which its answer fulfils") {
    Rig<view::SweepRequest> rig{sweep, view::request_kind<view::requested_sweep>("test")};
    view::AppState state = view::initial_state();
    rig.worker.update(state);
    rig.worker.wait_until_idle();
    CHECK(rig.worker.take().empty());  // another workspace is shown
    view::apply(state, view::ShowSaturationDetails{true});
    view::apply(state, view::SetWorkspace{"saturation"});
    rig.worker.update(state);
    view::apply(state, only<view::SweepReady>(rig.next()));
    CHECK(view::saturation_curves(state).sweep != nullptr);
    CHECK_FALSE(view::requested_sweep(state));
    rig.worker.update(state);
    rig.worker.wait_until_idle();
    CHECK(rig.worker.take().empty());
}

TEST_CASE("progress arrives before the answer, under the worker's name") {
    std::binary_semaphore go{0};
    Rig<int> rig{[&go](int request, const RunControl& control) -> view::Action {
        control.progress(0.5);
        while (!go.try_acquire() && !control.stop.stop_requested()) std::this_thread::yield();
        return view::StepBy{request};
    }};
    rig.update(3);
    const auto progress = only<view::JobProgress>(rig.next());
    CHECK(progress.job == "test");
    CHECK(progress.done == 0.5);
    go.release();
    rig.worker.wait_until_idle();
    CHECK(square_in(rig.worker.take()) == 3);
}

TEST_CASE("of a request that was stopped no progress arrives, told before or after") {
    Rig<int> rig{reported_square};
    rig.update(-1);
    REQUIRE(rig.wait());  // it told some
    rig.update(2);
    rig.worker.wait_until_idle();
    CHECK(square_in(rig.worker.take()) == 4);
}

TEST_CASE("settle waits for the last request, and for nothing where there is none") {
    Rig<int> rig{square};
    rig.worker.wait_until_idle();
    CHECK(rig.worker.take().empty());
    rig.update(4);
    rig.worker.wait_until_idle();
    CHECK(square_in(rig.worker.take()) == 16);
    rig.update(-1);
    rig.update(std::nullopt);
    rig.worker.wait_until_idle();
    CHECK(rig.worker.take().empty());
}

TEST_CASE("a worker ends while it computes: its sweep is cancelled among its draws") {
    view::SweepRequest request = with_seed(1);
    request.settings.trials = kMaxSaturationTrials;  // half a minute
    std::binary_semaphore begun{0};
    view::SweepReady given;
    {
        const auto run = [&](const view::SweepRequest& asked,
                             const RunControl& control) -> view::Action {
            begun.release();
            given = *sweep(asked, control).as<view::SweepReady>();
            return given;
        };
        Rig<view::SweepRequest> rig{run};
        rig.update(request);
        REQUIRE(begun.try_acquire_for(std::chrono::minutes(1)));
        std::this_thread::sleep_for(std::chrono::milliseconds(20));  // it draws
    }
    CHECK(given.settings == request.settings);
    CHECK(given.sweep == nullptr);
    CHECK(given.fault == "the sweep was cancelled");
}

}  // namespace attn
