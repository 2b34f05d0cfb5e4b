// Positions of models that go on with longer texts: rope_scaling.
#include <doctest/doctest.h>

#include "core/models/model.h"
#include "core/scores/score.h"
#include "tests/support/results.h"

using namespace attn;

namespace {

Result<ModelConfig> llama_with(const std::string& more) {
    return parse_model_config(R"({"model_type":"llama","hidden_size":8,"num_hidden_layers":1,)"
                              R"("num_attention_heads":1,"vocab_size":9,)" +
                                  more + "}",
                              "c.json");
}

}  // namespace

TEST_CASE(
    "rope_scaling of a config reaches every layer; rope_parameters is the same with its base") {
    const auto linear =
        llama_with(R"("rope_theta":500.0,"rope_scaling":{"type":"linear","factor":4.0})");
    REQUIRE_MESSAGE(linear, (linear ? "" : linear.error().sentence));
    const Rope rope = layer_spec(*linear).rope.value();
    CHECK(rope.base == 500.0);
    CHECK(rope.scaling.kind == RopeScale::linear);
    CHECK(rope.scaling.factor == 4.0);
    const auto llama3 = llama_with(
        R"("rope_parameters":{"rope_theta":5e5,"rope_type":"llama3","factor":32.0,"low_freq_factor":1.5,
           "high_freq_factor":6.0,"original_max_position_embeddings":4096})");
    REQUIRE_MESSAGE(llama3, (llama3 ? "" : llama3.error().sentence));
    const Rope turned = layer_spec(*llama3).rope.value();
    CHECK(turned.base == 5e5);
    CHECK(turned.scaling.kind == RopeScale::llama3);
    CHECK(turned.scaling.factor == 32.0);
    CHECK(turned.scaling.low == 1.5);
    CHECK(turned.scaling.high == 6.0);
    CHECK(turned.scaling.original_length == 4096.0);
    const auto plain =
        must(llama_with(R"("rope_parameters":{"rope_theta":7.0,"rope_type":"default"})"));
    CHECK(layer_spec(plain).rope->base == 7.0);
    CHECK(layer_spec(plain).rope->scaling.kind == RopeScale::none);
}

TEST_CASE("linear scaling puts position 4 where position 1 was") {
    const Tensor rows({1, 1, 5, 4}, std::vector<float>{1, 2, 3, 4, 1, 2, 3, 4, 1, 2,
                                                       3, 4, 1, 2, 3, 4, 1, 2, 3, 4});
    Rope rope;
    rope.base = 100.0;
    const Tensor usual = rotate(rope, rows, 0, false);
    rope.scaling = {RopeScale::linear, 4.0};
    const Tensor scaled = rotate(rope, rows, 0, false);
    for (Index c = 0; c < 4; ++c) {
        CHECK(scaled(0, 0, 4, c) == usual(0, 0, 1, c));
        CHECK(scaled(0, 0, 1, c) != usual(0, 0, 1, c));
    }
}

TEST_CASE("llama3 scaling of Llama 3.1: fast pairs stay, slow ones go by 8, between they blend") {
    // By apply_scaling of llama-models in Python: base 5e5, 128 columns, factor 8, low 1, high 4, length 8192.
    Rope rope;
    rope.base = 500000.0;
    rope.scaling = {RopeScale::llama3, 8.0, 1.0, 4.0, 8192.0};
    const auto check = [&](Index c, double expected) {
        CAPTURE(c);
        CHECK(rope_frequency(rope, c, 128) == doctest::Approx(expected).epsilon(1e-12));
    };
    check(0, 1.0);
    check(10, 0.12868737343265052);
    check(28, 0.0032114459947525913);
    check(29, 0.002166570763503359);
    check(31, 0.0008567514129196321);
    check(33, 0.00031269375038406517);
    check(34, 0.00017850781276799638);
    check(35, 9.556212353964683e-05);
    check(36, 7.78465527393245e-05);
    check(63, 3.068925988914511e-07);
}
