// What each layer says of the next token, and what each part adds to a logit.
#include "core/models/lens.h"

#include <doctest/doctest.h>

#include <cmath>
#include <filesystem>
#include <set>

#include "core/backend.h"
#include "core/models/block.h"
#include "core/models/family.h"
#include "core/models/generate.h"
#include "core/models/interventions.h"
#include "core/models/weights.h"
#include "tests/support/results.h"
#include "tests/support/small_models.h"

using namespace attn;

namespace {

const Backend& by_staged() { return *find_backend("staged"); }

std::vector<ModelToken> seven_tokens() {
    std::vector<ModelToken> tokens;
    for (const Index id : {1, 44, 20, 20, 5, 9, 33}) tokens.push_back({id, ""});
    return tokens;
}

ModelRun context_run(const Model& model, const Interventions& with = {}) {
    return must(model.run(seven_tokens(), by_staged(), attribution_stages(), {}, with));
}

double sizes_of(const LogitAttribution& parts) {
    double size = 0.0;
    for (const LogitPart& part : parts.parts) size += std::abs(part.value);
    return size;
}

}  // namespace

TEST_CASE("the last layer of the lens is what the model says") {
    for (const char* name : {"gpt2", "gemma2", "granite", "olmo2", "mixtral", "gpt_neox"}) {
        CAPTURE(name);
        const auto model = must(Model::open(test::golden_model(name)));
        const ModelRun run = context_run(model);
        for (const Index row : {0, 3, 6}) {
            const auto lens = must(logit_lens(model, run, row, {}, 4));
            REQUIRE(std::ssize(lens.layers) == model.config().layers + 1);
            const auto logits = run.read_out.matrix(0, 0).row(row);
            const auto best = likeliest(logits, 4);
            const LensLayer& last = lens.layers.back();
            CHECK(lens.token == best.front().id);
            CHECK(last.rank == 0);
            CHECK(last.logit == doctest::Approx(logits[lens.token]).epsilon(1e-5));
            REQUIRE(last.best.size() == 4);
            for (std::size_t n = 0; n < 4; ++n)
                CHECK(last.best[n].probability ==
                      doctest::Approx(best[n].probability).epsilon(1e-4));
            CHECK(lens.layers.front().layer == -1);
        }
    }
}

TEST_CASE("the lens before the first layer reads the embedding: by hand") {
    const auto model = must(Model::open(test::golden_model("llama")));
    const ModelRun run = context_run(model);
    const auto lens = must(logit_lens(model, run, 2, 7, 45));
    const LensLayer& first = lens.layers.front();
    double squares = 0.0;
    const Index width = model.config().width;
    for (Index c = 0; c < width; ++c)
        squares += std::pow(double{model.weights().embedding(20, c)}, 2);
    const double factor =
        1.0 / std::sqrt(squares / static_cast<double>(width) + model.config().epsilon);
    double logit = 0.0;
    for (Index c = 0; c < width; ++c)
        logit += double{model.weights().embedding(20, c)} * factor *
                 model.weights().final_norm.scale.values()[c] *
                 model.weights().read_out.weight(7, c);
    CHECK(first.logit == doctest::Approx(logit).epsilon(1e-5));
    REQUIRE(first.best.size() == 45);
    CHECK(first.best[first.rank].id == 7);
    CHECK(first.best[first.rank].probability == first.probability);
}

TEST_CASE("parts sum to the logit, and to the difference of two, of every model that writes") {
    std::size_t models = 0;
    for (const auto& entry :
         std::filesystem::directory_iterator(std::filesystem::path(ATTN_TEST_DATA) / "models")) {
        const std::string name = entry.path().filename().string();
        CAPTURE(name);
        const auto model = must(Model::open(entry.path()));
        if (model.config().family->read_out != ReadOut::next_token) continue;
        ++models;
        const ModelRun run = context_run(model);
        if (model.config().family->gated_heads) {
            CHECK(must_fail(attribute_logit(model, run, 0, 7)).text().find("gated") !=
                  std::string::npos);
            continue;
        }
        for (const Index row : {0, 6}) {
            const auto one = must(attribute_logit(model, run, row, 7));
            CHECK(std::abs(one.residue()) <= 1e-5 * sizes_of(one));
            const auto both = must(attribute_logit(model, run, row, 7, 12));
            CHECK(std::abs(both.residue()) <= 1e-5 * sizes_of(both));
            const auto other = must(attribute_logit(model, run, row, 12));
            REQUIRE(both.parts.size() == one.parts.size());
            for (std::size_t n = 0; n < both.parts.size(); ++n)
                CHECK(both.parts[n].value ==
                      doctest::Approx(one.parts[n].value - other.parts[n].value).epsilon(1e-6));
            double logit = run.read_out(0, 0, row, 7);
            if (const auto cap = model.config().logit_cap) logit = *cap * std::atanh(logit / *cap);
            CHECK(one.logit == doctest::Approx(logit).epsilon(1e-4));
            std::set<std::pair<Index, Index>> heads;
            for (const LogitPart& part : one.parts)
                if (part.kind == PartKind::head) heads.insert({part.at.layer, part.at.head});
            CHECK(std::ssize(heads) == model.config().layers * model.config().heads);
        }
    }
    CHECK(models >= 18);
}

