// Models of random weights against what PyTorch computed with them, layer by layer: goldens/models by make_models.py.

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include <fmt/format.h>

#include "core/io/arrays/array_file.h"
#include "core/models/model.h"
#include "tests/support/results.h"
#include "tests/support/small_models.h"

using namespace attn;

namespace {

std::vector<double> numbers(const ArrayFile& file, const std::string& name) {
    CAPTURE(name);
    const auto array = must(file.read(name));
    if (const auto* floats = std::get_if<std::vector<float>>(&array.values))
        return {floats->begin(), floats->end()};
    return std::get<std::vector<double>>(array.values);
}

/// Largest difference, as a part of the largest expected number.
double error_of(std::span<const float> values, const std::vector<double>& expected) {
    REQUIRE(values.size() == expected.size());
    double largest = 0.0, error = 0.0;
    for (std::size_t n = 0; n < expected.size(); ++n) {
        largest = std::max(largest, std::abs(expected[n]));
        error = std::max(error, std::abs(static_cast<double>(values[n]) - expected[n]));
    }
    REQUIRE(largest > 0.01);
    return error / largest;
}

std::vector<ModelToken> tokens_of(const std::vector<double>& ids) {
    std::vector<ModelToken> tokens;
    for (const double id : ids) tokens.push_back({static_cast<Index>(id), ""});
    return tokens;
}

/// Each family, and "phi3~longrope" and the like of goldens/models: its configuration in other ways.
std::vector<std::string> golden_models() {
    std::vector<std::string> names;
    for (const auto& entry :
         std::filesystem::directory_iterator(std::filesystem::path(ATTN_TEST_DATA) / "models"))
        names.push_back(entry.path().filename().string());
    for (const ModelFamily& family : model_families())
        CHECK(std::ranges::find(names, family.key) != names.end());
    return names;
}

/// Of the ids that PyTorch was given, or of the image that it was given the pixels of.
Result<ModelRun> run_golden(const Model& model, const ArrayFile& expected, const Backend& backend,
                            StageSet keep) {
    if (!model.config().image) return model.run(tokens_of(numbers(expected, "ids")), backend, keep);
    const auto image = must(read_png(test::golden_model(model.config().family->key) / "image.png"));
    const Tensor pixels = pixels_of(image, *model.config().image);
    CHECK(error_of(pixels.values(), numbers(expected, "pixels")) < 1e-6);
    return model.run_image(pixels, backend, keep);
}

}  // namespace

TEST_CASE("every layer of a model equals PyTorch's") {
    for (const std::string& name : golden_models()) {
        CAPTURE(name);
        const auto model = must(Model::open(test::golden_model(name)));
        CHECK(model.notes().size() == (name.find("longrope") == std::string::npos ? 0 : 1));
        const auto expected = must(open_arrays(test::golden_model(name) / "expected.safetensors"));
        const ModelFamily& family = *model.config().family;
        for (const Backend* backend : backends()) {
            CAPTURE(backend->name());
            StageSet keep;
            for (const Stage stage : {Stage::q, Stage::k, Stage::v, Stage::weights})
                keep.set(index_of(stage));
            if (!backend->stages()[index_of(Stage::weights)]) keep.reset(index_of(Stage::weights));
            const auto run = must(run_golden(model, *expected, *backend, keep));
            REQUIRE(std::ssize(run.layers) == model.config().layers);
            for (std::size_t n = 0; n < run.layers.size(); ++n) {
                const ModelLayer& layer = run.layers[n];
                const auto check = [&](const char* key, const Tensor& values) {
                    const std::string array = fmt::format("l{}.{}", n, key);
                    CAPTURE(array);
                    CHECK(error_of(values.values(), numbers(*expected, array)) < 1e-5);
                };
                const auto stage_or_input = [&](Stage stage, const Tensor& given) -> const Tensor& {
                    return layer.trace[stage].empty() ? given : layer.trace[stage];
                };
                check("q", stage_or_input(Stage::q, layer.inputs->q));
                check("k", stage_or_input(Stage::k, layer.inputs->k));
                check("v", stage_or_input(Stage::v, layer.inputs->v));
                if (keep[index_of(Stage::weights)]) check("weights", layer.trace[Stage::weights]);
                check("residual", layer.residual);
                if (!layer.routing.empty()) check("routing", layer.routing);
                CHECK(layer.trace[Stage::output].empty());  // was not asked for
            }
            if (family.read_out == ReadOut::none) {
                CHECK(run.read_out.empty());
                continue;
            }
            const char* said = family.read_out == ReadOut::sentence ? "embedding" : "logits";
            CHECK(error_of(run.read_out.values(), numbers(*expected, said)) < 1e-5);
        }
    }
}

TEST_CASE("attention's output is kept where it is asked for") {
    const auto model = must(Model::open(test::golden_model("gpt2")));
    const auto expected = open_arrays(test::golden_model("gpt2") / "expected.safetensors");
    const auto run =
        must(model.run(tokens_of(numbers(**expected, "ids")), *find_backend("staged")));
    for (std::size_t n = 0; n < run.layers.size(); ++n)
        CHECK(error_of(run.layers[n].trace[Stage::output].values(),
                       numbers(**expected, fmt::format("l{}.output", n))) < 1e-5);
}

TEST_CASE("what a model cannot run is refused by its number") {
    const auto model = must(Model::open(test::golden_model("gpt2")));
    const Backend& staged = *find_backend("staged");
    CHECK(model.run({}, staged).error().sentence == "the text has no token");
    CHECK(model.run({{50, ""}}, staged).error().sentence == "token 50 is not one of 50");
    CHECK(model.run({{-1, ""}}, staged).error().sentence == "token -1 is not one of 50");
    const auto long_run = model.run(std::vector<ModelToken>(17, {1, ""}), staged);
    CHECK(long_run.error().sentence == "the text has 17 tokens; this model takes 16");
    CHECK(model.tokens_of("a").error().sentence ==
          "this model's folder has no tokenizer.json, vocab.json, vocab.txt or tokenizer.model; "
          "without a tokenizer "
          "a text is the numbers of its tokens, such as 15496 995");
    const auto numbered = must(model.tokens_of(" 7, 0 49"));
    REQUIRE(numbered.size() == 3);
    CHECK(numbered[2].id == 49);
    CHECK(numbered[2].text == "#49");
    for (const char* text : {"", " ", "7 -1", "7 a", "7.5"}) CHECK_FALSE(model.tokens_of(text));
}

TEST_CASE("a run ends soon after it was stopped") {
    const auto model = must(Model::open(test::golden_model("llama")));
    CHECK_FALSE(model.run({{1, ""}, {2, ""}}, *find_backend("staged"), all_stages(),
                          RunControl{stopped(), {}}));
}
