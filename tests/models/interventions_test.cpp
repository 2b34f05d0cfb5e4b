// What is changed inside a model: heads off, rows replaced, vectors patched.
#include "core/models/interventions.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "attn_tree.h"
#include "core/backend.h"
#include "core/models/model.h"
#include "core/models/weights.h"
#include "core/spec_arrays.h"
#include "tests/support/results.h"

using namespace attn;

namespace {

const Model& model_of(std::string_view family) {
    static std::map<std::string, Model, std::less<>> models;
    auto found = models.find(family);
    if (found == models.end()) {
        auto model = must(Model::open(std::filesystem::path(ATTN_TEST_DATA) / "models" / family));
        found = models.emplace(std::string(family), std::move(model)).first;
    }
    return found->second;
}

std::vector<ModelToken> tokens(std::initializer_list<Index> ids) {
    std::vector<ModelToken> made;
    for (const Index id : ids) made.push_back({id, ""});
    return made;
}
const auto kText = tokens({3, 1, 4, 1, 5});
const auto kOther = tokens({2, 7, 1, 8, 6});

ModelRun run(const Model& model, const Interventions& with = {},
             const std::vector<ModelToken>& text = kText) {
    return must(model.run(text, *find_backend("staged"), all_stages(), {}, with));
}

std::string refused(const Model& model, const Interventions& with) {
    return must_fail(model.run(kText, *find_backend("staged"), all_stages(), {}, with)).text();
}

double distance(const Tensor& a, const Tensor& b) {
    REQUIRE(a.shape() == b.shape());
    double most = 0.0;
    for (std::size_t n = 0; n < a.values().size(); ++n)
        most = std::max(most, std::abs(double{a.values()[n]} - b.values()[n]));
    return most;
}

std::vector<Index> all_positions(const std::vector<ModelToken>& text) {
    std::vector<Index> positions(text.size());
    std::iota(positions.begin(), positions.end(), Index{0});
    return positions;
}

/// q, k and v of every head of a layer, from another run.
Interventions whole_layer(const Model& model, const ModelRun& source, Index layer) {
    Interventions with;
    for (const Stage part : {Stage::q, Stage::k, Stage::v}) {
        const ModelConfig& config = model.config();
        const Index heads = part == Stage::q ? config.heads : config.kv_heads;
        for (Index head = 0; head < heads; ++head) {
            auto patch =
                must(patch_from(source, {layer, head}, part, all_positions(source.tokens)));
            with.patches.push_back(std::move(patch));
        }
    }
    return with;
}

}  // namespace

TEST_CASE("a head that is off takes its part, context times its rows of W_O, out of the output") {
    for (const char* family : {"gpt2", "llama", "bert", "qwen3"}) {
        CAPTURE(family);
        const Model& model = model_of(family);
        const ModelRun on = run(model);
        const ModelRun off = run(model, {{{0, 1}}, {}, {}});
        const Tensor& context = on.layers[0].trace[Stage::context];
        const Tensor& w_o = on.layers[0].inputs->params[Param::w_o];
        Tensor expected = on.layers[0].trace[Stage::output];
        const Index width = context.shape().d;
        double part = 0.0;
        for (Index t = 0; t < 5; ++t)
            for (Index c = 0; c < expected.shape().d; ++c) {
                double sum = 0.0;
                for (Index d = 0; d < width; ++d)
                    sum += double{context(0, 1, t, d)} * w_o(0, 0, width + d, c);
                expected(0, 0, t, c) -= static_cast<float>(sum);
                part = std::max(part, std::abs(sum));
            }
        CHECK(part > 1e-3);
        CHECK(distance(off.layers[0].trace[Stage::output], expected) < 1e-5 * (1.0 + part));
        CHECK(off.layers[0].trace[Stage::weights] == on.layers[0].trace[Stage::weights]);
        CHECK(off.layers[0].trace[Stage::context] == context);
        CHECK(distance(off.layers[1].trace[Stage::weights], on.layers[1].trace[Stage::weights]) >
              1e-6);
    }
}

