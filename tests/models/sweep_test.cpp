// One head after the other changed, against whole runs and block after block without sharing.
#include "core/models/sweep.h"
#include "core/models/model.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>
#include <memory>

#include <fmt/format.h>

#include "core/backend.h"
#include "core/engine.h"
#include "core/io/arrays/array_file.h"
#include "core/models/block.h"
#include "core/models/ends.h"
#include "core/models/family.h"
#include "core/models/groups.h"
#include "core/models/interventions.h"
#include "core/models/patches.h"
#include "core/models/read_out.h"
#include "core/models/weights.h"
#include "tests/support/random.h"
#include "tests/support/results.h"
#include "tests/support/small_models.h"

using namespace attn;

namespace {

const Backend& staged() { return *find_backend("staged"); }

struct Read {
    std::shared_ptr<const Model> model;
    std::function<Result<ModelRun>(const Interventions&)> run;
};

/// A golden model, and how it reads what PyTorch read.
Read read_golden(const std::string& name) {
    auto model = std::make_shared<const Model>(must(Model::open(test::golden_model(name))));
    if (model->config().image) {
        const auto image = must(read_png(test::golden_model(name) / "image.png"));
        Tensor pixels =
            pixels_of(must(fitted_image(image, *model->config().image)), *model->config().image);
        return {model, [model, pixels](const Interventions& with) {
                    return model->run_image(pixels, staged(), all_stages(), {}, with);
                }};
    }
    if (model->config().sound)
        return {model, [model, name](const Interventions& with) {
                    return model->read((test::golden_model(name) / "sound.wav").string(), staged(),
                                       all_stages(), {}, with);
                }};
    const auto expected = must(open_arrays(test::golden_model(name) / "expected.safetensors"));
    const auto ids = must(expected->read("ids"));
    std::vector<ModelToken> tokens;
    std::visit(
        [&](const auto& values) {
            if constexpr (std::is_arithmetic_v<std::decay_t<decltype(values[0])>>)
                for (const auto id : values) tokens.push_back({static_cast<Index>(id), ""});
        },
        ids.values);
    if (model->config().image_prompt) {  // the decoder that reads the image
        std::string text;
        for (const ModelToken& token : tokens) text += fmt::format(" {}", token.id);
        auto decoding = must(decoding_of(
            *model, {text, (test::golden_model(name) / "image.png").string()}, staged()));
        model = std::make_shared<const Model>(std::move(decoding.decoder));
        tokens = std::move(decoding.tokens);
    }
    return {model, [model, tokens](const Interventions& with) {
                return model->run(tokens, staged(), all_stages(), {}, with);
            }};
}

std::vector<float> measured_row(const Tensor& logits) {
    const auto row = logits.matrix(0, 0).row(logits.shape().t - 1);
    return {row.begin(), row.end()};
}

/// What a sweep should say of logits.
SweptHead expected_of(const HeadSweep& sweep, const Tensor& before, const Tensor& after) {
    const auto p = probabilities(measured_row(before)), q = probabilities(measured_row(after));
    SweptHead head;
    const auto row = measured_row(after);
    head.difference = double{row[sweep.a]} - row[sweep.b];
    for (std::size_t n = 0; n < p.size(); ++n)
        if (p[n] > 0.0) head.kl += p[n] * std::log(p[n] / q[n]);
    return head;
}

void check_equal(const SweptHead& swept, const SweptHead& expected) {
    CHECK(std::abs(swept.difference - expected.difference) <
          1e-5 * (1 + std::abs(expected.difference)));
    CHECK(std::abs(swept.kl - expected.kl) < 1e-5 * (1 + expected.kl));
}

/// The logits where a layer's heads give `context`, every block computed in full, one text at a time.
Tensor logits_after(const Model& model, const ModelRun& run, Index layer, Tensor context) {
    const auto& at = run.layers[layer];
    const Tensor& w_o = at.inputs->params[Param::w_o];
    const Tensor& b_o = at.inputs->params[Param::b_o];
    const Index tokens = context.shape().t, width = context.shape().d;
    Tensor attended({1, 1, tokens, w_o.shape().d});
    for (Index t = 0; t < tokens; ++t)
        for (Index c = 0; c < w_o.shape().d; ++c) {
            double sum = b_o.empty() ? 0.0 : b_o(0, 0, 0, c);
            for (Index row = 0; row < w_o.shape().t; ++row)
                sum += double{context(0, row / width, t, row % width)} * w_o(0, 0, row, c);
            attended(0, 0, t, c) = static_cast<float>(sum);
        }
    const auto& blocks = model.weights().blocks;
    Tensor x = layer == 0 ? run.embedded : run.layers[layer - 1].residual;
    x = after_block(x, attended, blocks[layer], model.config()).x;
    for (Index next = layer + 1; next < std::ssize(blocks); ++next) {
        const auto& block = blocks[next];
        const auto trace = must(attend(attention_inputs(x, block, model.config(), next),
                                       layer_spec(model.config(), next), staged()));
        x = after_block(x, trace[Stage::output], block, model.config()).x;
    }
    return read_out_of(model, x);
}

Tensor context_in(const ModelRun& run, Index layer) {
    return run.layers[layer].trace[Stage::context];
}

/// The context with that of a head, at one position or at all, replaced.
Tensor replaced(const ModelRun& run, const SweptHead& at, Ablation by, bool each_position,
                const ModelRun* other) {
    Tensor context = context_in(run, at.at.layer);
    const Shape shape = context.shape();
    const Tensor from = other ? context_in(*other, at.at.layer) : Tensor(shape);
    for (Index c = 0; c < shape.d; ++c) {
        double mean = 0.0;
        for (Index t = 0; t < shape.t; ++t)
            mean += double{context(0, at.at.head, t, c)} / static_cast<double>(shape.t);
        for (Index t = 0; t < shape.t; ++t)
            if (!each_position || t == at.position)
                context(0, at.at.head, t, c) =
                    by == Ablation::mean ? static_cast<float>(mean) : from(0, at.at.head, t, c);
    }
    return context;
}

std::vector<ModelToken> tokens(std::initializer_list<Index> ids) {
    std::vector<ModelToken> made;
    for (const Index id : ids) made.push_back({id, ""});
    return made;
}

/// 12 layers of 12 heads with GPT-2's ratios of width, MLP and vocabulary.
Model wide_model() {
    ModelConfig config = must(Model::open(test::golden_model("gpt2"))).config();
    config.layers = config.heads = config.kv_heads = 12;
    config.width = 48;
    config.head_width = 4;
    std::uint64_t seed = 0;
    const auto numbers = [&](Index rows, Index columns) {
        Tensor made = test::normal_tensor<float>({1, 1, rows, columns}, ++seed);
        for (float& value : made.values()) value *= 0.15F;
        return made;
    };
    const auto norm = [&] { return NormWeights{Tensor({1, 1, 1, 48}, 1.0F), numbers(1, 48)}; };
    ModelWeights weights;
    weights.embedding = numbers(3141, 48);
    weights.positions = numbers(32, 48);
    weights.final_norm = norm();
    for (Index n = 0; n < 12; ++n) {
        BlockWeights block;
        block.attention_norm = norm(), block.mlp_norm = norm();
        for (const Param param : {Param::w_q, Param::w_k, Param::w_v, Param::w_o})
            block.attention[param] = numbers(48, 48);
        block.mlp.up = {numbers(48, 192), numbers(1, 192)};
        block.mlp.down = {numbers(192, 48), numbers(1, 48)};
        weights.blocks.push_back(std::move(block));
    }
    return Model(std::move(config), std::move(weights), std::nullopt);
}

/// The logits of a run whose residual enters `layer` as x, every block computed in full.
Tensor logits_from(const Model& model, Tensor x, Index layer) {
    const auto& blocks = model.weights().blocks;
    for (Index next = layer; next < std::ssize(blocks); ++next) {
        const auto& block = blocks[next];
        const auto trace = must(attend(attention_inputs(x, block, model.config(), next),
                                       layer_spec(model.config(), next), staged()));
        x = after_block(x, trace[Stage::output], block, model.config()).x;
    }
    return read_out_of(model, x);
}

Tensor entering(const ModelRun& run, Index layer) {
    return layer == 0 ? run.embedded : run.layers[layer - 1].residual;
}

/// Row t of `to` in place of what `by` says, of row `from` of another's.
void replace_row(Tensor& to, Index t, Ablation by, const Tensor& other, Index from) {
    const Tensor own = to;
    for (Index c = 0; c < own.shape().d; ++c) {
        double mean = 0.0;
        for (Index n = 0; n < own.shape().t; ++n)
            mean += double{own(0, 0, n, c)} / static_cast<double>(own.shape().t);
        to(0, 0, t, c) = by == Ablation::zero   ? 0.0F
                         : by == Ablation::mean ? static_cast<float>(mean)
                                                : other(0, 0, from, c);
    }
}

}  // namespace

