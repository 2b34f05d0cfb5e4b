// "cat sat mat" and the exercise, to the digits that can be checked on paper.

#include "core/engine.h"
#include "core/metrics.h"
#include "tests/known/digits.h"
#include "tests/support/backends.h"

using namespace attn;
using attn::test::check_digits;
using attn::test::traces_of;

namespace {

Tensor matrix(Index rows, Index columns, std::vector<float> values) {
    return Tensor({1, 1, rows, columns}, std::move(values));
}

/// X = [[1,0],[0,1],[1,1]], W_Q = W_K = W_V = I.
Inputs cat_sat_mat() {
    Inputs inputs;
    inputs.x = matrix(3, 2, {1, 0, 0, 1, 1, 1});
    for (const Param param : {Param::w_q, Param::w_k, Param::w_v})
        inputs.params[param] = matrix(2, 2, {1, 0, 0, 1});
    return inputs;
}

AttentionSpec unscaled() {
    AttentionSpec spec;
    spec.scale = ScaleKind::none;
    return spec;
}

}  // namespace

TEST_CASE("cat sat mat, unscaled: scores, weights, outputs and entropies") {
    for (const Trace& trace : traces_of(cat_sat_mat(), unscaled())) {
        CHECK(trace[Stage::scores] == matrix(3, 3, {1, 0, 1, 0, 1, 1, 1, 1, 2}));
        check_digits(trace[Stage::weights].values(),
                     {.4223, .1554, .4223, .1554, .4223, .4223, .2119, .2119, .5761}, 4);
        check_digits(trace[Stage::output].values(), {.8446, .5777, .5777, .8446, .7881, .7881}, 4);
        const auto weights = trace[Stage::weights].matrix(0, 0);
        const auto entropy = [&](Index i) { return row_metrics(weights.row(i), 3).entropy; };
        check_digits({entropy(0), entropy(1), entropy(2)}, {1.0174, 1.0174, .9753}, 4);
    }
}

TEST_CASE("cat sat mat, scaled by sqrt 2: weights and outputs") {
    for (const Trace& trace : traces_of(cat_sat_mat())) {
        check_digits(trace[Stage::weights].values(),
                     {.4011, .1978, .4011, .1978, .4011, .4011, .2483, .2483, .5035}, 4);
        check_digits(trace[Stage::output].values(), {.8022, .5989, .5989, .8022, .7517, .7517}, 4);
    }
}

TEST_CASE("cat sat mat, causal: the row of sat is normalised over what is allowed") {
    AttentionSpec spec = unscaled();
    spec.mask.causal = CausalAlign::top_left;
    for (const Trace& trace : traces_of(cat_sat_mat(), spec)) {
        check_digits(trace[Stage::weights].matrix(0, 0).row(1), {.269, .731, 0}, 3);
        check_digits(trace[Stage::weights].matrix(0, 0).row(0), {1, 0, 0}, 4);
    }
    for (const Trace& full : traces_of(cat_sat_mat(), unscaled())) {
        const auto sat = full[Stage::weights].matrix(0, 0).row(1);  // zeroed after softmax: wrong
        check_digits({sat[0], sat[1], sat[0] + sat[1]}, {.155, .422, .578}, 3);
    }
}

TEST_CASE("equal projections make scores symmetric but not weights") {
    const Trace trace = attend(cat_sat_mat(), unscaled()).value();
    CHECK(trace[Stage::scores](0, 0, 0, 2) == trace[Stage::scores](0, 0, 2, 0));
    check_digits({trace[Stage::weights](0, 0, 0, 2), trace[Stage::weights](0, 0, 2, 0)},
                 {.4223, .2119}, 4);
}

TEST_CASE("exercise: Q = I, K = V = [[1,1],[1,0]], unscaled") {
    Inputs inputs;
    inputs.q = matrix(2, 2, {1, 0, 0, 1});
    inputs.k = inputs.v = matrix(2, 2, {1, 1, 1, 0});
    for (const Trace& trace : traces_of(inputs, unscaled())) {
        check_digits(trace[Stage::weights].values(), {.5, .5, .7311, .2689}, 4);
        check_digits(trace[Stage::output].values(), {1, .5, 1, .7311}, 4);
    }
}
