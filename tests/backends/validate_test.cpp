// One sentence that a person can act on, for everything that can be wrong with a call.

#include <doctest/doctest.h>

#include <cmath>

#include "core/call.h"
#include "tests/io/scratch.h"
#include "tests/support/backends.h"
#include "tests/support/results.h"

using namespace attn;
using namespace attn::test;

namespace {

Tensor ones(const Shape& shape) { return Tensor(shape, 1.0F); }

Inputs given(const Shape& q, const Shape& k, const Shape& v) {
    Inputs inputs;
    inputs.q = ones(q);
    inputs.k = ones(k);
    inputs.v = ones(v);
    return inputs;
}

Inputs projected() {
    Inputs inputs;
    inputs.x = ones({1, 1, 3, 4});
    for (const Param param : {Param::w_q, Param::w_k, Param::w_v})
        inputs.params[param] = ones({1, 1, 4, 6});
    return inputs;
}

std::string complaint(const Inputs& inputs, const AttentionSpec& spec = {}) {
    return sentence_in(validate(inputs, spec));
}

std::string option_complaint(const AttentionSpec& spec) {
    return complaint(given({2, 1, 3, 4}, {2, 1, 5, 4}, {2, 1, 5, 4}), spec);
}

}  // namespace

TEST_CASE("shapes of Q, K and V that do not fit are named with what was expected") {
    CHECK(complaint(given({1, 2, 5, 16}, {1, 2, 13, 8}, {1, 2, 13, 8})) ==
          "K has width 8 but Q has width 16: q·k needs the same d_k (Q [1, 2, 5, 16], K [1, 2, 13, "
          "8])");
    CHECK(complaint(given({1, 2, 5, 8}, {2, 2, 13, 8}, {1, 2, 13, 8})) ==
          "K has batch 2 but Q has 1 (Q [1, 2, 5, 8], K [2, 2, 13, 8])");
    CHECK(complaint(given({1, 2, 5, 8}, {1, 2, 13, 8}, {1, 2, 12, 8})) ==
          "K has 13 keys but V has 12: each key has one value (K [1, 2, 13, 8], V [1, 2, 12, 8])");
    CHECK(complaint(given({1, 2, 5, 8}, {1, 1, 13, 8}, {1, 2, 13, 8})) ==
          "K has 1 head but V has 2: they share heads (K [1, 1, 13, 8], V [1, 2, 13, 8])");
    CHECK(complaint(given({1, 3, 5, 8}, {1, 2, 13, 8}, {1, 2, 13, 8})) ==
          "3 query heads do not divide among 2 key/value heads: H must be a multiple of Hkv");
    CHECK(complaint(given({1, 1, 0, 8}, {1, 1, 3, 8}, {1, 1, 3, 8})) ==
          "Q is [1, 1, 0, 8]: every axis must be at least 1");
    CHECK(complaint({}) == "give either X with W_Q, W_K and W_V, or all of Q, K and V");
}

TEST_CASE("RoPE's base and factor are where the backends agree on what a position turns by") {
    const double nan = std::nan("");
    for (const double base : {0.0, 1e-30, 0.99e-6, 1e19, nan}) {
        AttentionSpec spec;
        spec.rope = Rope{};
        spec.rope->base = base;
        CHECK(contains(option_complaint(spec), "it must be a number from 1e-6 to 1e18"));
    }
    for (const double factor : {0.0, 1e-320, 1e19, nan}) {
        AttentionSpec spec;
        spec.rope = Rope{};
        spec.rope->scaling.factor = factor;
        CHECK(contains(option_complaint(spec), "it must be a number from 1e-3 to 1e18"));
    }
    AttentionSpec least;
    least.rope = Rope{};
    least.rope->base = 1e-6;
    CHECK(option_complaint(least).empty());
}

