// Gradients of the loss by the output of each block, against central differences of the rest of the model.
#include "core/models/gradients.h"

#include <doctest/doctest.h>

#include <cmath>

#include <fmt/format.h>

#include "core/backend.h"
#include "core/engine.h"
#include "core/models/block.h"
#include "core/models/ends.h"
#include "core/models/model.h"
#include "core/models/read_out.h"
#include "core/models/weights.h"
#include "core/rng.h"
#include "tests/support/results.h"
#include "tests/support/small_models.h"

using namespace attn;

namespace {

const Backend& by_staged() { return *find_backend("staged"); }

std::vector<ModelToken> five_tokens() {
    std::vector<ModelToken> tokens;
    for (const Index id : {1, 30, 20, 20, 5}) tokens.push_back({id, ""});
    return tokens;
}

/// One number of each entry, of size about 1.
Tensor direction(const Shape& shape, std::uint64_t seed) {
    Tensor values(shape);
    for (std::size_t n = 0; n < values.values().size(); ++n)
        values.values()[n] =
            static_cast<float>(static_cast<double>(mix(seed, n) % 2001) / 1000.0 - 1.0);
    return values;
}

Tensor moved(Tensor x, const Tensor& along, double step) {
    for (std::size_t n = 0; n < x.values().size(); ++n)
        x.values()[n] += static_cast<float>(step) * along.values()[n];
    return x;
}

/// The loss when x leaves a layer.
double loss_after(const Model& model, Tensor x, Index layer, Index row, Index target) {
    const ModelConfig& config = model.config();
    for (Index n = layer + 1; n < config.layers; ++n) {
        const BlockWeights& block = model.weights().blocks[n];
        const Inputs inputs = attention_inputs(x, block, config, n);
        const Trace trace = must(attend(inputs, layer_spec(config, n), by_staged()));
        x = after_block(x, trace[Stage::output], block, config).x;
    }
    const std::vector<double> p = probabilities(read_out_of(model, row_of(x, row)).values());
    return -std::log(p[target]);
}

double product(const TensorD& gradient, const Tensor& along) {
    double sum = 0.0;
    for (std::size_t n = 0; n < gradient.values().size(); ++n)
        sum += gradient.values()[n] * along.values()[n];
    return sum;
}
double norm(const TensorD& values) {
    double squares = 0.0;
    for (const double value : values.values()) squares += value * value;
    return std::sqrt(squares);
}

/// ∂L along a direction: `loss` takes a step; by the difference of two steps and of steps twice as long.
template <class Loss>
void check_slope(const TensorD& gradient, const Loss& loss, std::uint64_t seed) {
    const Tensor along = direction(gradient.shape(), seed);
    const auto slope = [&](double h) { return (loss(along, h) - loss(along, -h)) / (2.0 * h); };
    const double step = 4e-3;
    const double expected = (4.0 * slope(step) - slope(2.0 * step)) / 3.0;  // error of order h⁴
    const double size = norm(gradient) * std::sqrt(static_cast<double>(along.count()) / 3.0);
    CHECK(std::abs(product(gradient, along) - expected) <= 2e-3 * size + 2e-4);
}

}  // namespace

TEST_CASE("gradients by attention's and the MLP's output and by the stream: central differences") {
    for (const char* name : {"gpt2", "llama", "bert~labels", "megatron-bert", "mistral", "qwen2",
                             "gpt_neox", "gpt_neox~sequential", "phi3", "granite"}) {
        CAPTURE(name);
        const auto model = must(Model::open(test::golden_model(name)));
        const ModelConfig& config = model.config();
        const StageSet keep = gradient_stages() | only_stage(Stage::context);
        const ModelRun run = must(model.run(five_tokens(), by_staged(), keep));
        const Index row = 3, target = 4;
        const auto made = must(model_gradients(model, run, row, target));
        REQUIRE(std::ssize(made.layers) == config.layers);
        const double loss = loss_after(model, run.embedded, -1, row, target);
        CHECK(made.loss == doctest::Approx(loss).epsilon(1e-5));
        check_slope(
            made.embedded,
            [&](const Tensor& along, double h) {
                return loss_after(model, moved(run.embedded, along, h), -1, row, target);
            },
            1);
        for (Index layer = 0; layer < config.layers; ++layer) {
            CAPTURE(layer);
            const BlockWeights& block = model.weights().blocks[layer];
            const Tensor& x = layer == 0 ? run.embedded : run.layers[layer - 1].residual;
            const Tensor& y = run.layers[layer].trace[Stage::output];
            const BlockGradients& of = made.layers[layer];
            CHECK(norm(of.residual) > 0.0);
            check_slope(
                of.residual,
                [&](const Tensor& along, double h) {
                    return loss_after(model, moved(run.layers[layer].residual, along, h), layer,
                                      row, target);
                },
                2);
            check_slope(
                of.mlp,
                [&](const Tensor& along, double h) {
                    const BlockOutput out = after_block(x, y, block, config);
                    return loss_after(model,
                                      after_mlp(after_attention(x, y, block, config),
                                                moved(out.mlp, along, h), block, config),
                                      layer, row, target);
                },
                3);
            if (block.attention_out_norm.there()) continue;  // y has a norm before it is added
            check_slope(
                of.attention,
                [&](const Tensor& along, double h) {
                    const Tensor other = moved(y, along, h);
                    return loss_after(model, after_block(x, other, block, config).x, layer, row,
                                      target);
                },
                4);
        }
    }
}

TEST_CASE("a row after the target's adds nothing under a causal mask") {
    const auto model = must(Model::open(test::golden_model("gpt2")));
    const ModelRun run = must(model.run(five_tokens(), by_staged(), gradient_stages()));
    const auto made = must(model_gradients(model, run, 2, 7));
    for (const BlockGradients& layer : made.layers)
        for (const Index row : {Index{3}, Index{4}})
            for (const double value : std::as_const(layer.residual).matrix(0, 0).row(row))
                CHECK(value == 0.0);
}

TEST_CASE("what has no gradients here is refused by name") {
    const auto refused = [](const char* name, Index row, Index target) {
        const auto model = must(Model::open(test::golden_model(name)));
        const ModelRun run = must(model.run(five_tokens(), by_staged(), gradient_stages()));
        return sentence_in(model_gradients(model, run, row, target));
    };
    CHECK(refused("gpt2", 5, 1) == "there is no position 5; expected 0 to 4");
    CHECK(refused("gpt2", 0, 50) == "target 50 is not one of 50");
    CHECK(refused("bert", 0, 1) == "this BERT gives no answer");
    CHECK(refused("mixtral", 0, 1) == "gradients of Mixtral are not computed: it has experts");
    CHECK(refused("qwen3", 0, 1) ==
          "gradients of Qwen 3 are not computed: layer 0 is given Q, K and V");
    const auto model = must(Model::open(test::golden_model("gpt2")));
    const ModelRun bare = must(model.run(five_tokens(), by_staged(), {}));
    CHECK(sentence_in(model_gradients(model, bare, 0, 1)) ==
          "the run kept no output of its layers");
}
