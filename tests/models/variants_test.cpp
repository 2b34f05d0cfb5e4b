// config.json in some ninety ways, each against what PyTorch computed with the same weights, or refused by a sentence:
// goldens/variants by make_variants.py.

#include <doctest/doctest.h>

#include <cmath>
#include <fstream>

#include "attn_tree.h"
#include "core/io/json.h"
#include "core/models/model.h"
#include "tests/io/scratch.h"
#include "tests/support/results.h"

using namespace attn;

namespace {

/// Largest difference, as a part of the largest expected number.
double error_of(std::span<const float> values, const std::vector<double>& expected) {
    REQUIRE(values.size() == expected.size());
    double largest = 0.0, error = 0.0;
    for (std::size_t n = 0; n < expected.size(); ++n) {
        largest = std::max(largest, std::abs(expected[n]));
        error = std::max(error, std::abs(static_cast<double>(values[n]) - expected[n]));
    }
    return error / largest;
}

std::string with(std::string text, const std::string& from, const std::string& to) {
    if (const auto at = text.find(from); at != std::string::npos) text.replace(at, from.size(), to);
    return text;
}

/// Of the ids, or of the pixels where the model reads images.
ModelRun run_of(const Model& model, const nlohmann::json& golden) {
    const Backend& staged = *find_backend("staged");
    if (model.config().image) {
        Tensor pixels({1, 3, 4, 4});
        std::ranges::copy(golden.at("pixels").get<std::vector<float>>(), pixels.values().begin());
        return must(model.run_image(pixels, staged, {}));
    }
    std::vector<ModelToken> tokens;
    for (const auto& id : golden.at("ids")) tokens.push_back({id.get<Index>(), ""});
    return must(model.run(tokens, staged, {}));
}

}  // namespace

TEST_CASE("a config.json in each of its ways is computed as PyTorch does, or refused by its name") {
    const auto folder = std::filesystem::path(ATTN_TEST_DATA) / "variants";
    const auto golden = must(read_json_file(folder / "variants.json"));
    int computed = 0, refused = 0;
    for (const auto& row : golden.at("rows")) {
        const std::string config = row.at("config").dump();
        CAPTURE(config);
        const Scratch scratch;
        std::ofstream(scratch / "config.json") << config;
        std::filesystem::copy_file(folder / (row.at("file").get<std::string>() + ".safetensors"),
                                   scratch / "model.safetensors");
        const auto model = Model::open(scratch.path());
        if (row.contains("fault")) {
            const auto sentence = with(
                with(row.at("fault").get<std::string>(), "FILE", scratch.at("model.safetensors")),
                "CONFIG", scratch.at("config.json"));
            CHECK(sentence_in(model) == sentence);
            ++refused;
            continue;
        }
        REQUIRE_MESSAGE(model, sentence_in(model));
        const ModelRun run = run_of(*model, golden);
        const auto expected = [&](const char* key) {
            return row.at(key).get<std::vector<double>>();
        };
        CHECK(error_of(run.layers.back().residual.values(), expected("residual")) < 1e-5);
        if (row.contains("logits"))
            CHECK(error_of(run.read_out.values(), expected("logits")) < 1e-5);
        ++computed;
    }
    CHECK(computed == 78);
    CHECK(refused == 23);
}
