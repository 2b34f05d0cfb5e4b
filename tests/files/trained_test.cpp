// A moment of a training, and a run that was saved, as documents.

#include <doctest/doctest.h>

#include "app/common/document/actions.h"
#include "app/common/document/document.h"
#include "app/common/workspace.h"
#include "app/files/open.h"
#include "app/window/requests.h"
#include "app/window/session.h"
#include "app/workspaces/learn/actions.h"
#include "core/backend.h"
#include "core/trace.h"
#include "core/train/run.h"
#include "core/train/trainer.h"
#include "tests/io/scratch.h"
#include "tests/support/learning.h"
#include "tests/support/results.h"

using namespace attn;
using namespace attn::view;

TEST_CASE("learn: a moment opens as a document whose weights are those of the map") {
    AppState state = test::small_learning({TrainTo{6}, ShowLearnHead{1, 0}});
    const auto map = learn_look(state).series->sides[1].probe->weights[1];
    const Opener open = files::opener(backends(), workspaces());
    play(state, {OpenLearnMoment{"b", "step", 6}}, open);
    CHECK(state.workspace == "step");
    CHECK(state.document().layers.size() == 2);
    CHECK(state.document().layer == 1);
    const auto weights = (*state.trace)[Stage::weights];
    for (Index i = 0; i < 12; ++i)
        for (Index j = 0; j <= i; ++j)
            CHECK(weights(0, 0, i, j) == doctest::Approx(map(0, 0, i, j)).epsilon(1e-4));
    // A session names the training, not its weights: they are trained again.
    SessionContext context;
    context.open = open;
    const auto read = must(session_from_json(session_to_json(state), "session", context));
    CHECK(read.document().inputs->x(0, 0, 3, 2) == state.document().inputs->x(0, 0, 3, 2));
    CHECK(read.document().layer == 1);
}

TEST_CASE("learn: a moment keeps V, that nothing was divided, and which head is 0") {
    AppState state =
        test::small_learning({TrainTo{6}, SwitchLearnHead{"b", 4, 1, 0, false}, TrainTo{6}});
    play(state, {OpenLearnMoment{"b", "step", 6}}, files::opener(backends(), workspaces()));
    CHECK(state.document().spec.scale == ScaleKind::none);
    CHECK(state.document().note.ends_with(
        "; not divided by √d_k; heads switched off, their output is 0: 1.0"));
    CHECK(state.document().layers[1]->params[Param::w_v].values()[0] != 0.0F);
    CHECK(state.document().layers[1]->params[Param::w_o](0, 0, 0, 0) == 0.0F);
    CHECK(state.document().layers[0]->params[Param::w_o](0, 0, 0, 0) != 0.0F);
}

TEST_CASE("learn: a run that was saved opens in Learn, and goes on to the same numbers") {
    const Scratch scratch;
    const AppState whole = test::small_learning({TrainTo{4}, SwitchScaling{"a", 2, false}});
    const auto runs = find_workspace(workspaces(), "learn")->runs(whole);
    REQUIRE(runs.size() == 2);
    const std::string folder = scratch.at("run-a");
    REQUIRE(train::save_run(folder, runs[0]));
    AppState state = initial_state();
    const auto document = state.shared_document();
    play(state, {OpenFile{folder, std::nullopt}}, files::opener(backends(), workspaces()));
    CHECK(state.workspace == "learn");
    CHECK(state.shared_document() == document);
    REQUIRE(learn_look(state).plan);
    CHECK(learn_look(state).plan->until == 4);
    play(state, {TrainTo{7}});
    const AppState straight =
        test::small_learning({TrainTo{4}, SwitchScaling{"a", 2, false}, TrainTo{7}});
    for (std::size_t n = 0; n < 7; ++n)
        CHECK(*learn_look(state).series->sides[0].records[n] ==
              *learn_look(straight).series->sides[0].records[n]);
}