TEST_CASE("weights and biases that do not fit X are named") {
    CHECK(complaint(projected()) == "");
    Inputs inputs = projected();
    inputs.params[Param::w_q] = ones({1, 1, 5, 6});
    CHECK(complaint(inputs) == "W_Q is [5, 6]; expected [4, …]: X has width 4");
    inputs.params[Param::w_q] = ones({1, 1, 6, 4});
    CHECK(complaint(inputs) ==
          "W_Q is [6, 4]; expected [4, …]: is it torch's [out, in]? Transpose it");
    inputs = projected();
    AttentionSpec heads;
    heads.heads = heads.kv_heads = 4;
    CHECK(complaint(inputs, heads) == "W_Q has width 6, which does not split into 4 heads");
    inputs = projected();
    inputs.params[Param::b_k] = ones({1, 1, 1, 5});
    CHECK(complaint(inputs) ==
          "b_K is [1, 1, 1, 5]: expected one number per column of W_K, [1, 1, 1, 6]");
    inputs = projected();
    inputs.params[Param::w_o] = ones({1, 1, 7, 4});
    CHECK(complaint(inputs) == "W_O is [7, 4]; expected [6, …]: the joined heads has width 6");
    inputs = projected();
    inputs.params[Param::w_v] = {};
    CHECK(complaint(inputs) == "X is given without W_V: W_Q, W_K and W_V are all needed");
    inputs = projected();
    inputs.params[Param::w_k] = ones({1, 1, 4, 5});
    CHECK(complaint(inputs).starts_with(
        "W_K gives keys of width 5 but W_Q gives queries of width 6"));
    inputs = given({1, 1, 3, 4}, {1, 1, 3, 4}, {1, 1, 3, 4});
    inputs.params[Param::w_q] = ones({1, 1, 4, 4});
    CHECK(complaint(inputs) == "W_Q is given without X: it has nothing to act on");
    inputs.params[Param::w_q] = {};
    inputs.x = ones({1, 1, 3, 4});
    CHECK(complaint(inputs) == "X is given without W_Q: W_Q, W_K and W_V are all needed");
    inputs.params = projected().params;
    CHECK(complaint(inputs) == "both X and Q, K or V are given: give one or the other");
}

TEST_CASE("options out of range are named with their value") {
    AttentionSpec spec;
    spec.temperature = 0.0;
    CHECK(option_complaint(spec) == "temperature is 0: it must be a number from 1e-18 to 1e18");
    spec.temperature = std::nan("");
    CHECK(option_complaint(spec) == "temperature is nan: it must be a number from 1e-18 to 1e18");
    spec = {};
    spec.scale = ScaleKind::value;
    spec.scale_value = INFINITY;
    CHECK(option_complaint(spec) == "scale is inf: it must be a number from -1e18 to 1e18");
    spec = {};
    spec.dropout = 1.0;
    CHECK(option_complaint(spec) == "dropout is 1: it must be at least 0 and below 1");
    spec = {};
    spec.mask.window = -1;
    CHECK(option_complaint(spec) == "window is -1: it must be at least 0");
    spec = {};
    spec.mask.block = 0;
    CHECK(option_complaint(spec) == "block is 0: it must be at least 1");
    spec = {};
    spec.heads = 0;
    CHECK(option_complaint(spec) == "heads is 0: it must be at least 1");
    spec = {};
    spec.mask.padding = {5};
    CHECK(option_complaint(spec) ==
          "padding has 1 length(s) but the batch has 2: give one per batch entry");
    spec.mask.padding = {5, 6};
    CHECK(option_complaint(spec) == "padding of batch entry 1 is 6: it must be 0 to Tk = 5");
    spec = {};
    spec.mask.custom = std::make_shared<const Mask>(Shape{1, 1, 5, 3}, std::uint8_t{1});
    CHECK(option_complaint(spec) ==
          "mask [1, 1, 5, 3] does not broadcast to [B, H, Tq, Tk] = [2, 1, 3, 5]: each axis must "
          "be 1 or equal");
}

TEST_CASE("stages that do not fit in memory are refused before they are allocated") {
    // 2^17 queries and keys of 2^8 heads: 2^42 pairs, 16 TiB a stage.
    const Inputs inputs = given({1, 256, 131072, 1}, {1, 1, 131072, 1}, {1, 1, 131072, 1});
    for (const Backend* backend : backends_keeping(Stage::weights)) {
        const auto trace = must_fail(attend(inputs, {}, backend->name()));
        CHECK(trace.kind == ErrorKind::failure);
        CHECK(contains(trace.text(), "keep fewer stages or attend over fewer tokens"));
    }
}

TEST_CASE("backward refuses an upstream gradient or a forward trace that does not fit") {
    const Inputs inputs = given({1, 1, 3, 4}, {1, 1, 5, 4}, {1, 1, 5, 4});
    const Trace forward = attend(inputs, {}).value();
    const auto sentence = [&](const Trace& trace, const Upstream& upstream) {
        return attend_backward(inputs, {}, trace, upstream).error().text();
    };
    CHECK(sentence(forward, {Stage::weights, {}}) ==
          "the upstream gradient is given at weights: give it at context or output");
    CHECK(sentence(forward, {Stage::context, ones({1, 1, 3, 5})}) ==
          "the upstream gradient is [1, 1, 3, 5] but context is [1, 1, 3, 4]");
    StageSet keep = all_stages();
    keep.reset(index_of(Stage::weights));
    const Trace without = attend(inputs, {}, "staged", keep).value();
    CHECK(sentence(without, {}) ==
          "the forward trace holds weights as [0, 0, 0, 0] but backward needs [1, 1, 3, 5]: attend "
          "with every stage kept");
}