TEST_CASE("parts sum to the logit of a class, and to the difference of two") {
    for (const char* name : {"vit", "deit"}) {
        CAPTURE(name);
        const auto folder = test::golden_model(name);
        const auto model = must(Model::open(folder));
        const auto run =
            must(model.read((folder / "image.png").string(), by_staged(), attribution_stages()));
        for (const Index token : {0, 3}) {
            const auto one = must(attribute_logit(model, run, 0, token));
            CHECK(std::abs(one.residue()) <= 1e-5 * sizes_of(one));
            CHECK(one.logit == doctest::Approx(run.read_out(0, 0, 0, token)).epsilon(1e-5));
            CHECK(one.parts.back().kind == PartKind::read_out_bias);
            const auto both = must(attribute_logit(model, run, 0, token, 1));
            CHECK(both.logit ==
                  doctest::Approx(double{run.read_out(0, 0, 0, token)} - run.read_out(0, 0, 0, 1))
                      .epsilon(1e-5));
            CHECK(std::abs(both.residue()) <= 1e-5 * sizes_of(both));
        }
        CHECK_FALSE(attribute_logit(model, run, 1, 0));
        CHECK_FALSE(attribute_logit(model, run, 0, model.weights().read_out.weight.shape().d));
        CHECK_FALSE(logit_lens(model, run, 0));
    }
}

TEST_CASE("parts sum to the logit of a label, also where norms come after each sum") {
    for (const char* name : {"megatron-bert", "bert~labels"}) {
        CAPTURE(name);
        const auto model = must(Model::open(test::golden_model(name)));
        REQUIRE(model.gives_logits());
        const ModelRun run = context_run(model);
        for (const Index row : {0, 4, 6})
            for (const Index label : {0, 8}) {
                const auto one = must(attribute_logit(model, run, row, label));
                CHECK(std::abs(one.residue()) <= 1e-5 * sizes_of(one));
                CHECK(std::abs(one.residue()) <= 1e-4 * std::abs(one.logit));
                CHECK(one.logit == doctest::Approx(run.read_out(0, 0, row, label)).epsilon(1e-4));
                const auto both = must(attribute_logit(model, run, row, label, 3));
                CHECK(std::abs(both.residue()) <= 1e-5 * sizes_of(both));
                const bool after = model.config().family->norms_after;
                for (const PartKind shift : {PartKind::attention_shift, PartKind::mlp_shift})
                    CHECK(std::ranges::count(one.parts, shift, &LogitPart::kind) ==
                          (after ? model.config().layers : 0));
            }
    }
}

TEST_CASE("with the norms' factors frozen a part of a BERT adds what leaving it out takes away") {
    // By hand: the last layer's MLP of bert~labels, y = γ (r + m − mean(r + m)) f + β, its logit u · y.
    const auto model = must(Model::open(test::golden_model("bert~labels")));
    const ModelRun run = context_run(model);
    const Index row = 3, label = 5, width = model.config().width;
    const BlockWeights& block = model.weights().blocks.back();
    const auto parts = must(attribute_logit(model, run, row, label));
    const auto run_all = must(
        model.run(seven_tokens(), by_staged(), attribution_stages() | only_stage(Stage::output)));
    BlockSteps steps;
    const auto out = after_block(row_of(run_all.layers[0].residual, row),
                                 row_of(run_all.layers[1].trace[Stage::output], row), block,
                                 model.config(), &steps);
    double mean = 0.0, squares = 0.0, mlp_mean = 0.0;
    const auto n = static_cast<double>(width);
    for (Index c = 0; c < width; ++c) {
        mean += steps.mlp_sum(0, 0, 0, c) / n;
        mlp_mean += out.mlp(0, 0, 0, c) / n;
    }
    for (Index c = 0; c < width; ++c) squares += std::pow(steps.mlp_sum(0, 0, 0, c) - mean, 2) / n;
    double expected = 0.0, shift = 0.0;
    for (Index c = 0; c < width; ++c) {
        const double u = model.weights().read_out.weight(c, label);
        expected += u * block.mlp_norm.scale.values()[c] * (out.mlp(0, 0, 0, c) - mlp_mean) /
                    std::sqrt(squares + model.config().epsilon);
        shift += u * block.mlp_norm.shift.values()[c];
    }
    for (const LogitPart& part : parts.parts) {
        if (part.at.layer != 1) continue;
        if (part.kind == PartKind::mlp)
            CHECK(part.value == doctest::Approx(expected).epsilon(1e-5));
        if (part.kind == PartKind::mlp_shift) CHECK(part.value == doctest::Approx(shift));
    }
}

