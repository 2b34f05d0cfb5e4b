// Every matrix of every golden model around attention, and every number of it from its operands.
#include "core/models/model_stages.h"
#include "core/models/family.h"

#include <doctest/doctest.h>

#include <cmath>
#include <filesystem>
#include <set>

#include <fmt/format.h>

#include "core/backend.h"
#include "core/io/arrays/array_file.h"
#include "core/models/groups.h"
#include "core/models/lens.h"
#include "core/models/weights.h"
#include "core/spec_arrays.h"
#include "tests/support/results.h"
#include "tests/support/small_models.h"

using namespace attn;

namespace {

std::string ids_text(const std::filesystem::path& folder, const char* name, std::size_t first) {
    const auto file = must(open_arrays(folder / "expected.safetensors"));
    const auto array = must(file->read(name));
    std::string text;
    const auto add = [&](const auto& ids) {
        for (std::size_t n = first; n < ids.size(); ++n)
            text += fmt::format(" {}", static_cast<Index>(ids[n]));
    };
    if (const auto* floats = std::get_if<std::vector<float>>(&array.values))
        add(*floats);
    else
        add(std::get<std::vector<double>>(array.values));
    return text;
}

/// What a golden model of one or two stacks reads, a stack after the other.
std::vector<Reading> readings_of(const Model& model, const std::filesystem::path& folder) {
    const std::string image = (folder / "image.png").string();
    if (model.config().image) return {{image}};
    const std::string text =
        model.config().sound ? (folder / "sound.wav").string() : ids_text(folder, "ids", 0);
    const auto groups = groups_of(model);
    if (groups.empty()) return {{text}};
    if (groups.front() == "text") return {{text, image, "text"}, {text, image, "image"}};
    return {{text, ids_text(folder, "written", 1), "encoder"},
            {text, ids_text(folder, "written", 1), "decoder"}};
}

/// A model's run of a reading, and the stack that ran.
struct Case {
    std::string name;
    const Model& model;
    const ModelRun& run;
};
template <class Check>
void for_each_golden(const Check& check) {
    for (const auto& entry :
         std::filesystem::directory_iterator(std::filesystem::path(ATTN_TEST_DATA) / "models")) {
        const auto model = must(Model::open(entry.path()));
        if (model.config().family->gated_heads) continue;  // it has no stages
        for (const Reading& reading : readings_of(model, entry.path())) {
            const auto run =
                must(read_group(model, reading, *find_backend("staged"), model_stage_set()));
            const std::string name = entry.path().filename().string() + " " + reading.group;
            CAPTURE(name);
            check(Case{name, stack_of(model, reading.group), run});
        }
    }
}

double largest_of(const Tensor& tensor) {
    double largest = 0.0;
    for (const float value : tensor.values()) largest = std::max(largest, std::abs(double{value}));
    return largest;
}

/// The number that the terms give, by the definition of the rule.
double sum_up(const CellTerms& terms) {
    switch (terms.rule) {
        case StageRule::given:
            return terms.value;
        case StageRule::sum:
        case StageRule::heads:
        case StageRule::experts: {
            double sum = 0.0;
            for (const auto& each : terms.added) sum += each.factor * each.value;
            return sum;
        }
        case StageRule::norm: {
            const auto& n = *terms.norm;
            const double normal = (n.x - n.mean) / std::sqrt(n.variance + n.epsilon) * n.scale +
                                  n.shift.value_or(0.0);
            return normal * terms.column_scale.value_or(1.0);
        }
        case StageRule::scale:
            return terms.scaled * *terms.column_scale;
        case StageRule::product: {
            const auto& p = *terms.product;
            double sum = 0.0;
            for (std::size_t k = 0; k < p.left.size(); ++k) sum += p.left[k] * p.right[k];
            sum = p.factor * sum + p.bias;
            return p.cap ? *p.cap * std::tanh(sum / *p.cap) : sum;
        }
        case StageRule::activation:
            return terms.activation->argument * terms.activation->slope *
                   terms.activation->times.value_or(1.0);
        case StageRule::softmax:
            return terms.computed == 0.0 ? 0.0
                                         : std::exp(terms.softmax->logit - terms.softmax->largest) /
                                               terms.softmax->sum;
    }
    return NAN;
}

}  // namespace

TEST_CASE("the stages of every layer begin and end with the residual that the model computed") {
    std::size_t stacks = 0;
    for_each_golden([&](const Case& each) {
        ++stacks;
        const auto layers = std::ssize(each.run.layers);
        for (Index layer = 0; layer < layers; ++layer) {
            CAPTURE(layer);
            const auto stages = must(model_stages(each.model, each.run, layer, 1));
            CHECK(stages[block_output(each.model.config())] == each.run.layers[layer].residual);
            CHECK(stages[ModelStage::attention] == each.run.layers[layer].trace[Stage::output]);
            if (each.model.config().reads_text()) {
                const ModelStage last = stages.has(ModelStage::entry_map) ? ModelStage::entry_map
                                        : stages.has(ModelStage::entry_norm)
                                            ? ModelStage::entry_norm
                                        : stages.has(ModelStage::entry) ? ModelStage::entry
                                                                        : ModelStage::embedding;
                CHECK(stages[last] == each.run.embedded);
            }
            std::set<ModelStage> seen;
            for (const ModelStage stage : stages.order) {
                CHECK(seen.insert(stage).second);
                CHECK(stages.has(stage));
                CHECK(find_model_stage(info(stage).key) == stage);
            }
        }
    });
    CHECK(stacks >= 34);
}

