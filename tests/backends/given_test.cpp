// Scores or weights that are given in place of the queries and keys that make them.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "core/engine.h"
#include "core/given.h"
#include "core/stages.h"
#include "tests/support/inputs.h"
#include "tests/support/results.h"

using namespace attn;
using namespace attn::test;

namespace {

constexpr float kMinusInf = -std::numeric_limits<float>::infinity();

/// Two sequences, four query heads over two of keys and values, 3 queries, 5 keys, with W_O.
Inputs inputs_with_w_o() {
    Inputs in = normal_inputs({2, 4, 3, 8}, {2, 2, 5, 8}, {2, 2, 5, 6});
    in.params[Param::w_o] = normal_tensor<float>({1, 1, 24, 7}, 4);
    return in;
}

AttentionSpec spec_with_everything() {
    AttentionSpec spec = causal_spec(CausalAlign::bottom_right);
    spec.softcap = 5.0;
    spec.alibi = true;
    spec.mask.window_left = 3;
    spec.dropout = 0.25;
    spec.seed = 3;
    return spec;
}

Inputs beside(const Inputs& in) {
    Inputs rest;
    rest.v = in.v;
    rest.params[Param::w_o] = in.params[Param::w_o];
    return rest;
}

double most_difference(const Tensor& a, const Tensor& b) {
    REQUIRE(a.count() == b.count());
    REQUIRE(a.count() > 0);
    double most = 0.0;
    for (std::size_t n = 0; n < a.values().size(); ++n)
        if (a.values()[n] != b.values()[n])
            most = std::max(most, static_cast<double>(std::abs(a.values()[n] - b.values()[n])));
    return most;
}

}  // namespace

TEST_CASE("what follows from a stage is what the whole call has there") {
    const Inputs in = inputs_with_w_o();
    const AttentionSpec spec = spec_with_everything();
    const Trace whole = attend(in, spec, "reference").value();
    for (const Stage from :
         {Stage::scores, Stage::scaled, Stage::biased, Stage::masked, Stage::weights}) {
        CAPTURE(info(from).key);
        AttentionSpec stated = spec;
        stated.scale = ScaleKind::value;
        stated.scale_value = 1.0 / std::sqrt(8.0);
        const auto made = must(attend_from(from, whole[from], beside(in), stated));
        for (const StageInfo& row : stage_table()) {
            CAPTURE(row.key);
            if (row.stage < from && row.stage != Stage::v) {
                CHECK(made.trace[row.stage].empty());
            } else {
                CHECK(most_difference(made.trace[row.stage], whole[row.stage]) < 2e-6);
            }
        }
        CHECK(made.trace.logsumexp.empty() == (from == Stage::weights));
        CHECK(made.size.d_k == 0);
        CHECK(made.size.d_out == 7);
    }
}

TEST_CASE("weights times V by hand, and no mask takes a weight away") {
    Inputs rest;
    rest.v = Tensor({1, 1, 2, 1}, {10.0F, 100.0F});
    const Tensor weights({1, 1, 2, 2}, {0.5F, 0.5F, 0.0F, 1.0F});
    const auto made = must(attend_from(Stage::weights, weights, rest, causal_spec()));
    CHECK(made.trace[Stage::context](0, 0, 0, 0) == 55.0F);  // ½ · 10 + ½ · 100
    CHECK(made.trace[Stage::context](0, 0, 1, 0) == 100.0F);
    CHECK(made.trace[Stage::output](0, 0, 0, 0) == 55.0F);
    const auto alone = must(attend_from(Stage::weights, weights, {}, {}));
    CHECK(alone.trace[Stage::context].empty());
    CHECK(alone.trace[Stage::output].empty());
}

TEST_CASE("raw scores under a mask by hand; −inf forbids, and an empty row follows its policy") {
    const float third = std::log(3.0F);
    const Tensor scores({1, 1, 2, 2}, {0.0F, 2 * third, kMinusInf, kMinusInf});
    AttentionSpec spec;
    CHECK_FALSE(attend_from(Stage::scores, scores, {}, spec));  // by what are they scaled?
    spec.scale = ScaleKind::value;
    spec.scale_value = 0.5;
    const auto made = must(attend_from(Stage::scores, scores, {}, spec));
    CHECK(made.trace[Stage::scaled](0, 0, 0, 1) == doctest::Approx(third));
    CHECK(made.trace[Stage::weights](0, 0, 0, 1) == doctest::Approx(0.75));
    CHECK(made.trace[Stage::weights](0, 0, 1, 0) == 0.0F);
    CHECK(made.trace.logsumexp(0, 0, 0, 0) == doctest::Approx(std::log(4.0)));
    spec.empty_rows = EmptyRows::nan;
    CHECK(std::isnan(
        attend_from(Stage::scores, scores, {}, spec)->trace[Stage::weights](0, 0, 1, 0)));
    spec.mask.padding = {1};
    CHECK(attend_from(Stage::scores, scores, {}, spec)->trace[Stage::weights](0, 0, 0, 0) == 1.0F);
}

TEST_CASE("V that does not fit the weights is named with what was expected") {
    Inputs rest;
    rest.v = Tensor(Shape{1, 1, 3, 1});
    CHECK(must_fail(attend_from(Stage::weights, Tensor(Shape{1, 2, 2, 2}), rest, {})).text() ==
          "V is [1, 1, 3, 1] beside weights [1, 2, 2, 2]; expected [1, Hkv, 2, d_v] with Hkv a "
          "divisor of 2");
}