TEST_CASE("a head set to zero is the run with that head off, in every family with logits") {
    std::size_t swept = 0;
    for (const auto& entry : std::filesystem::directory_iterator(test::golden_model(""))) {
        const std::string name = entry.path().filename().string();
        CAPTURE(name);
        const Read read = read_golden(name);
        const ModelRun run = must(read.run({}));
        const auto sweep = sweep_heads(*read.model, run, staged());
        if (!read.model->gives_logits()) {
            CHECK(must_fail(sweep).text() ==
                  "the effect of a change is measured on logits, and this model gives none");
            continue;
        }
        const ModelConfig& config = read.model->config();
        if (config.family->gated_heads) {
            CHECK(must_fail(sweep).text().find("gated") != std::string::npos);
            continue;
        }
        REQUIRE(sweep);
        REQUIRE(std::ssize(sweep->swept) == config.layers * config.heads);
        const auto likely = likeliest(measured_row(run.read_out), 2);
        CHECK(sweep->a == likely[0].id);
        CHECK(sweep->b == likely[1].id);
        CHECK(sweep->difference >= 0.0);
        double most = 0.0;
        for (const SweptHead& head : sweep->swept) {
            INFO("head.at.layer ", head.at.layer, ", head.at.head ", head.at.head);
            const ModelRun off = must(read.run({{head.at}, {}, {}}));
            check_equal(head, expected_of(*sweep, run.read_out, off.read_out));
            most = std::max(most, head.kl);
        }
        CHECK(most > 1e-6);
        ++swept;
    }
    CHECK(swept >= 10);
}

