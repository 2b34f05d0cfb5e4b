// Which backend "auto" is.

#include <doctest/doctest.h>

#include "core/backend.h"
#include "core/dimensions.h"
#include "core/engine.h"
#include "core/spec.h"
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

}  // namespace

TEST_CASE("auto is staged up to a limit, and at any size for stages of pairs; a name is itself") {
    const StageSet all = all_stages(), context = of({Stage::context, Stage::output});
    const struct {
        const char* name;
        Index n;
        StageSet keep;
        const char* chosen;
    } rows[] = {{"auto", 4096, all, "staged"},      {"auto", 4097, all, "fused"},
                {"auto", 2, context, "fused"},      {"auto", 1 << 20, of({Stage::q}), "fused"},
                {"staged", 1 << 20, all, "staged"}, {"fused", 2, of({Stage::weights}), "fused"}};
    for (const auto& row : rows) {
        CAPTURE(row.n);
        CHECK(choose_backend(row.name, one_head(row.n), row.keep).value()->name() == row.chosen);
    }
    for (const Stage stage :
         {Stage::scores, Stage::scaled, Stage::masked, Stage::weights, Stage::dropped})
        CHECK(
            choose_backend("auto", one_head(1 << 20), of({stage, Stage::output})).value()->name() ==
            "staged");
    const Dimensions batch{.batch = 4, .heads = 8, .kv_heads = 8, .tq = 1024, .tk = 1024};
    CHECK(choose_backend("auto", batch, all).value()->name() == "fused");
    const Backend* const list[] = {find_backend("staged")};
    CHECK(choose_backend("auto", one_head(1 << 20), all, list).value()->name() == "staged");
}

TEST_CASE("attend takes auto's choice, and backward the one that its trace came from") {
    for (const Index n : {16, 4160}) {
        Inputs inputs;
        inputs.q = inputs.k = inputs.v = normal_tensor<float>({1, 1, n, 1}, 7);
        const Trace forward = attend(inputs, {}).value();
        CHECK(forward[Stage::weights].empty() == (n == 4160));
        const Trace d = attend_backward(inputs, {}, forward, {}).value();
        CHECK(d[Stage::weights].empty() == (n == 4160));
        CHECK(d[Stage::q].shape() == inputs.q.shape());
    }
}