TEST_CASE("the logits of any row are those of the run, and their softmax sums to 1") {
    for_each_golden([](const Case& each) {
        if (!each.model.gives_logits()) return;
        for (const Index row : {Index{0}, Index{2}, std::ssize(each.run.tokens) - 1}) {
            const auto stages =
                must(model_stages(each.model, each.run, each.model.config().layers - 1, row));
            const auto logits = each.run.read_out.matrix(0, 0).row(stages.row);
            const double size = largest_of(each.run.read_out);
            for (std::size_t n = 0; n < logits.size(); ++n)
                CHECK(std::abs(stages[ModelStage::logits].values()[n] - logits[n]) <= 2e-6 * size);
            double sum = 0.0;
            for (const float p : stages[ModelStage::probabilities].values()) sum += p;
            CHECK(sum == doctest::Approx(1.0).epsilon(1e-6));
        }
    });
}

TEST_CASE("every number of every stage is what its terms give") {
    std::set<StageRule> rules;
    std::set<Activation> activations;
    for_each_golden([&](const Case& each) {
        for (Index layer = 0; layer < std::ssize(each.run.layers); ++layer) {
            const auto stages = must(model_stages(each.model, each.run, layer, 1));
            for (const ModelStage stage : stages.order) {
                const Tensor& matrix = stages[stage];
                // sums of float32 in another order: that much of the largest of the matrix
                const double bound = 4e-6 * std::max(largest_of(matrix), 0.05);
                for (const Index row : {Index{0}, matrix.shape().t - 1})
                    for (Index column = 0; column < matrix.shape().d; ++column) {
                        const auto terms =
                            must(terms_of(each.model, each.run, stages, stage, row, column));
                        CAPTURE(info(stage).key);
                        CAPTURE(layer);
                        CAPTURE(row);
                        CAPTURE(column);
                        CHECK(terms.value == matrix(0, 0, row, column));
                        CHECK(std::abs(terms.computed - terms.value) <= bound);
                        CHECK(std::abs(sum_up(terms) - terms.computed) <= 1e-9);
                        rules.insert(terms.rule);
                        if (terms.activation) activations.insert(terms.activation->kind);
                    }
            }
        }
    });
    CHECK(rules.size() == 9);  // every rule was met
    for (const Activation kind : {Activation::relu, Activation::gelu, Activation::gelu_tanh,
                                  Activation::silu, Activation::quick_gelu})
        CHECK(activations.contains(kind));
}

TEST_CASE("a norm's terms are those of its row: by hand") {
    const auto model = must(Model::open(test::golden_model("gpt2")));
    const auto run =
        must(read_group(model, {"7 7 0 49"}, *find_backend("staged"), model_stage_set()));
    const auto stages = must(model_stages(model, run, 1, 3));
    const Tensor& x = run.layers[0].residual;
    double mean = 0.0, variance = 0.0;
    const auto width = static_cast<double>(x.shape().d);
    for (Index c = 0; c < x.shape().d; ++c) mean += x(0, 0, 2, c) / width;
    for (Index c = 0; c < x.shape().d; ++c)
        variance += (x(0, 0, 2, c) - mean) * (x(0, 0, 2, c) - mean) / width;
    const auto terms = must(terms_of(model, run, stages, ModelStage::norm1, 2, 5));
    REQUIRE(terms.norm);
    CHECK(terms.norm->centred);
    CHECK_FALSE(terms.norm->source);  // what enters the layer
    CHECK(terms.norm->mean == doctest::Approx(mean));
    CHECK(terms.norm->variance == doctest::Approx(variance));
    CHECK(terms.norm->x == x(0, 0, 2, 5));
    CHECK(terms.norm->scale == model.weights().blocks[1].attention_norm.scale.values()[5]);
    const auto sum = must(terms_of(model, run, stages, ModelStage::residual1, 2, 5));
    REQUIRE(sum.added.size() == 2);
    CHECK(sum.added[0].value == x(0, 0, 2, 5));
    CHECK(sum.added[1].value == run.layers[1].trace[Stage::output](0, 0, 2, 5));
    const auto heads = must(terms_of(model, run, stages, ModelStage::attention, 2, 5));
    CHECK(std::ssize(heads.added) == model.config().heads + 1);  // and W_O's bias
}

