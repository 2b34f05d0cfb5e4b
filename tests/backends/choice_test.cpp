// Which backend "auto" is.

#include <doctest/doctest.h>

#include "core/engine.h"
#include "tests/support/random.h"

using namespace attn;
using namespace attn::test;

namespace {

StageSet of(std::initializer_list<Stage> stages) {
    StageSet set;
    for (const Stage stage : stages) set.set(index_of(stage));
    return set;
}

Dimensions one_head(Index n) {
    return {.batch = 1, .heads = 1, .kv_heads = 1, .tq = n, .tk = n, .d_k = 64, .d_v = 64};
}

std::string_view automatic(Index n, StageSet keep) {
    return choose_backend("auto", one_head(n), keep).value()->name();
}

Inputs column(Index n) {
    Inputs inputs;
    inputs.q = inputs.k = inputs.v = normal_tensor<float>({1, 1, n, 1}, 7);
    return inputs;
}

}  // namespace

TEST_CASE("auto is staged up to the limit while nobody names the stages, and fused above") {
    CHECK(automatic(4096, all_stages()) == "staged");
    CHECK(automatic(4097, all_stages()) == "fused");
    const Dimensions batch{.batch = 4, .heads = 8, .kv_heads = 8, .tq = 1024, .tk = 1024};
    CHECK(choose_backend("auto", batch, all_stages()).value()->name() == "fused");
}

TEST_CASE("auto is staged at any size for a named stage with a number for each pair") {
    for (const Stage stage :
         {Stage::scores, Stage::scaled, Stage::masked, Stage::weights, Stage::dropped})
        CHECK(automatic(1 << 20, of({stage, Stage::output})) == "staged");
}

TEST_CASE("auto is fused at any size for stages that fused keeps") {
    CHECK(automatic(2, of({Stage::context, Stage::output})) == "fused");
    CHECK(automatic(1 << 20, of({Stage::q})) == "fused");
}

TEST_CASE("a name is taken at its word whatever the sizes") {
    CHECK(choose_backend("staged", one_head(1 << 20), all_stages()).value()->name() == "staged");
    CHECK(choose_backend("fused", one_head(2), of({Stage::weights})).value()->name() == "fused");
}

TEST_CASE("auto is staged in a list without fused") {
    const Backend* const list[] = {find_backend("staged")};
    CHECK(choose_backend("auto", one_head(1 << 20), all_stages(), list).value()->name() ==
          "staged");
}

TEST_CASE("attend takes auto's choice, and backward the one that its trace came from") {
    for (const Index n : {16, 4160}) {
        const Inputs inputs = column(n);
        const Trace forward = attend(inputs, {}).value();
        CHECK(forward[Stage::weights].empty() == (n == 4160));
        const Trace d = attend_backward(inputs, {}, forward, {}).value();
        CHECK(d[Stage::weights].empty() == (n == 4160));
        CHECK(d[Stage::q].shape() == inputs.q.shape());
    }
}
