// Path patching against runs whose q, k and v are patched, and against sums and norms in double.
#include "core/models/path_patching.h"
#include "core/models/family.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/backend.h"
#include "core/models/block.h"
#include "core/models/ends.h"
#include "core/models/interventions.h"
#include "core/models/layers.h"
#include "core/models/weights.h"
#include "core/spec_arrays.h"
#include "tests/support/results.h"
#include "tests/support/small_models.h"

using namespace attn;

namespace {

const Backend& staged() { return *find_backend("staged"); }

/// A small model over a text, and two tokens of its logits.
struct Sample {
    Model model;
    ModelRun run = read({});
    PathOptions options{Ablation::zero, std::pair<Index, Index>{7, 2}, {}};

    ModelRun read(const Interventions& changes) const {
        std::vector<ModelToken> tokens;
        for (const Index id : {3, 1, 4, 1, 5}) tokens.push_back({id, ""});
        return must(model.run(tokens, staged(), all_stages(), {}, changes));
    }
    static double difference(const ModelRun& of) {
        const auto logits = of.read_out.matrix(0, 0).row(of.read_out.shape().t - 1);
        return double{logits[7]} - logits[2];
    }
    double change_of(const ModelRun& of) const { return difference(of) - difference(run); }
    PathEdges edges() const { return must(path_edges(model, run, staged(), options)); }
    const Tensor& entering(Index layer) const {
        return layer == 0 ? run.embedded : run.layers[layer - 1].residual;
    }
};

Sample sample(const char* family, Ablation by = Ablation::zero) {
    Sample made{must(Model::open(test::golden_model(family)))};
    made.options.ablation = by;
    return made;
}

std::vector<std::vector<double>> rows_of(const Tensor& x) {
    std::vector<std::vector<double>> rows;
    for (Index t = 0; t < x.shape().t; ++t)
        rows.emplace_back(x.matrix(0, 0).row(t).begin(), x.matrix(0, 0).row(t).end());
    return rows;
}

/// The term of a head in the stream, summed in double over its context and its rows of W_O.
Tensor head_output(const Sample& of, HeadPlace at) {
    const ModelConfig& config = of.model.config();
    const Tensor& context = of.run.layers[at.layer].trace[Stage::context];
    const Tensor& w_o = of.model.weights().blocks[at.layer].attention[Param::w_o];
    Tensor made({1, 1, context.shape().t, w_o.shape().d});
    for (Index t = 0; t < made.shape().t; ++t)
        for (Index c = 0; c < made.shape().d; ++c) {
            double sum = 0.0;
            for (Index d = 0; d < context.shape().d; ++d)
                sum += double{context(0, at.head, t, d)} *
                       w_o(0, 0, at.head * context.shape().d + d, c);
            made(0, 0, t, c) = static_cast<float>(config.residual_factor * sum);
        }
    return made;
}

/// The input of an edge's reader: x − y, or x − y + mean y.
Tensor cut_input(const Sample& of, Index layer, const ModelNode& sender) {
    const Tensor sent = sender.kind == NodeKind::embedding ? of.run.embedded
                        : sender.kind == NodeKind::head    ? head_output(of, sender.at)
                                                        : must(sent_by(of.model, of.run, sender));
    Tensor made = of.entering(layer);
    for (Index c = 0; c < made.shape().d; ++c) {
        double mean = 0.0;
        for (Index t = 0; t < made.shape().t; ++t)
            mean += sent(0, 0, t, c) / static_cast<double>(made.shape().t);
        if (of.options.ablation == Ablation::zero) mean = 0.0;
        for (Index t = 0; t < made.shape().t; ++t)
            made(0, 0, t, c) += static_cast<float>(mean - sent(0, 0, t, c));
    }
    return made;
}

/// norm(x) W + b of one head, at every position, in double.
PatchIntervention patch_of(const Sample& of, const Tensor& x, HeadPlace at, Stage part) {
    const ModelConfig& config = of.model.config();
    const BlockWeights& block = of.model.weights().blocks[at.layer];
    constexpr std::pair<Param, Param> kParams[] = {
        {Param::w_q, Param::b_q}, {Param::w_k, Param::b_k}, {Param::w_v, Param::b_v}};
    const auto [weight, bias] = kParams[part == Stage::q ? 0 : part == Stage::k ? 1 : 2];
    const Tensor& w = block.attention[weight];
    const Tensor& b = block.attention[bias];
    const Index width = w.shape().d / (part == Stage::q ? config.heads : config.kv_heads);
    PatchIntervention patch{at, part, {}, Tensor({1, 1, x.shape().t, width})};
    for (Index t = 0; t < x.shape().t; ++t) {
        patch.positions.push_back(t);
        const auto row = x.matrix(0, 0).row(t);
        const auto n = static_cast<double>(row.size());
        double mean = 0.0, squares = 0.0;
        if (config.family->norm == Norm::layer)
            for (const float value : row) mean += value / n;
        for (const float value : row) squares += (value - mean) * (value - mean) / n;
        for (Index c = 0; c < width; ++c) {
            double sum = b.empty() ? 0.0 : b(0, 0, 0, at.head * width + c);
            for (Index i = 0; i < x.shape().d; ++i) {
                const double shift = block.attention_norm.shift.empty()
                                         ? 0.0
                                         : block.attention_norm.shift(0, 0, 0, i);
                sum += ((row[i] - mean) / std::sqrt(squares + config.epsilon) *
                            block.attention_norm.scale(0, 0, 0, i) +
                        shift) *
                       w(0, 0, i, at.head * width + c);
            }
            patch.vectors(0, 0, t, c) = static_cast<float>(sum);
        }
    }
    return patch;
}

/// Of logits whose sums differ in order.
doctest::Approx near(double value) { return doctest::Approx(value).epsilon(1e-3).scale(1e-2); }

const PathEdge& edge(const PathEdges& of, const ModelNode& sender, const ModelNode& receiver) {
    const auto found = std::ranges::find_if(of.edges, [&](const PathEdge& each) {
        return each.sender == sender && each.receiver == receiver;
    });
    REQUIRE(found != of.edges.end());
    return *found;
}

}  // namespace