TEST_CASE("mean, patch, and one position at a time: as every block computed in full gives it") {
    for (const char* family : {"gpt2", "llama", "qwen3", "gemma2", "gpt_oss"}) {
        CAPTURE(family);
        const auto model = must(Model::open(test::golden_model(family)));
        const ModelRun run = must(model.run(tokens({3, 1, 4, 1, 5}), staged()));
        const ModelRun other = must(model.run(tokens({2, 7, 1, 8, 6}), staged()));
        for (const Ablation by : {Ablation::zero, Ablation::mean, Ablation::patch})
            for (const bool each : {false, true}) {
                INFO("by ", static_cast<int>(by), ", each ", each);
                const SweepOptions options{by, {{2, 7}}, each, &other};
                const auto sweep = must(sweep_heads(model, run, staged(), options));
                CHECK(sweep.a == 2);
                CHECK(sweep.b == 7);
                CHECK(sweep.positions == (each ? 5 : 1));
                REQUIRE(std::ssize(sweep.swept) == sweep.layers * sweep.heads * sweep.positions);
                for (const SweptHead& head : sweep.swept) {
                    const Tensor context =
                        replaced(run, head, by, each, by == Ablation::patch ? &other : nullptr);
                    check_equal(head,
                                expected_of(sweep, run.read_out,
                                            logits_after(model, run, head.at.layer, context)));
                }
            }
    }
}

TEST_CASE("a run that kept weights and v in place of context is swept to the same numbers") {
    const auto model = must(Model::open(test::golden_model("llama")));
    StageSet keep;
    for (const Stage stage : {Stage::weights, Stage::v}) keep.set(index_of(stage));
    const auto text = tokens({3, 1, 4, 1, 5});
    const auto whole = must(sweep_heads(model, must(model.run(text, staged())), staged()));
    const ModelRun some = must(model.run(text, staged(), keep));
    const auto same = must(sweep_heads(model, some, staged()));
    for (std::size_t n = 0; n < whole.swept.size(); ++n) check_equal(same.swept[n], whole.swept[n]);
    const ModelRun none = must(model.run(text, staged(), {}));
    CHECK(must_fail(sweep_heads(model, none, staged())).text() ==
          "the run kept neither 'context' nor both 'weights' and 'v'");
}