TEST_CASE("of every model of one stack parts sum to the norm of what leaves the last block") {
    std::size_t models = 0;
    for (const auto& entry :
         std::filesystem::directory_iterator(std::filesystem::path(ATTN_TEST_DATA) / "models")) {
        const std::string name = entry.path().filename().string();
        CAPTURE(name);
        const auto model = must(Model::open(entry.path()));
        if (model.config().family->second != nullptr) continue;
        std::vector<ModelToken> tokens = seven_tokens();
        for (ModelToken& token : tokens)
            token.id %= std::max<Index>(model.weights().embedding.shape().t, 1);
        const ModelRun run =
            must(model.config().image ? model.read("", by_staged(), attribution_stages())
                                      : model.run(tokens, by_staged(), attribution_stages()));
        ++models;
        if (model.config().family->gated_heads) {
            CHECK(must_fail(attribute_norm(model, run, 0)).text().find("gated") !=
                  std::string::npos);
            continue;
        }
        for (const Index row : {0, 4}) {
            const auto sum = must(attribute_norm(model, run, row));
            const Tensor x = row_of(run.layers.back().residual, row);
            double squares = 0.0;
            for (const float value : x.values()) squares += double{value} * value;
            CHECK(sum.logit == doctest::Approx(std::sqrt(squares)));
            CHECK(std::abs(sum.residue()) <= 1e-5 * sizes_of(sum));
        }
        CHECK_FALSE(attribute_norm(model, run, std::ssize(run.tokens)));
    }
    CHECK(models >= 24);
}

TEST_CASE("a head that is off adds nothing, and no other head of its layer changes") {
    const auto model = must(Model::open(test::golden_model("gpt2")));
    const auto before = must(attribute_logit(model, context_run(model), 6, 7));
    const auto off = must(attribute_logit(
        model, context_run(model, {.off = {{1, 2}}, .rows = {}, .patches = {}}), 6, 7));
    REQUIRE(off.parts.size() == before.parts.size());
    CHECK(std::abs(off.residue()) <= 1e-5 * sizes_of(off));
    for (std::size_t n = 0; n < off.parts.size(); ++n)
        if (const LogitPart& part = off.parts[n];
            part.kind == PartKind::head && part.at == HeadPlace{1, 2}) {
            CHECK(part.value == 0.0);
            CHECK(before.parts[n].value != 0.0);
        } else {
            CHECK(part.value != 0.0);
        }
}

TEST_CASE("a step of a generation is read as a run is") {
    const auto model =
        std::make_shared<const Model>(must(Model::open(test::golden_model("gemma3_text"))));
    auto generation =
        must(Generation::of(model, by_staged(), only_stage(Stage::weights) | attribution_stages()));
    std::vector<ModelToken> tokens = seven_tokens();
    const ModelToken last = tokens.back();
    tokens.pop_back();
    must(generation.read(tokens));
    const auto step = must(generation.read(last.id));
    const auto of_step = must(attribute_logit(*model, step.rows, 0, 7));
    const auto of_run = must(attribute_logit(*model, context_run(*model), 6, 7));
    REQUIRE(of_step.parts.size() == of_run.parts.size());
    for (std::size_t n = 0; n < of_run.parts.size(); ++n)
        CHECK(std::abs(of_step.parts[n].value - of_run.parts[n].value) <= 1e-5 * sizes_of(of_run));
    const auto lens = must(logit_lens(*model, step.rows, 0, 7));
    CHECK(lens.layers.back().logit ==
          doctest::Approx(must(logit_lens(*model, context_run(*model), 6, 7)).layers.back().logit)
              .epsilon(1e-4));
}

TEST_CASE("what the lens cannot read is refused by name") {
    const auto model = must(Model::open(test::golden_model("gpt2")));
    const ModelRun run = context_run(model);
    CHECK(sentence_in(logit_lens(model, run, 7)) == "there is no position 7; expected 0 to 6");
    CHECK(sentence_in(logit_lens(model, run, -1)) == "there is no position -1; expected 0 to 6");
    CHECK(sentence_in(logit_lens(model, run, 0, 50)) == "token 50 is not one of 50");
    CHECK(sentence_in(attribute_logit(model, run, 0, 1, -2)) == "token -2 is not one of 50");
    const ModelRun bare = must(model.run(seven_tokens(), by_staged(), {}));
    CHECK(sentence_in(attribute_logit(model, bare, 0, 1)) ==
          "the run kept no context, whose parts are asked for");
    const auto bert = must(Model::open(test::golden_model("bert")));
    const ModelRun other = must(bert.run({{1, ""}}, by_staged()));
    CHECK(sentence_in(logit_lens(bert, other, 0)) ==
          "this BERT gives no next token; expected a model that does, as GPT-2");
    CHECK_FALSE(attribute_logit(bert, other, 0, 1));
}

TEST_CASE("the difference of two logits of the last token") {
    const auto model = must(Model::open(test::golden_model("gpt2")));
    const ModelRun run = context_run(model);
    CHECK(must(logit_difference(run, 7, 12)) ==
          double{run.read_out(0, 0, 6, 7)} - run.read_out(0, 0, 6, 12));
    CHECK(must(logit_difference(run, 7, 7)) == 0.0);
    CHECK(sentence_in(logit_difference(run, 7, 50)) == "token 50 is not one of 50");
    CHECK(sentence_in(logit_difference({}, 0, 0)) == "the run has no logits");
}
