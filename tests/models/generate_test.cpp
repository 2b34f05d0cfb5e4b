// Tokens that are read one by one against a cache, beside a run of all of them.
#include "core/models/generate.h"
#include "core/models/family.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>

#include <nlohmann/json.hpp>

#include "core/backend.h"
#include "core/io/json.h"
#include "tests/support/results.h"
#include "tests/support/small_models.h"

using namespace attn;

namespace {

const Backend& staged() { return *find_backend("staged"); }

std::shared_ptr<const Model> opened(const std::string& name) {
    return std::make_shared<const Model>(must(Model::open(test::golden_model(name))));
}

/// Every small model that gives the next token.
std::vector<std::string> writers() {
    std::vector<std::string> names;
    for (const auto& entry :
         std::filesystem::directory_iterator(std::filesystem::path(ATTN_TEST_DATA) / "models")) {
        const std::string name = entry.path().filename().string();
        if (Generation::of(opened(name), staged())) names.push_back(name);
    }
    REQUIRE(names.size() >= 18);
    return names;
}

std::vector<ModelToken> of_ids(const std::vector<Index>& ids) {
    std::vector<ModelToken> tokens;
    for (const Index id : ids) tokens.push_back({id, ""});
    return tokens;
}
const std::vector<Index> kGrowing{1, 44, 20, 20, 5, 9, 33, 2, 7, 7, 12, 0};

double largest(std::span<const float> values) {
    double most = 0.0;
    for (const float value : values) most = std::max(most, std::abs(static_cast<double>(value)));
    return most;
}

double difference(std::span<const float> a, std::span<const float> b) {
    REQUIRE(a.size() == b.size());
    double most = 0.0;
    for (std::size_t n = 0; n < a.size(); ++n)
        most = std::max(most, std::abs(static_cast<double>(a[n]) - b[n]));
    return most;
}

/// The rows of a step are the last ones of a run over the text up to it.
void check_step(const GenerationStep& step, const ModelRun& whole) {
    const auto count = std::ssize(step.rows.tokens), all = std::ssize(whole.tokens);
    REQUIRE(step.first + count == all);
    const auto logits = whole.read_out.matrix(0, 0).row(all - 1);
    CHECK(difference(step.logits(), logits) <= 1e-5 * largest(logits));
    for (std::size_t n = 0; n < whole.layers.size(); ++n) {
        const Tensor& weights = whole.layers[n].trace[Stage::weights];
        for (Index h = 0; h < weights.shape().h; ++h)
            for (Index i = 0; i < count; ++i)
                CHECK(difference(step.weights(static_cast<Index>(n), h, i),
                                 weights.matrix(0, h).row(step.first + i)) <= 1e-5);
        const Tensor& residual = whole.layers[n].residual;
        for (Index i = 0; i < count; ++i)
            CHECK(difference(step.rows.layers[n].residual.matrix(0, 0).row(i),
                             residual.matrix(0, 0).row(step.first + i)) <=
                  1e-5 * largest(residual.values()));
    }
}

ModelRun whole_run(const Model& model, Index count, std::vector<Index> ids = kGrowing) {
    ids.resize(count);
    return must(model.run(of_ids(ids), staged(), only_stage(Stage::weights)));
}

}  // namespace

TEST_CASE("rows that are read one by one are those of a run over the whole text") {
    for (const std::string& name : writers()) {
        CAPTURE(name);
        const auto model = opened(name);
        auto generation = must(Generation::of(model, staged()));
        const bool rereads = model->config().family->gated_heads;  // no state is cached
        std::vector<Index> ids = kGrowing;
        const auto prompt = must(generation.read(of_ids({ids[0], ids[1], ids[2]})));
        CHECK(prompt.rows.read_out.shape().t == 1);
        check_step(prompt, whole_run(*model, 3));
        for (Index n = 3; n < 10; ++n) {
            CAPTURE(n);
            const auto step = must(generation.read(ids[n]));
            const bool turned = name == "phi3~longrope" && n == 4;
            CHECK(step.first == (turned || rereads ? 0 : n));
            CHECK(std::ssize(generation.tokens()) == n + 1);
            check_step(step, whole_run(*model, n + 1));
        }
        const auto two = must(generation.read(of_ids({ids[10], ids[11]})));
        CHECK(two.first == (rereads ? 0 : 10));
        check_step(two, whole_run(*model, 12));
    }
}