TEST_CASE("the experts that a token takes: their rows and shares give the MLP's output") {
    for (const char* name : {"mixtral", "mixtral~all", "gpt_oss"}) {
        CAPTURE(name);
        const auto model = must(Model::open(test::golden_model(name)));
        const auto run =
            must(read_group(model, {"1 44 20 5"}, *find_backend("staged"), model_stage_set()));
        const auto stages = must(model_stages(model, run, 1, 0));
        const Tensor& routing = stages[ModelStage::routing];
        const Index width = model.config().width, taken = model.config().experts_per_token;
        REQUIRE(stages[ModelStage::expert_out].shape().d == taken * width);
        for (Index row = 0; row < 4; ++row) {
            const std::vector<Index> experts = taken_experts(routing, row);
            REQUIRE(std::ssize(experts) == taken);
            for (std::size_t n = 1; n < experts.size(); ++n)
                CHECK(routing(0, 0, row, experts[n - 1]) >= routing(0, 0, row, experts[n]));
            for (const Index column : {Index{0}, width - 1}) {
                const auto terms =
                    must(terms_of(model, run, stages, ModelStage::mlp_out, row, column));
                REQUIRE(std::ssize(terms.added) == taken);
                for (Index n = 0; n < taken; ++n) {
                    CHECK(terms.added[n].name == fmt::format("expert {}", experts[n]));
                    CHECK(terms.added[n].column == n * width + column);
                    CHECK(terms.added[n].factor == double{routing(0, 0, row, experts[n])});
                }
                CHECK(terms.computed == doctest::Approx(terms.value).epsilon(1e-4));
            }
        }
    }
}

TEST_CASE("a head that is off adds exactly 0 to attention's output") {
    const auto model = must(Model::open(test::golden_model("llama")));
    const auto run =
        must(read_group(model, {"1 44 20 5"}, *find_backend("staged"), model_stage_set(), {},
                        {.off = {{1, 0}}, .rows = {}, .patches = {}}));
    const auto stages = must(model_stages(model, run, 1, 0));
    const auto terms = must(terms_of(model, run, stages, ModelStage::attention, 3, 2));
    CHECK(terms.added[0].value == 0.0);
    CHECK(terms.added[1].value != 0.0);
}

TEST_CASE("the parts' parameters are those of the file") {
    for (const std::string name : {"gpt2", "llama", "mixtral", "bert", "vit", "gpt_neox"}) {
        CAPTURE(name);
        const auto model = must(Model::open(test::golden_model(name)));
        Index sum = part_cost(model, StackPart::entry, 0, 4).parameters +
                    part_cost(model, StackPart::end, 0, 4).parameters;
        for (Index layer = 0; layer < model.config().layers; ++layer)
            for (const StackPart part : {StackPart::attention, StackPart::mlp})
                sum += part_cost(model, part, layer, 4).parameters;
        Index stored = 0;
        const auto file = must(open_arrays(test::golden_model(name) / "model.safetensors"));
        for (const std::string& array : file->names()) {
            // no parameters: counted positions, frequencies of RoPE, a causal mask
            if (array.ends_with("position_ids") || array.ends_with("inv_freq") ||
                array.ends_with(".attn.bias"))
                continue;
            Index count = 1;
            for (const Index extent : must(file->about(array)).extents) count *= extent;
            stored += count;
        }
        CHECK(sum == stored);
    }
}

TEST_CASE("FLOP of a layer's products: by hand") {
    const auto model = must(Model::open(test::golden_model("gpt2")));
    const auto& config = model.config();
    const double d = static_cast<double>(config.width), tokens = 5.0;
    const double mlp = static_cast<double>(model.weights().blocks[0].mlp.up.weight.shape().d);
    CHECK(part_cost(model, StackPart::attention, 0, 5).flop ==
          2.0 * tokens * 4.0 * d * d + 4.0 * tokens * tokens * d);
    CHECK(part_cost(model, StackPart::mlp, 0, 5).flop == 2.0 * tokens * 2.0 * d * mlp);
    CHECK(part_cost(model, StackPart::end, 0, 5).flop ==
          2.0 * tokens * d * static_cast<double>(model.weights().embedding.shape().t));
}

TEST_CASE("a layer, a row, a cell that is not there, and a run that kept too little") {
    const auto model = must(Model::open(test::golden_model("gpt2")));
    const auto run = must(read_group(model, {"7 7 0"}, *find_backend("staged"), model_stage_set()));
    CHECK(model_stages(model, run, 9, 0).error().text().find("there is no layer 9") == 0);
    CHECK(model_stages(model, run, 0, 3).error().text().find("there is no position 3") == 0);
    const auto stages = must(model_stages(model, run, 0, 0));
    CHECK_FALSE(terms_of(model, run, stages, ModelStage::norm1, 3, 0));
    CHECK_FALSE(terms_of(model, run, stages, ModelStage::mlp_gate, 0, 0));
    const auto other = must(read_group(model, {"7 7 0"}, *find_backend("staged"), StageSet{}));
    CHECK_FALSE(model_stages(model, other, 0, 0));
}
