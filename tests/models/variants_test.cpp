// config.json in some ninety ways, each against what PyTorch computed with the same weights, or refused by a sentence:
// goldens/variants by make_variants.py.

#include <fstream>
#include <functional>

#include <fmt/format.h>

#include "attn_tree.h"
#include "core/backend.h"
#include "core/io/json.h"
#include "core/models/groups.h"
#include "tests/io/scratch.h"
#include "tests/models/error.h"
#include "tests/support/results.h"
#include "tests/support/small_models.h"

using namespace attn;

namespace {

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

/// The rows of a file, computed and refused.
std::pair<int, int> check_rows(const nlohmann::json& golden,
                               const std::function<ModelRun(const Model&)>& run) {
    const auto folder = std::filesystem::path(ATTN_TEST_DATA) / "variants";
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
        const ModelRun made = run(*model);
        const auto expected = [&](const char* key) {
            return row.at(key).get<std::vector<double>>();
        };
        CHECK(error_of(made.layers.back().residual.values(), expected("residual")) < 1e-5);
        if (row.contains("logits"))
            CHECK(error_of(made.read_out.values(), expected("logits")) < 1e-5);
        ++computed;
    }
    return {computed, refused};
}

nlohmann::json golden_rows(const char* name) {
    return must(read_json_file(std::filesystem::path(ATTN_TEST_DATA) / "variants" / name));
}

}  // namespace

TEST_CASE("a config.json in each of its ways is computed as PyTorch does, or refused by its name") {
    const auto golden = golden_rows("variants.json");
    const auto rows = check_rows(golden, [&](const Model& model) { return run_of(model, golden); });
    CHECK(rows == std::pair(90, 22));
}

TEST_CASE("so is that of T5: what leaves its decoder, and the logits") {
    const auto golden = golden_rows("t5.json");
    const Reading reading{golden.at("text"), golden.at("beside"), "decoder"};
    const auto rows = check_rows(golden, [&](const Model& model) {
        return must(read_group(model, reading, *find_backend("staged"), {}));
    });
    CHECK(rows == std::pair(20, 12));
}

TEST_CASE("so is that of CLIP: the vectors of the images, and the logits of each with each text") {
    const auto golden = golden_rows("clip.json");
    const auto folder = test::golden_model("clip");
    const Reading reading{
        golden.at("text"),
        fmt::format("{} || {}", (folder / "image.png").string(), (folder / "tall.png").string()),
        "match"};
    const auto rows = check_rows(golden, [&](const Model& model) {
        ModelRun run =
            must(read_group(model, reading, *find_backend("staged"), only_stage(Stage::scaled)));
        run.read_out = run.layers[0].trace[Stage::scaled];
        run.layers[0].residual = run.layers[0].inputs->q;
        return run;
    });
    CHECK(rows == std::pair(13, 8));
}