TEST_CASE("a text that outgrows the short divisors of its windows alone is read anew") {
    const Scratch scratch;
    const auto folder = scratch / "m";
    test::copy_model("gemma3_text~ropes", folder);
    auto config = must(read_json_file(folder / "config.json"));
    config["rope_parameters"]["sliding_attention"] = {{"rope_type", "longrope"},
                                                      {"rope_theta", 20.0},
                                                      {"short_factor", {1.0, 1.5, 2.0, 3.0}},
                                                      {"long_factor", {1.25, 3.0, 7.0, 9.0}},
                                                      {"original_max_position_embeddings", 4}};
    std::ofstream(folder / "config.json") << config;
    const auto model = std::make_shared<const Model>(must(Model::open(folder)));
    REQUIRE(model->config().rope.divisors.empty());
    auto generation = must(Generation::of(model, staged()));
    must(generation.read(of_ids({kGrowing[0], kGrowing[1], kGrowing[2]})));
    for (const Index n : {3, 4, 5, 6}) {
        CAPTURE(n);
        const auto step = must(generation.read(kGrowing[n]));
        CHECK(step.first == (n == 4 ? 0 : n));
        check_step(step, whole_run(*model, n + 1));
    }
}

TEST_CASE("a token is typed over: what followed is forgotten") {
    for (const char* name : {"gpt2", "gemma3_text", "phi3~longrope", "gpt_oss"}) {
        CAPTURE(name);
        const auto model = opened(name);
        auto generation = must(Generation::of(model, staged()));
        must(generation.read(of_ids({1, 44, 20, 20, 5, 9, 33})));
        generation.truncate(3);
        CHECK(generation.tokens().size() == 3);
        check_step(must(generation.read(8)), whole_run(*model, 4, {1, 44, 20, 8}));
        generation.truncate(0);
        CHECK(generation.cache_bytes() == 0);
        check_step(must(generation.read(of_ids({5, 9}))), whole_run(*model, 2, {5, 9}));
    }
}

TEST_CASE("the cache takes 2 · layers · Hkv · d · tokens · 4 bytes") {
    const auto model = opened("llama");  // 2 layers, 2 key heads of width 8
    auto generation = must(Generation::of(model, staged()));
    CHECK(generation.cache_bytes() == 0);
    for (const Index tokens : {3, 4}) {
        must(generation.read(of_ids(std::vector<Index>(tokens == 3 ? 3 : 1, 7))));
        CHECK(generation.cache_bytes() == cache_bytes(model->config(), tokens));
    }
    const ModelConfig& config = model->config();
    CHECK(cache_bytes(config, 4) ==
          2 * config.layers * config.kv_heads * config.columns_of_head() * 4 * 4);
    generation.truncate(1);
    CHECK(generation.cache_bytes() == cache_bytes(config, 1));
    CHECK(must(generation.read(7)).rows.layers.front().inputs->k.empty());
}

TEST_CASE("what cannot be read leaves the text as it was") {
    const auto model = opened("gpt2");
    auto generation = must(Generation::of(model, staged()));
    CHECK(sentence_in(generation.read(std::vector<ModelToken>{})) == "the text has no token");
    must(generation.read(of_ids({1, 2, 3})));
    CHECK(*generation.most_tokens() == 16);
    CHECK(sentence_in(generation.read(of_ids(std::vector<Index>(14, 1)))) ==
          "the text has 17 tokens; this model takes 16");
    CHECK(sentence_in(generation.read(50)) == "token 50 is not one of 50");
    CHECK_FALSE(generation.read(4, {stopped(), {}}));
    CHECK(generation.tokens().size() == 3);
    CHECK(generation.cache_bytes() == cache_bytes(model->config(), 3));
    check_step(must(generation.read(4)), whole_run(*model, 4, {1, 2, 3, 4}));
    auto turned = must(Generation::of(opened("phi3~longrope"), staged()));
    must(turned.read(of_ids({1, 2, 3, 4})));
    CHECK_FALSE(turned.read(5, {stopped(), {}}));
    CHECK(turned.tokens().size() == 4);
    check_step(must(turned.read(5)), whole_run(turned.model(), 5, {1, 2, 3, 4, 5}));
}

TEST_CASE("a model that gives no next token does not generate") {
    CHECK(sentence_in(Generation::of(opened("bert"), staged())) ==
          "this BERT gives no next token; expected a model that does, as GPT-2");
    CHECK_FALSE(Generation::of(opened("vit"), staged()));
    KvCache cache;
    CHECK(contains(sentence_in(opened("bert")->read_on(cache, of_ids({1}), staged())),
                   "BERT reads a text as a whole"));
}

TEST_CASE("a token is named as it is shown, as it stands in a text, or by its number") {
    const Scratch scratch;
    const auto model = must(Model::open(test::gpt2_folder(scratch)));
    CHECK(must(model.token_named("ab")) == 2);
    CHECK(must(model.token_named(" ")) == 3);
    CHECK(must(model.token_named("▁")) == 3);
    CHECK(must(model.token_named("#49")) == 49);
    CHECK(model.text_of(3) == " ");
    CHECK(sentence_in(model.token_named("abba")) ==
          "there is no token 'abba'; expected one as it is shown, or its number, #0 to #49");
    CHECK_FALSE(model.token_named(""));
    CHECK_FALSE(model.token_named("#50"));
    CHECK(must(opened("gpt2")->token_named("7")) == 7);
    CHECK(opened("gpt2")->text_of(7) == " 7");
}