TEST_CASE("embedding, heads and MLPs sum to the residual stream, but for b_O") {
    for (const char* family : {"gpt2", "llama", "granite"}) {
        CAPTURE(family);
        const Sample of = sample(family);
        const ModelConfig& config = of.model.config();
        auto sum = rows_of(must(sent_by(of.model, of.run, {})));
        for (Index layer = 0; layer < config.layers; ++layer) {
            std::vector<ModelNode> nodes{{NodeKind::mlp, {layer, 0}}};
            for (Index h = 0; h < config.heads; ++h) nodes.push_back({NodeKind::head, {layer, h}});
            for (const ModelNode& node : nodes) {
                const auto sent = rows_of(must(sent_by(of.model, of.run, node)));
                for (std::size_t t = 0; t < sum.size(); ++t)
                    for (std::size_t c = 0; c < sum[t].size(); ++c) sum[t][c] += sent[t][c];
            }
            const Tensor& bias = of.model.weights().blocks[layer].attention[Param::b_o];
            const auto expected = rows_of(of.run.layers[layer].residual);
            for (std::size_t t = 0; t < sum.size(); ++t)
                for (std::size_t c = 0; c < sum[t].size(); ++c) {
                    if (!bias.empty())
                        sum[t][c] += config.residual_factor * bias(0, 0, 0, static_cast<Index>(c));
                    CHECK(sum[t][c] == doctest::Approx(expected[t][c]).epsilon(1e-4).scale(1e-2));
                }
        }
    }
}

