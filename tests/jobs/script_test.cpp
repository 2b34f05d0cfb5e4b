// What a journal asks for, beside jobs that run: every replay comes to its end.
#include <doctest/doctest.h>

#include <chrono>
#include <thread>

#include "app/common/document/actions.h"
#include "app/common/document/requests.h"
#include "app/common/state.h"
#include "app/jobs/script.h"
#include "tests/support/backends.h"

using namespace attn;
using view::SetBackend, view::TraceReady;

namespace {

/// Computes as staged does, beside the window.
class Device final : public test::LikeStaged {
  public:
    bool has_device() const override { return true; }
    std::string_view name() const override { return "device"; }
    bool has_backward() const override { return false; }
};

/// The state once `lines` were played as the window plays them: answers are taken as they come.
view::AppState played(const view::Actions& lines, const Backend& device) {
    const Backend* const list[] = {find_backend("staged"), &device};
    view::AppState state = view::initial_state();
    state.backends = list;
    jobs::Jobs jobs({}, [] {});
    jobs::Script script;
    script.add(lines);
    const auto dispatch = [&](const view::Action& action) { view::apply(state, action); };
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    const auto waits = [&] { return !script.done() || view::requested_trace(state); };
    for (script.play(state, jobs, dispatch); waits(); script.play(state, jobs, dispatch)) {
        for (const view::Action& answer : jobs.take())
            if (!script.keep(answer)) dispatch(answer);
        if (std::chrono::steady_clock::now() > deadline) break;
        std::this_thread::yield();
    }
    CHECK(script.done());
    state.backends = backends();
    return state;
}

}  // namespace

TEST_CASE("a replay that asks twice for one trace, another backend between, comes to its end") {
    const Device device;
    const view::Actions lines{SetBackend{"device"}, TraceReady{}, SetBackend{"staged"},
                              SetBackend{"device"}, TraceReady{}};
    CHECK(played(lines, device).backend_used == "device");
}

TEST_CASE("an answer that is not requested any more is skipped by a replay") {
    const Device device;
    for (const view::Actions& lines :
         {view::Actions{SetBackend{"device"}, SetBackend{"staged"}, TraceReady{},
                        SetBackend{"device"}, TraceReady{}},
          view::Actions{SetBackend{"device"}, SetBackend{"staged"}, SetBackend{"device"},
                        TraceReady{}, TraceReady{}},
          view::Actions{TraceReady{}, SetBackend{"device"}, TraceReady{}, view::DocumentReady{}}})
        CHECK(played(lines, device).backend_used == "device");
    CHECK(played({SetBackend{"device"}, SetBackend{"staged"}, TraceReady{}}, device).backend_used ==
          "staged");
}