TEST_CASE("a head that is off is the model whose rows of W_O are 0, and all off leave the bias") {
    const Model& model = model_of("gpt2");
    ModelWeights weights = model.weights();
    Tensor& w_o = weights.blocks[1].attention[Param::w_o];
    const Index width = w_o.shape().t / model.config().heads;
    for (Index row = 2 * width; row < 3 * width; ++row)
        std::ranges::fill(w_o.matrix(0, 0).row(row), 0.0F);
    const Model without(model.config(), std::move(weights), std::nullopt);
    const ModelRun off = run(model, {{{1, 2}}, {}, {}});
    CHECK(off.read_out == run(without).read_out);
    CHECK(distance(off.read_out, run(model).read_out) > 1e-4);

    const ModelRun none = run(model, {{{0, 0}, {0, 1}, {0, 2}}, {}, {}});
    const Tensor& output = none.layers[0].trace[Stage::output];
    const Tensor& bias = model.weights().blocks[0].attention[Param::b_o];
    for (Index t = 0; t < 5; ++t)
        for (Index c = 0; c < output.shape().d; ++c) CHECK(output(0, 0, t, c) == bias(0, 0, 0, c));
}

TEST_CASE("a row that is replaced mixes the values by its weights, and only that row") {
    for (const char* family : {"gpt2", "llama"}) {
        CAPTURE(family);
        const Model& model = model_of(family);
        const ModelRun before = run(model);
        const ModelRun after = run(model, {{}, {{{0, 1}, 3, {0.5, 0.0, 0.25, 0.25, 0.0}}}, {}});
        const Trace& was = before.layers[0].trace;
        const Trace& is = after.layers[0].trace;
        const ModelConfig& config = model.config();
        const Index key_head = 1 * config.kv_heads / config.heads;
        const Tensor& v = was[Stage::v];
        const double weights[] = {0.5, 0.0, 0.25, 0.25, 0.0};
        for (Index j = 0; j < 5; ++j)
            CHECK(is[Stage::weights](0, 1, 3, j) == static_cast<float>(weights[j]));
        for (Index c = 0; c < v.shape().d; ++c) {
            double sum = 0.0;
            for (Index j = 0; j < 5; ++j) sum += weights[j] * v(0, key_head, j, c);
            CHECK(is[Stage::context](0, 1, 3, c) == doctest::Approx(sum).epsilon(1e-6));
        }
        CHECK(distance(is[Stage::output], was[Stage::output]) > 1e-4);
        for (Index t = 0; t < 5; ++t)
            if (t != 3)
                CHECK(std::ranges::equal(is[Stage::output].matrix(0, 0).row(t),
                                         was[Stage::output].matrix(0, 0).row(t)));
        // the row's output: context W_O by hand
        const Tensor& w_o = after.layers[0].inputs->params[Param::w_o];
        const Tensor& bias = after.layers[0].inputs->params[Param::b_o];
        const Index width = v.shape().d;
        double sum = bias.empty() ? 0.0 : bias(0, 0, 0, 2);
        for (Index h = 0; h < config.heads; ++h)
            for (Index d = 0; d < width; ++d)
                sum += double{is[Stage::context](0, h, 3, d)} * w_o(0, 0, h * width + d, 2);
        CHECK(is[Stage::output](0, 0, 3, 2) == doctest::Approx(sum).epsilon(1e-4));
    }
}

TEST_CASE("a row that softmax gave, put in its own place, changes nothing but the last digits") {
    const Model& model = model_of("gpt2");
    const ModelRun before = run(model);
    const auto row = before.layers[0].trace[Stage::weights].matrix(0, 2).row(4);
    std::vector<double> weights(row.begin(), row.end());
    const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
    for (double& weight : weights) weight /= sum;
    const ModelRun after = run(model, {{}, {{{0, 2}, 4, weights}}, {}});
    CHECK(distance(after.read_out, before.read_out) < 1e-5);
}