TEST_CASE("144 heads take at most a third of the products of 144 runs") {
    const Model model = wide_model();
    std::vector<ModelToken> text;
    for (Index n = 0; n < 16; ++n) text.push_back({(n * 37) % 3141, ""});
    const ModelRun run = must(model.run(text, staged()));
    std::vector<double> reported;
    const auto sweep = must(sweep_heads(model, run, *find_backend("fused"), {},
                                        {{}, [&](double done) { reported.push_back(done); }}));
    REQUIRE(sweep.swept.size() == 144);
    // 12 blocks of 12 w² and a read-out of V w, for each row
    CHECK(sweep.products_of_run == 16.0 * (12 * 12 * 48 * 48 + 3141 * 48));
    CHECK(sweep.products <= 144 * sweep.products_of_run / 3);
    CHECK(sweep.products >= 144 * sweep.products_of_run / 4);
    CHECK(std::ranges::is_sorted(reported));
    CHECK(reported.back() == doctest::Approx(1.0));
    CHECK(reported.size() > 12);
}

TEST_CASE("what a sweep cannot do is refused, and it ends soon after it was stopped") {
    const auto model = must(Model::open(test::golden_model("gpt2")));
    const ModelRun run = must(model.run(tokens({3, 1, 4}), staged()));
    const ModelRun longer = must(model.run(tokens({3, 1, 4, 1}), staged()));
    const auto refused = [&](const SweepOptions& options) {
        return must_fail(sweep_heads(model, run, staged(), options)).text();
    };
    CHECK(refused({Ablation::zero, {{3, 50}}, false, nullptr}) == "token 50 is not one of 50");
    CHECK(refused({Ablation::patch, {}, false, nullptr}) == "a patch needs another text");
    const ModelRun other = must(model.run(tokens({9, 8, 7, 6}), staged()));
    CHECK(refused({Ablation::patch, {}, false, &other}) ==
          "the text to patch from has 4 tokens and the text 3, and neither their first nor their "
          "last tokens are equal; expected an alignment of tokens");
    const auto paired = [&](Alignment alignment) {
        return refused({Ablation::patch, {}, false, &longer, std::move(alignment)});
    };
    CHECK(paired({0, 4, -1}) ==
          "token 4 is paired, but the text to patch from has 4 tokens, counted from 0");
    CHECK(paired({0, 0, -1}) == "token 0 of the text to patch from is paired twice");
    CHECK(paired({-1, -1, -1}) == "no token is paired with one of the text to patch from");
    CHECK(paired({0}) == "1 tokens are paired; expected one entry for each of 3");
    CHECK(must_fail(sweep_heads(model, run, staged(), {}, {stopped(), {}})).kind ==
          ErrorKind::failure);
}

TEST_CASE("a swept residual or MLP is a run with that row replaced, of aligned positions alone") {
    // GPT-2, gated, norms of what attention and MLP give, parallel, a factor of the residual
    for (const char* name : {"gpt2", "llama", "gemma2", "gpt_neox", "granite"}) {
        CAPTURE(name);
        const Read read = read_golden(name);
        const Model& model = *read.model;
        const ModelRun run = must(read.run({}));
        auto longer = run.tokens;
        longer.insert(longer.begin() + 2, ModelToken{longer[0].id, ""});
        std::swap(longer[0], longer[1]);
        const ModelRun other = must(model.run(longer, staged()));
        Alignment alignment(run.tokens.size(), -1);
        for (std::size_t t = 1; t < alignment.size(); ++t) alignment[t] = static_cast<Index>(t + 1);
        alignment[1] = 0;
        for (const auto part : {SweepPart::residual, SweepPart::mlp})
            for (const auto by : {Ablation::zero, Ablation::mean, Ablation::patch}) {
                INFO("part ", static_cast<int>(part), ", by ", static_cast<int>(by));
                const SweepOptions options{by, {{2, 7}}, false, &other, alignment, part};
                const auto sweep = must(sweep_heads(model, run, staged(), options));
                const Index tokens = std::ssize(run.tokens);
                REQUIRE(sweep.heads == 1);
                REQUIRE(sweep.positions == tokens);
                REQUIRE(std::ssize(sweep.swept) == sweep.layers * tokens);
                for (Index n = 0; n < std::ssize(sweep.swept); ++n) {
                    const SweptHead& each = sweep.swept[n];
                    const Index layer = n / tokens, t = n % tokens;
                    CHECK(each.at.layer == layer);
                    CHECK(each.position == t);
                    const Index from = by == Ablation::patch ? alignment[t] : t;
                    if (from < 0) {
                        CHECK(std::isnan(each.difference));
                        continue;
                    }
                    Tensor x = entering(run, layer);
                    Index next = layer;
                    if (part == SweepPart::residual) {
                        replace_row(x, t, by, entering(other, layer), from);
                    } else {
                        const auto of = [&](const ModelRun& each_run) {
                            return after_block(entering(each_run, layer),
                                               each_run.layers[layer].trace[Stage::output],
                                               model.weights().blocks[layer], model.config());
                        };
                        const auto& block = model.weights().blocks[layer];
                        Tensor mlp = of(run).mlp;
                        replace_row(mlp, t, by, of(other).mlp, from);
                        x = after_mlp(after_attention(x, run.layers[layer].trace[Stage::output],
                                                      block, model.config()),
                                      mlp, block, model.config());
                        ++next;
                    }
                    check_equal(each, expected_of(sweep, run.read_out,
                                                  logits_from(model, std::move(x), next)));
                }
            }
    }
}