TEST_CASE("a cut edge into a head is a run whose q, k and v are those of the changed stream") {
    for (const auto& [family, by] :
         {std::pair{"gpt2", Ablation::zero}, {"gpt2", Ablation::mean}, {"llama", Ablation::zero}}) {
        CAPTURE(family);
        const Sample of = sample(family, by);
        const ModelConfig& config = of.model.config();
        const bool shared = config.kv_heads < config.heads;
        const PathEdges made = of.edges();
        CHECK(made.difference == near(Sample::difference(of.run)));
        CHECK(std::ssize(made.edges) == path_edge_count(config));
        Index checked = 0;
        for (const PathEdge& each : made.edges) {
            if (each.receiver.kind != NodeKind::head) continue;
            ++checked;
            CAPTURE(each.sender.at.layer);
            CAPTURE(each.sender.at.head);
            CAPTURE(each.receiver.at.layer);
            CAPTURE(each.receiver.at.head);
            const Tensor x = cut_input(of, each.receiver.at.layer, each.sender);
            REQUIRE(each.parts);
            Interventions all;
            constexpr Stage kParts[] = {Stage::q, Stage::k, Stage::v};
            for (std::size_t part = 0; part < (shared ? 1 : 3); ++part) {
                const PatchIntervention one = patch_of(of, x, each.receiver.at, kParts[part]);
                all.patches.push_back(one);
                CHECK((*each.parts)[part] == near(of.change_of(of.read({{}, {}, {one}}))));
            }
            if (!shared) CHECK(each.change == near(of.change_of(of.read(all))));
        }
        CHECK(checked == config.heads * (1 + (1 + config.heads + 1)));  // two layers
    }
}

TEST_CASE("heads that share keys and values are cut one at a time") {
    const Sample of = sample("llama");
    const ModelConfig& config = of.model.config();
    REQUIRE(config.kv_heads < config.heads);
    // of the first head of a group the edge changes that head's context alone: its patched keys and values, and the other's own row
    const PathEdges made = of.edges();
    const PathEdge& each = edge(made, {}, {NodeKind::head, {1, 0}});
    const Tensor x = cut_input(of, 1, {});
    Interventions changed;
    for (const Stage part : {Stage::q, Stage::k, Stage::v})
        changed.patches.push_back(patch_of(of, x, {1, 0}, part));
    const ModelRun patched = of.read(changed);
    Tensor attended = of.run.layers[1].trace[Stage::output];
    const Tensor& was = of.run.layers[1].trace[Stage::context];
    const Tensor& is = patched.layers[1].trace[Stage::context];
    const Tensor& w_o = of.model.weights().blocks[1].attention[Param::w_o];
    for (Index t = 0; t < attended.shape().t; ++t)
        for (Index c = 0; c < attended.shape().d; ++c)
            for (Index d = 0; d < was.shape().d; ++d)
                attended(0, 0, t, c) += (is(0, 0, t, d) - was(0, 0, t, d)) * w_o(0, 0, d, c);
    const Tensor out =
        after_block(of.entering(1), attended, of.model.weights().blocks[1], config).x;
    const Tensor logits = read_out_of(of.model, row_of(out, 4));
    CHECK(each.change == near(double{logits(0, 0, 0, 7)} - logits(0, 0, 0, 2) - made.difference));
}

TEST_CASE("a cut edge into an MLP or the logits changes their input alone") {
    for (const Ablation by : {Ablation::zero, Ablation::mean}) {
        const Sample of = sample("gpt2", by);
        const ModelConfig& config = of.model.config();
        const BlockWeights& block = of.model.weights().blocks[1];
        const PathEdges made = of.edges();
        const auto change = [&](const Tensor& x) {
            const Tensor logits = read_out_of(of.model, row_of(x, 4));
            return double{logits(0, 0, 0, 7)} - logits(0, 0, 0, 2) - made.difference;
        };
        const auto mlp_of_sum = [&](Tensor x) {
            add(x, of.run.layers[1].trace[Stage::output]);
            return std::pair{
                x, mlp_of(normalised(x, block.mlp_norm, config.family->norm, config.epsilon),
                          block.mlp, config)};
        };
        for (const ModelNode& sender :
             {ModelNode{}, ModelNode{NodeKind::head, {0, 1}}, ModelNode{NodeKind::mlp, {0, 0}},
              ModelNode{NodeKind::head, {1, 1}}}) {
            const Tensor cut = cut_input(of, 1, sender);
            Tensor x = mlp_of_sum(of.entering(1)).first;
            add(x, mlp_of_sum(cut).second);
            CHECK(edge(made, sender, {NodeKind::mlp, {1, 0}}).change == near(change(x)));
            CHECK(edge(made, sender, {NodeKind::logits, {}}).change ==
                  near(change(cut_input(of, 2, sender))));
        }
    }
}

