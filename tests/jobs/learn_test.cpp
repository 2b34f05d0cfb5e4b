// The training beside the window: what it gives is what the same steps give without a thread, however often it is redirected.

#include "app/workspaces/learn/actions.h"
#include "app/workspaces/learn/job.h"

#include <doctest/doctest.h>

#include <chrono>
#include <thread>

#include "app/common/document/edits.h"
#include "app/window/requests.h"
#include "app/workspaces/learn/view.h"
#include "tests/support/learning.h"
#include "tests/support/no_threads.h"

using namespace attn;
using namespace attn::view;

namespace {

AppState learning(Index until) {
    AppState state = test::small_learning();
    view::apply(state, TrainTo{until});
    return state;
}

void wait_until_idle(LearnJob& job, AppState& state) {
    for (int n = 0; n < 3; ++n) {
        job.update(state);
        job.wait_until_idle();
        for (const Action& answer : job.take()) view::apply(state, answer);
    }
}

void check_job() {
    AppState state = learning(40);
    LearnJob job([] {});
    job.update(state);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    for (const Action& answer : job.take()) view::apply(state, answer);
    view::apply(state, SwitchScaling{"b", 7, true});  // in the middle of it
    job.update(state);
    view::apply(state, TrainTo{30});
    wait_until_idle(job, state);
    REQUIRE(learn_look(state).series);
    CHECK(learn_look(state).series->complete);
    CHECK_FALSE(requested_learning(state));

    AppState alone = learning(40);
    view::apply(alone, SwitchScaling{"b", 7, true});
    view::apply(alone, TrainTo{30});
    answer_all(alone);
    for (std::size_t run = 0; run < 2; ++run) {
        const auto& records = learn_look(state).series->sides[run].records;
        const auto& expected = learn_look(alone).series->sides[run].records;
        REQUIRE(records.size() == 30);
        REQUIRE(expected.size() == 30);
        for (std::size_t n = 0; n < records.size(); ++n) CHECK(*records[n] == *expected[n]);
    }
}

}  // namespace

TEST_CASE("the job of Learn gives what the same steps give without it, switched on its way") {
    check_job();
}

#ifdef __GLIBC__
TEST_CASE("without a thread the job of Learn goes on as it is asked for its answers") {
    const test::NoThreads none;
    check_job();
    AppState state = learning(40);
    LearnJob job([] {});
    job.update(state);
    int answers = 0;
    for (; requested_learning(state); ++answers)
        for (const Action& answer : job.take()) view::apply(state, answer);
    CHECK(answers > 0);
    CHECK(learn_look(state).series->sides[0].records.size() == 40);
}
#endif

TEST_CASE("a training that goes on does not keep the job from ending") {
    const AppState state = learning(kMostLearnSteps);
    LearnJob job([] {});
    job.update(state);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
}