TEST_CASE("patching q, k and v of a layer: the same text changes nothing, another brings its own") {
    for (const char* family : {"gpt2", "llama", "qwen3"}) {
        CAPTURE(family);
        const Model& model = model_of(family);
        const ModelRun own = run(model);
        const ModelRun other = run(model, {}, kOther);
        const ModelRun same = run(model, whole_layer(model, own, 0));
        CHECK(same.read_out == own.read_out);
        const ModelRun moved = run(model, whole_layer(model, other, 0));
        for (const Stage stage : {Stage::weights, Stage::context, Stage::output})
            CHECK(moved.layers[0].trace[stage] == other.layers[0].trace[stage]);
        CHECK(distance(moved.layers[0].residual, own.layers[0].residual) > 1e-3);
        CHECK(distance(moved.layers[0].residual, other.layers[0].residual) > 1e-3);
    }
}

TEST_CASE("patching v of one head moves the output by α (v' − v) W_O") {
    const Model& model = model_of("gpt2");
    const ModelRun own = run(model);
    const ModelRun other = run(model, {}, kOther);
    auto patch = must(patch_from(other, {1, 0}, Stage::v, {2}));
    const ModelRun moved = run(model, {{}, {}, {patch}});
    const Trace& was = own.layers[1].trace;
    const Tensor& w_o = own.layers[1].inputs->params[Param::w_o];
    CHECK(moved.layers[1].trace[Stage::weights] == was[Stage::weights]);
    const Tensor& v = was[Stage::v];
    const Tensor& new_v = other.layers[1].trace[Stage::v];
    for (Index t = 0; t < 5; ++t)
        for (Index c = 0; c < 4; ++c) {
            double by = 0.0;
            for (Index d = 0; d < v.shape().d; ++d)
                by += (double{new_v(0, 0, 2, d)} - v(0, 0, 2, d)) * w_o(0, 0, d, c);
            by *= was[Stage::weights](0, 0, t, 2);
            const double moved_by = double{moved.layers[1].trace[Stage::output](0, 0, t, c)} -
                                    was[Stage::output](0, 0, t, c);
            CHECK(moved_by == doctest::Approx(by).epsilon(1e-3).scale(1e-3));
            CHECK((t >= 2) == (by != 0.0));  // causal: nobody before it sees position 2
        }
}

constexpr Index kLast = 4;  // row of the logits

TEST_CASE("effects: 0 before the first change, KL by hand, the next token's probabilities") {
    const Model& model = model_of("gpt2");
    const ModelRun before = run(model);
    const RunEffects none = effects_of(before, before, kLast);
    REQUIRE(std::ssize(none.heads) == model.config().layers * model.config().heads);
    CHECK(std::ranges::none_of(none.heads, &HeadEffect::changed));
    REQUIRE(none.next);
    CHECK(none.next->kl == 0.0);

    const ModelRun after = run(model, {{{0, 0}}, {}, {}});
    const RunEffects effects = effects_of(before, after, kLast);
    for (const HeadEffect& effect : effects.heads) CHECK(effect.changed() == (effect.at.layer > 0));
    const HeadEffect& one = effects.heads.back();
    const auto a = before.layers.back().trace[Stage::weights].matrix(0, one.at.head);
    const auto b = after.layers.back().trace[Stage::weights].matrix(0, one.at.head);
    double kl = 0.0, most = 0.0;
    for (Index i = 0; i < 5; ++i)
        for (Index j = 0; j <= i; ++j) {
            kl += double{a(i, j)} * std::log(double{a(i, j)} / b(i, j));
            most = std::max(most, std::abs(double{a(i, j)} - b(i, j)));
        }
    CHECK(one.finite == 5);
    CHECK(one.mean_kl() == doctest::Approx(kl / 5.0).epsilon(1e-6));
    CHECK(one.largest == doctest::Approx(most));
    REQUIRE(effects.next);
    CHECK(effects.next->kl > 0.0);
    CHECK(effects.next->q_before != effects.next->p_before);
    CHECK(effects.next->q_after >= effects.next->q_before);
    const RunEffects vectors = effects_of(before, after, {});
    REQUIRE(vectors.cosine);
    CHECK(*vectors.cosine < 1.0);
}