TEST_CASE("a patch of heads from a text of another length takes the paired positions") {
    const auto model = must(Model::open(test::golden_model("gpt2")));
    const ModelRun run = must(model.run(tokens({3, 1, 4, 1, 5}), staged()));
    const ModelRun other = must(model.run(tokens({3, 9, 9, 4, 1, 5}), staged()));
    const auto sweep =
        must(sweep_heads(model, run, staged(), {Ablation::patch, {{2, 7}}, true, &other}));
    CHECK(sweep.alignment == Alignment{0, -1, 3, 4, 5});
    for (const SweptHead& head : sweep.swept) {
        const Index from = sweep.alignment[head.position];
        CHECK(std::isnan(head.difference) == (from < 0));
        if (from < 0) continue;
        Tensor context = context_in(run, head.at.layer);
        const Tensor there = context_in(other, head.at.layer);
        for (Index c = 0; c < context.shape().d; ++c)
            context(0, head.at.head, head.position, c) = there(0, head.at.head, from, c);
        check_equal(head, expected_of(sweep, run.read_out,
                                      logits_after(model, run, head.at.layer, context)));
    }
}

TEST_CASE("tokens are paired by their common ends, or as written") {
    const auto ends = [](std::initializer_list<Index> text, std::initializer_list<Index> other) {
        return common_ends(tokens(text), tokens(other));
    };
    CHECK(ends({1, 2, 3}, {4, 5, 6}) == Alignment{0, 1, 2});
    CHECK(ends({1, 2, 3}, {1, 9, 9, 3}) == Alignment{0, -1, 3});
    CHECK(ends({1, 2, 2, 3}, {1, 2, 3}) == Alignment{0, 1, -1, 2});
    CHECK(ends({1, 1}, {1}) == Alignment{0, -1});
    CHECK(ends({1, 2}, {3}) == Alignment{-1, -1});
    CHECK(must(parse_pairs(" 0=0, 3 = 4")) == PairedTokens{{0, 0}, {3, 4}});
    CHECK(must(parse_pairs("")).empty());
    CHECK(pairs_text({{0, 0}, {3, 4}}) == "0=0, 3=4");
    CHECK(pairs_of({0, -1, 3}) == PairedTokens{{0, 0}, {2, 3}});
    for (const char* wrong : {"0", "0=", "=1", "a=1", "0=1=2", "0=1,,", "-"})
        CHECK(must_fail(parse_pairs(wrong)).kind == ErrorKind::input);
    CHECK(must_fail(aligned({{3, 0}}, 3, 9)).text() ==
          "token 3 is paired, but the text has 3 tokens, counted from 0");
    CHECK(must_fail(aligned({{-1, 0}}, 3, 9)).kind == ErrorKind::input);
}

TEST_CASE("rounding is no change: the mean of one position, a patch from the text itself") {
    for (const char* family : {"gpt2", "llama", "mistral", "gemma2"})
        for (const Ablation by : {Ablation::mean, Ablation::patch}) {
            INFO("family ", family, ", by ", static_cast<int>(by));
            const auto model = must(Model::open(test::golden_model(family)));
            const auto text = by == Ablation::mean ? tokens({7}) : tokens({1, 7, 3, 1, 4});
            const ModelRun run = must(model.run(text, staged()));
            const auto sweep = must(sweep_heads(model, run, staged(), {by, {}, false, &run}));
            for (const SweptHead& head : sweep.swept) {
                CHECK(sweep.change(head) == 0.0);
                CHECK(head.kl == 0.0);
            }
        }
}
