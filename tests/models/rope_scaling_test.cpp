// Positions of models that go on with longer texts: rope_scaling.
#include <doctest/doctest.h>

#include <cmath>

#include "core/models/model.h"
#include "core/scores/operands.h"
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

TEST_CASE("rope_scaling of a config reaches every layer; so does rope_parameters with its base") {
    const auto linear =
        llama_with(R"("rope_theta":500.0,"rope_scaling":{"type":"linear","factor":4.0})");
    REQUIRE_MESSAGE(linear, (linear ? "" : linear.error().text()));
    const Rope rope = layer_spec(*linear, 0).rope.value();
    CHECK(rope.base == 500.0);
    CHECK(rope.scaling.kind == RopeScale::linear);
    CHECK(rope.scaling.factor == 4.0);
    const auto llama3 = llama_with(
        R"("rope_parameters":{"rope_theta":5e5,"rope_type":"llama3","factor":32.0,"low_freq_factor":1.5,
           "high_freq_factor":6.0,"original_max_position_embeddings":4096})");
    REQUIRE_MESSAGE(llama3, (llama3 ? "" : llama3.error().text()));
    const Rope turned = layer_spec(*llama3, 0).rope.value();
    CHECK(turned.base == 5e5);
    CHECK(turned.scaling.kind == RopeScale::llama3);
    CHECK(turned.scaling.factor == 32.0);
    CHECK(turned.scaling.low == 1.5);
    CHECK(turned.scaling.high == 6.0);
    CHECK(turned.scaling.original_length == 4096.0);
    const auto plain =
        must(llama_with(R"("rope_parameters":{"rope_theta":7.0,"rope_type":"default"})"));
    CHECK(layer_spec(plain, 0).rope->base == 7.0);
    CHECK(layer_spec(plain, 0).rope->scaling.kind == RopeScale::none);
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

TEST_CASE("YaRN of Qwen 2.5: fast pairs stay, slow ones go by 4, between they blend") {
    // By _compute_yarn_parameters of transformers 4.57 in Python: base 1e6, 128 columns, factor 4, length 32768.
    const auto config = must(parse_model_config(
        R"({"model_type":"qwen2","hidden_size":256,"num_hidden_layers":1,"num_attention_heads":2,"num_key_value_heads":2,
            "vocab_size":9,"rope_theta":1e6,"max_position_embeddings":32768,
            "rope_scaling":{"type":"yarn","factor":4.0,"original_max_position_embeddings":32768}})",
        "c.json"));
    const AttentionSpec spec = layer_spec(config, 0);
    const Rope rope = spec.rope.value();
    CHECK(rope.scaling.kind == RopeScale::yarn);
    CHECK(rope.scaling.low == 23.0);
    CHECK(rope.scaling.high == 40.0);
    const auto share = [&](Index c) {
        return rope_frequency(rope, c, 128) * std::pow(1e6, static_cast<double>(c) / 64);
    };
    CHECK(share(23) == doctest::Approx(1.0));
    CHECK(share(24) == doctest::Approx(1.0 - 0.75 / 17));
    CHECK(share(40) == doctest::Approx(0.25));
    CHECK(share(63) == doctest::Approx(0.25));
    // cos and sin are multiplied by 0.1 ln 4 + 1, and so scores by its square
    CHECK(spec.scale == ScaleKind::value);
    CHECK(spec.scale_value == doctest::Approx(std::pow(1.1386294361119891, 2) / std::sqrt(128.0)));
}

TEST_CASE("what a scaled RoPE lacks is named") {
    const auto fault = [](const std::string& more) { return sentence_in(llama_with(more)); };
    CHECK(fault(R"("rope_scaling":{"rope_type":"yarn","factor":2})") ==
          "c.json 'rope_scaling' has no 'original_max_position_embeddings', and there is no "
          "'max_position_embeddings'");
    CHECK(
        fault(
            R"("rope_scaling":{"rope_type":"longrope","factor":2,"short_factor":[1,1,1,1],"long_factor":[1,1,1]},
                   "max_position_embeddings":8)") ==
        "c.json 'rope_scaling' has 'long_factor' = [1,1,1]; expected a list of 4 numbers above 0");
    CHECK(
        fault(
            R"("rope_scaling":{"rope_type":"yarn","factor":2,"cos_factor":3},"max_position_embeddings":8)") ==
        "c.json 'rope_scaling' has the key 'cos_factor', which is not computed here");
}