TEST_CASE("a weight that becomes exactly 0 is infinite, not a number in the mean") {
    ModelRun before, after;
    before.layers.resize(1), after.layers.resize(1);
    before.layers[0].trace[Stage::weights] =
        Tensor({1, 1, 3, 2}, std::vector<float>{0.5F, 0.5F, 1.0F, 0.0F, 0.25F, 0.75F});
    after.layers[0].trace[Stage::weights] =
        Tensor({1, 1, 3, 2}, std::vector<float>{1.0F, 0.0F, 1.0F, 0.0F, NAN, 0.5F});
    const HeadEffect effect = effects_of(before, after, kLast).heads.at(0);
    CHECK(effect.infinite == 1);
    CHECK(effect.finite == 1);
    CHECK(effect.undefined == 1);
    CHECK(effect.mean_kl() == 0.0);
    CHECK(effect.largest == 0.5);
    CHECK(effect.changed());
}

TEST_CASE("an intervention that cannot be is refused by its layer, head, query or weight") {
    const Model& model = model_of("gpt2");
    CHECK(refused(model, {{{7, 0}}, {}, {}}) ==
          "there is no layer 7: the model has 2, counted from 0");
    CHECK(refused(model, {{{0, 3}}, {}, {}}) == "layer 0 has no head 3: it has 3, counted from 0");
    const auto row = [&](Index query, std::vector<double> weights) {
        return refused(model, {{}, {{{0, 1}, query, std::move(weights)}}, {}});
    };
    CHECK(row(5, {1, 0, 0, 0, 0}) == "there is no query 5; expected 0 to 4");
    CHECK(row(4, {1, 0}) ==
          "the row of L0 H1 query 4 is 2 long; expected 5, a weight for each token of the text");
    CHECK(row(4, {1.5, -0.5, 0, 0, 0}) ==
          "the row of L0 H1 query 4 has the weight -0.5 at key 1; expected a finite number, at "
          "least 0");
    CHECK(row(4, {NAN, 1, 0, 0, 0}) ==
          "the row of L0 H1 query 4 has the weight nan at key 0; expected a finite number, at "
          "least 0");
    CHECK(row(4, {0.5, 0.25, 0, 0, 0}) == "the row of L0 H1 query 4 sums to 0.75; expected 1");
    CHECK(
        row(1, {0.5, 0, 0.5, 0, 0}) ==
        "the row of L0 H1 query 1 has the weight 0.5 at key 2, which the mask forbids; expected 0");
    const RowIntervention valid{{0, 1}, 1, {0.5, 0.5, 0, 0, 0}};
    CHECK(refused(model, {{}, {valid, valid}, {}}) == "the row of L0 H1 query 1 is given twice");
    const ModelRun other = run(model, {}, kOther);
    CHECK(patch_from(other, {0, 9}, Stage::q, {0}).error().text() ==
          "layer 0 has no head 9: it has 3, counted from 0");
    CHECK(patch_from(other, {0, 0}, Stage::q, {5}).error().text() ==
          "there is no position 5: the text to patch from has 5 tokens");
    auto patch = patch_from(other, {0, 0}, Stage::q, {4}).value();
    patch.positions = {9};
    CHECK(refused(model, {{}, {}, {patch}}) ==
          "there is no position 9: the text has 5 tokens, counted from 0");
    patch.vectors = Tensor({1, 1, 1, 3});
    CHECK(refused(model, {{}, {}, {patch}}) == "the patch of q has 1 × 3 numbers; expected 1 × 8");
    CHECK(refused(model_of("llama"), {{}, {}, {{{0, 9}, Stage::k, {}, {}}}})
              .starts_with("layer 0 has no key head 9: it has "));
}
