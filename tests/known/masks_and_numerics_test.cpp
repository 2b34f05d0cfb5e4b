#include <limits>

#include "core/call.h"
#include "core/engine.h"
#include "core/softmax.h"
#include "tests/known/digits.h"
#include "tests/support/backends.h"
#include "tests/support/inputs.h"

using namespace attn;
using attn::test::causal_spec;
using attn::test::check_digits;
using attn::test::masked_by;
using attn::test::traces_of;

namespace {

/// Tq queries and Tk keys whose scores are all 0.
Inputs zero_scores(Index tq, Index tk) {
    Inputs inputs;
    inputs.q = Tensor({1, 1, tq, 1});
    inputs.k = Tensor({1, 1, tk, 1});
    inputs.v = Tensor({1, 1, tk, 1}, 1.0F);
    return inputs;
}

std::vector<double> softmax_of(std::vector<double> row) {
    softmax_row(row, row, EmptyRows::zero);
    return row;
}

}  // namespace

TEST_CASE("a boolean mask over equal scores gives .5 .5 0, not what adding it as numbers gives") {
    for (const Trace& trace : traces_of(zero_scores(1, 3), masked_by(1, 3, {1, 1, 0})))
        CHECK(trace[Stage::weights] == Tensor({1, 1, 1, 3}, {0.5F, 0.5F, 0.0F}));
    check_digits(softmax_of({1, 1, 0}), {.422, .422, .155}, 3);
}

TEST_CASE("one query over six keys, causal: top-left sees the first key, bottom-right all six") {
    for (const Trace& trace : traces_of(zero_scores(1, 6), causal_spec()))
        check_digits(trace[Stage::weights].values(), {1, 0, 0, 0, 0, 0}, 6);
    for (const Trace& trace : traces_of(zero_scores(1, 6), causal_spec(CausalAlign::bottom_right)))
        check_digits(trace[Stage::weights].values(), {.1667, .1667, .1667, .1667, .1667, .1667}, 4);
}

TEST_CASE("scores below -1e9 at allowed keys do not attend outside the mask") {
    Inputs inputs = zero_scores(1, 3);
    inputs.q = Tensor({1, 1, 1, 1}, -1e10F);
    inputs.k = Tensor({1, 1, 3, 1}, {1, 1, 0});
    for (const Trace& trace : traces_of(inputs, masked_by(1, 3, {1, 1, 0})))
        CHECK(trace[Stage::weights] == Tensor({1, 1, 1, 3}, {0.5F, 0.5F, 0.0F}));
}

TEST_CASE("softmax of [100, 0, 0] has a tail of 3.7e-44, a float denormal, alone and in a vector") {
    const std::vector<double> exact = softmax_of({100, 0, 0});
    CHECK(fmt::format("{:.1e}", exact[1]) == "3.7e-44");
    const auto tail = static_cast<float>(exact[1]);
    CHECK(tail > 0.0F);
    for (const Index keys : {3, 4, 16, 37}) {
        Inputs inputs = zero_scores(1, keys);
        inputs.q = Tensor({1, 1, 1, 1}, 1.0F);
        inputs.k(0, 0, 0, 0) = 100.0F;
        Tensor expected({1, 1, 1, keys}, tail);
        expected(0, 0, 0, 0) = 1.0F;
        for (const Trace& trace : traces_of(inputs)) CHECK(trace[Stage::weights] == expected);
    }
}

TEST_CASE("after dropout a row no longer sums to 1: what is kept is divided by 1 - p") {
    AttentionSpec spec;
    spec.dropout = 0.5;
    spec.seed = 1;
    const Trace trace = attend(zero_scores(8, 5), spec).value();
    float all_retained = 0.0F;
    for (Index i = 0; i < 8; ++i) {
        float retained = 0.0F;
        for (const float dropped : trace[Stage::dropped].matrix(0, 0).row(i)) {
            CHECK((dropped == 0.0F || dropped == 0.4F));
            retained += dropped == 0.0F ? 0.0F : 1.0F;
        }
        CHECK(trace[Stage::context](0, 0, i, 0) == doctest::Approx(0.4 * retained));
        all_retained += retained;
    }
    CHECK(all_retained > 10.0F);
    CHECK(all_retained < 30.0F);
}

TEST_CASE("-1e9 instead of -inf: an empty row is uniform, and scores below it lose to the mask") {
    constexpr double kMinusInf = -std::numeric_limits<double>::infinity();
    check_digits(softmax_of({-1e9, -1e9, -1e9, -1e9}), {.25, .25, .25, .25}, 15);
    check_digits(softmax_of({kMinusInf, kMinusInf, kMinusInf, kMinusInf}), {0, 0, 0, 0}, 15);
    check_digits(softmax_of({-2e9, -2e9, -1e9}), {0, 0, 1}, 15);
}

TEST_CASE("cosine-like scores in [-1, 1] over 1000 keys put at most .73 % on one") {
    std::vector<double> scores(1000, -1.0);
    scores[0] = 1.0;
    check_digits({100.0 * softmax_of(scores)[0]}, {.73}, 2);
}

TEST_CASE("a temperature of .07 stretches scores in [-1, 1] to 14.3") {
    AttentionSpec spec;
    spec.scale = ScaleKind::none;
    spec.temperature = 0.07;
    check_digits({score_factor(spec, 64)}, {14.3}, 1);
}
