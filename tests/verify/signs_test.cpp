// What weights alone tell.
#include <doctest/doctest.h>

#include "core/engine.h"
#include "core/numerics.h"
#include "core/verify/signs.h"
#include "tests/support/inputs.h"

using namespace attn;
using namespace attn::test;
using namespace attn::verify;

namespace {

bool has(const std::vector<Fact>& facts, std::string_view key, const std::string& text) {
    for (const Fact& fact : facts)
        if (fact.key == key && fact.text.find(text) != std::string::npos) return true;
    return false;
}

bool any_suspicious(const std::vector<Fact>& facts) {
    for (const Fact& fact : facts)
        if (fact.suspicious) return true;
    return false;
}

/// Weights of random scores under a mask.
Results weights_of(const MaskSpec& mask, Index tq = 6, Index tk = 6) {
    const Inputs in = normal_inputs({1, 2, tq, 4}, {1, 2, tk, 4}, {1, 2, tk, 4});
    AttentionSpec spec;
    spec.mask = mask;
    Results results;
    results[Stage::weights] = attend(in, spec).value()[Stage::weights];
    return results;
}

const Sign& sign(const std::vector<Sign>& signs, std::string_view key) {
    for (const Sign& each : signs)
        if (each.fault->key == key) return each;
    FAIL("no such row");
    return signs.front();
}

}  // namespace

TEST_CASE("weights that are right show nothing suspicious, and no fault fits") {
    for (const AttentionSpec& spec : {AttentionSpec{}, causal_spec()}) {
        const Results results = weights_of(spec.mask);
        const std::vector<Fact> seen = facts(results, spec, false, nullptr);
        CHECK(has(seen, "row_sums", "every row of weights sums to 1"));
        CHECK(!any_suspicious(seen));
        for (const Sign& each : signs(results, spec)) CHECK(!each.fits);
    }
}

TEST_CASE("rows that do not sum to 1 are counted, and the worst is named") {
    Results results = weights_of({});
    results[Stage::weights](0, 1, 3, 2) += 0.25F;
    const std::vector<Fact> seen = facts(results, {}, false, nullptr);
    CHECK(has(seen, "row_sums",
              "rows of weights that do not sum to 1: 1 of 12; row [0, 1, 3] sums to 1.25"));
    CHECK(any_suspicious(seen));
    CHECK(!any_suspicious(
        facts(results, {}, true, nullptr)));  // with a sink or dropout they need not
}

TEST_CASE("columns that sum to 1 while rows do not are softmax over the wrong axis") {
    Results results = weights_of({});
    Tensor& weights = results[Stage::weights];
    const Tensor right = weights;
    for (Index h = 0; h < 2; ++h)
        for (Index i = 0; i < 6; ++i)
            for (Index j = 0; j < 6; ++j) weights(0, h, i, j) = right(0, h, j, i);
    CHECK(sign(signs(results, {}), "softmax_axis").fits);
    CHECK(!sign(signs(results, {}), "scale").tested);
    CHECK(sign(signs(results, {}), "scale").text == "trying it needs Q and K");
}

TEST_CASE("the support of weights tells which mask was used instead") {
    MaskSpec window;
    window.causal = CausalAlign::top_left;
    window.window = 3;
    AttentionSpec narrower;
    narrower.mask = window;
    narrower.mask.window = 2;
    CHECK(sign(signs(weights_of(window), narrower), "window_off_by_one").fits);
    CHECK(sign(signs(weights_of({}), causal_spec()), "mask_dropped").fits);
    const AttentionSpec decode = causal_spec(CausalAlign::bottom_right);
    CHECK(sign(signs(weights_of(causal_spec().mask, 3, 6), decode), "causal_alignment").fits);
    AttentionSpec late = decode;  // query 0 stands at key 3
    late.mask.window = 3;
    MaskSpec last_two = late.mask;
    last_two.window = 2;
    CHECK(sign(signs(weights_of(last_two, 3, 6), late), "window_off_by_one").fits);
    MaskSpec upper;
    Mask mask({1, 1, 6, 6});
    for (Index i = 0; i < 6; ++i)
        for (Index j = i; j < 6; ++j) mask(0, 0, i, j) = 1;
    upper.custom = std::make_shared<const Mask>(mask);
    CHECK(sign(signs(weights_of(upper), causal_spec()), "mask_transposed").fits);
    CHECK(has(facts(weights_of(upper), causal_spec(), false, nullptr), "support",
              "the support j ≥ i"));
}

TEST_CASE("a causal support that the options do not name is said") {
    CHECK(has(facts(weights_of(causal_spec().mask), {}, false, nullptr), "support",
              "as with a causal mask, but the options set none"));
}

TEST_CASE("NaN rows and weights where the mask forbids are counted") {
    Results results = weights_of({});
    results[Stage::weights](0, 0, 4, 1) = std::nanf("");
    const Mask none({1, 2, 6, 6}, 0);
    const std::vector<Fact> seen = facts(results, {}, false, &none);
    CHECK(has(seen, "nan_rows", "NaN in 1 of 12 rows of weights; the first is row [0, 0, 4]"));
    CHECK(has(seen, "forbidden", "weights at forbidden pairs: 71, "));
}

TEST_CASE("numbers of a short format are recognised") {
    Results results = weights_of({});
    CHECK(!has(facts(results, {}, false, nullptr), "format", ""));
    for (float& value : results[Stage::weights].values())
        value = static_cast<float>(rounded(FloatFormat::bf16, static_cast<long double>(value)));
    CHECK(has(facts(results, {}, true, nullptr), "format",
              "every number of weights is a bf16 number"));
}
