// The jobs beside the window: a matrix is opened, its map becomes sharp, its cell is explained.
#include <doctest/doctest.h>

#include "app/common/actions.h"
#include "app/common/document/actions.h"
#include "app/common/document/document.h"
#include "app/common/document/opened.h"
#include "app/common/map/actions.h"
#include "app/common/map/map_cell.h"
#include "app/common/map/requests.h"
#include "app/common/map/state.h"
#include "app/common/state.h"
#include "app/common/text.h"
#include "app/files/open.h"
#include "app/jobs/jobs.h"
#include "app/window/requests.h"
#include "app/workspaces/step/state.h"
#include "attn_tree.h"
#include "core/backend.h"
#include "core/engine.h"
#include "core/large/map_input.h"
#include "core/trace.h"
#include "tests/io/scratch.h"
#include "tests/support/no_threads.h"
#include "tests/support/results.h"

using namespace attn;
using view::map_look, view::step_look;

namespace {

std::string golden(const std::string& name) { return std::string(ATTN_TEST_DATA "/npz/") + name; }

view::Opener opener() { return files::opener(attn::backends()); }

jobs::Jobs idle_jobs() {
    return {opener(), [] {}};
}

/// From the first launch; documents are opened, but no map is computed.
view::AppState started(const view::Actions& actions) {
    view::AppState state = view::initial_state();
    view::play(state, actions, opener());
    return state;
}

view::OpenPlanted planted(Index tokens) { return {{.tokens = tokens}}; }

void open_one_after_another() {
    view::AppState state = view::initial_state();
    view::apply(state, planted(600));
    jobs::Jobs jobs = idle_jobs();
    for (const Index tokens : {600, 700, 700, 512}) {
        view::apply(state, planted(tokens));
        jobs.update(state);
        view::apply(state, planted(tokens));  // before the first is there
        jobs::answer(state, jobs);
        CHECK(state.workspace == "large");
        CHECK_FALSE(state.opening);
        REQUIRE(map_look(state).input);
        CHECK(map_look(state).input->source.size.tq == tokens);
        REQUIRE(map_look(state).snapshot);
        CHECK(map_look(state).snapshot->complete);
    }
    view::apply(state, view::OpenFile{"/nowhere/at-all.npz"});
    jobs::answer(state, jobs);
    CHECK(contains(state.message.text, "/nowhere/at-all.npz"));
    CHECK(state.message.severity == view::Severity::error);
    CHECK(map_look(state).input->source.size.tq == 512);  // nothing else has changed
    view::apply(state, planted(600));
    jobs::answer(state, jobs);
    CHECK(map_look(state).fault.empty());
    CHECK(state.message.severity == view::Severity::info);
    CHECK(map_look(state).input->source.size.tq == 600);
}

}  // namespace

TEST_CASE("the jobs make the input, complete the view and explain the cell") {
    view::AppState state = started({view::OpenFile{golden("qkv.npz")}, view::DocumentReady{},
                                    view::SetWorkspace{"large"}, view::GoToCell{{0, 1}}});
    REQUIRE(state.document().origin == view::DocumentOrigin(view::FileOrigin{golden("qkv.npz")}));
    jobs::Jobs jobs = idle_jobs();
    jobs::answer(state, jobs);
    CAPTURE(map_look(state).fault);
    REQUIRE(map_look(state).input);
    REQUIRE(map_look(state).snapshot);
    CHECK(map_look(state).snapshot->complete);
    REQUIRE(map_look(state).inspected);
    CHECK(map_look(state).inspected->cell == large::Cell{0, 1});
    const auto exact = must(attend(*state.document().inputs, state.document().spec, "reference"));
    CHECK(map_look(state).inspected->arithmetic.weight ==
          doctest::Approx(exact[Stage::weights](0, 0, 0, 1)).epsilon(1e-6));
}

TEST_CASE("the jobs open one matrix after another, the same one again too") {
    open_one_after_another();
}

#ifdef __GLIBC__
TEST_CASE("the jobs open one matrix after another where no thread is to be had") {
    const test::NoThreads none;
    open_one_after_another();
}
#endif

TEST_CASE("of two matrices that are asked for the newest is opened, the other never") {
    view::AppState state = view::initial_state();
    jobs::Jobs jobs = idle_jobs();
    view::apply(state, planted(65536));
    jobs.update(state);
    view::apply(state, planted(512));
    jobs::answer(state, jobs);
    CHECK(std::get<large::PlantedSpec>(state.document().origin).tokens == 512);
    CHECK(state.history.size() == 2);
}

TEST_CASE("a file that is no attention opens as a table of its arrays, with the reason") {
    for (const char* name : {"structured.npz", "complex.npz"}) {
        view::AppState state = view::initial_state();
        jobs::Jobs jobs = idle_jobs();
        view::apply(state, view::OpenFile{golden(name)});
        jobs::answer(state, jobs);
        CHECK(!state.document().no_attention.empty());
        CHECK(state.document().title == name);
        CHECK(state.workspace == "tensors");
    }
    const std::string path = golden("none.npz");
    CHECK(contains(must_fail(opener()({path, 0}, {})).text(), path));
}

TEST_CASE("jobs that are let go in the middle of their work end") {
    for (const Index tokens : {1024, 65536}) {
        view::AppState opening = view::initial_state();
        view::apply(opening, planted(tokens));
        for (const view::AppState& first : {opening, started({planted(tokens)})})
            for (int rounds = 0; rounds < 3; ++rounds) {
                view::AppState state = first;
                jobs::Jobs jobs = idle_jobs();
                for (int round = 0; round < rounds; ++round) {
                    jobs.update(state);
                    for (const view::Action& answer : jobs.take()) view::apply(state, answer);
                }
            }
    }
}

TEST_CASE("the jobs measure the machine once, before the first matrix") {
    view::AppState state = started({planted(512)});
    map_look(state).machine.probes = true;
    REQUIRE(view::requested_probe(state));
    CHECK_FALSE(view::requested_map_input(state));
    jobs::Jobs jobs = idle_jobs();
    jobs::answer(state, jobs);
    CHECK(map_look(state).machine.peak_gflops > 0.0);
    CHECK(map_look(state).machine.stream_gbytes > 0.0);
    CHECK_FALSE(view::requested_probe(state));
    CHECK(map_look(state).input);
}

TEST_CASE("a replay waits at an answer: what comes next finds the document") {
    view::AppState state = view::initial_state();
    jobs::Jobs jobs = idle_jobs();
    const view::Actions actions{planted(600), view::DocumentReady{}, view::GoToCell{{599, 5}}};
    REQUIRE(view::play(state, actions, [&] { jobs::answer(state, jobs); }));
    CHECK(std::get<large::PlantedSpec>(state.document().origin).tokens == 600);
    CHECK(map_look(state).selected == large::Cell{599, 5});
}

TEST_CASE("an error of whoever looks on ends a play") {
    view::AppState state = view::initial_state();
    jobs::Jobs jobs = idle_jobs();
    const auto refuse = [](const view::AppState& after) -> Result<void> {
        if (after.document().spec.mask.causal) return bad_input("no mask, please");
        return {};
    };
    const view::Actions actions{view::SetScaling{false}, view::SetCausal{true},
                                view::GoToStage{Stage::output}};
    const auto answer = [&] { jobs::answer(state, jobs); };
    CHECK(must_fail(view::play(state, actions, answer, refuse)).text() == "no mask, please");
    CHECK(state.stage == Stage::x);
    CHECK(state.document().spec.scale == ScaleKind::none);
}