TEST_CASE("a head that writes nothing has edges of 0, and the edges of one head are those of all") {
    const Sample whole = sample("gpt2");
    ModelWeights weights = whole.model.weights();
    Tensor& w_o = weights.blocks[0].attention[Param::w_o];
    for (Index row = 0; row < w_o.shape().t / whole.model.config().heads; ++row)
        std::ranges::fill(w_o.matrix(0, 0).row(row), 0.0F);
    Sample of{Model(whole.model.config(), std::move(weights), std::nullopt)};
    const PathEdges made = of.edges();
    Index silent = 0, others = 0;
    for (const PathEdge& each : made.edges) {
        if (each.sender != ModelNode{NodeKind::head, {0, 0}}) {
            others += each.change != 0.0 ? 1 : 0;
            continue;
        }
        ++silent;
        CHECK(each.change == 0.0);
        for (const double part : each.parts.value_or(std::array{0.0, 0.0, 0.0})) CHECK(part == 0.0);
    }
    CHECK(silent == of.model.config().heads + 3);  // the heads of layer 1, two MLPs, the logits
    CHECK(others > 10);
    of.options.receiver = HeadPlace{1, 1};
    const PathEdges some = of.edges();
    CHECK(std::ssize(some.edges) == path_edge_count(of.model.config(), HeadPlace{1, 1}));
    for (const PathEdge& each : some.edges) {
        CHECK(each.receiver == ModelNode{NodeKind::head, {1, 1}});
        CHECK(each.change == near(edge(made, each.sender, each.receiver).change));
    }
}

TEST_CASE("path patching is refused where the stream is not a sum, and stops") {
    const Sample of = sample("gpt2");
    const auto fault = [&](const PathOptions& options) {
        return must_fail(path_edges(of.model, of.run, staged(), options)).text();
    };
    CHECK(fault({Ablation::patch}) ==
          "an edge is cut to zero or to the mean; it cannot be patched");
    CHECK(fault({Ablation::zero, {}, HeadPlace{2, 0}}) ==
          "there is no layer 2: the model has 2, counted from 0");
    CHECK(fault({Ablation::zero, std::pair<Index, Index>{0, 99}}) == "token 99 is not one of 50");
    CHECK(must_fail(path_edges(of.model, of.run, staged(), of.options, {stopped(), {}})).kind ==
          ErrorKind::failure);
    const Sample gemma = sample("gemma2");
    CHECK(must_fail(path_edges(gemma.model, gemma.run, staged()))
              .text()
              .starts_with("Gemma 2 normalises the sum of its heads before it is added: path "));
    CHECK(must_fail(sent_by(of.model, of.run, {NodeKind::logits, {}})).text() ==
          "the logits send nothing; expected the embedding, a head or an MLP");
    ModelConfig large = of.model.config();
    large.layers = 12, large.heads = 12;
    // each of 12 heads and the MLP of layer l read 1 + 13 l, an MLP 12 more, the logits 157
    CHECK(path_edge_count(large) == 13 * (12 + 13 * 66) + 144 + 157);
}

TEST_CASE("the largest weight of a row, ties and NaN") {
    ModelRun run;
    ModelLayer layer;
    layer.trace[Stage::weights] = Tensor({1, 3, 2, 2}, {0.5F, 0.5F, 0.25F, 0.75F,  //
                                                        0.5F, 0.5F, 0.5F, 0.5F,    //
                                                        0.5F, 0.5F, NAN, 1.0F});
    run.layers = {layer};
    const auto made = largest_weights(run, 1);
    REQUIRE(made.size() == 3);
    CHECK(made[0].key == 1);
    CHECK(made[0].weight == 0.75);
    CHECK(made[0].ties == 0);
    CHECK(made[1].key == 0);
    CHECK(made[1].ties == 1);
    CHECK(std::isnan(made[2].weight));
    CHECK(largest_weights({}, 0).empty());
}
