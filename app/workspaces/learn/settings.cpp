#include "app/workspaces/learn/settings.h"

#include <cmath>
#include <mutex>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/common/assets.h"
#include "app/common/format.h"
#include "core/check.h"
#include "core/dimensions.h"
#include "core/io/json.h"
#include "core/text.h"
#include "core/train/field_json.h"
#include "core/train/language.h"
#include "core/train/own_data.h"
#include "core/train/task_table.h"

namespace attn::view {
namespace {

using Kind = LearnFieldKind;

constexpr auto kLearnFields = std::to_array<LearnFieldInfo>({
    {"task", "task", Kind::names, "The task to learn; a known attention pattern solves each task"},
    {"text", "text", Kind::text, "For the task “text”: the words to learn, in order"},
    {"tokens", "tokens T", Kind::whole, "Length of a sequence", true},
    {"symbols", "symbols", Kind::whole, "Size of the alphabet, for tasks that have one", true},
    {"layers", "layers", Kind::whole, "Attention layers, each with a residual connection"},
    {"heads", "heads", Kind::whole, "Heads in each layer"},
    {"d_model", "d_model", Kind::whole, "Width of the residual stream", true},
    {"d_k", "d_k", Kind::whole, "Width of queries and keys in each head", true},
    {"d_v", "d_v", Kind::whole, "Width of values in each head; 0: the same as d_k"},
    {"scaling", "scaling", Kind::flag, "Divides scores by √d_k"},
    {"temperature", "temperature τ", Kind::real,
     "Divides scores by τ as well: τ = √d_k has the effect of scaling"},
    {"initial_spread", "initial W_Q, W_K ×", Kind::real,
     "g: initial weights from N(0, g²/rows), so initial scores have g² times the standard "
     "deviation"},
    {"positions", "positions", Kind::names, "Positional encoding"},
    {"mlp", "MLP", Kind::flag, "A GELU layer of width 4·d_model after each attention layer"},
    {"norm", "norm", Kind::names, "pre: LayerNorm before attention, MLP and read-out"},
    {"optimiser", "optimiser", Kind::names, "AdamW, or SGD with momentum"},
    {"learning_rate", "learning rate", Kind::real,
     "Learning rate of every matrix, before the warm-up and the schedule scale it"},
    {"warmup", "warm-up", Kind::whole, "Steps in which the learning rate rises linearly"},
    {"weight_decay", "weight decay", Kind::real,
     "AdamW: each step subtracts lr · decay · W from each matrix W; SGD adds decay · W to its "
     "gradient"},
    {"clip", "clip", Kind::real, "Maximum norm of the whole gradient; 0: no limit"},
    {"batch", "batch", Kind::whole, "Sequences per step", true},
    {"steps", "steps", Kind::whole, "Number of steps to train"},
    {"seed", "seed", Kind::seed,
     "Seed of the initial weights and sequences; the same seed gives the same run"},
});

constexpr std::string_view kInduction =
    R"({"task":"induction","tokens":32,"symbols":16,"layers":2,"heads":2,"d_model":64,"d_k":64,)"
    R"("batch":16,"learning_rate":0.003,"warmup":50,"steps":400})";

constexpr std::string_view kLines =
    "the dog barked at the cat because it was hungry | dog\n"
    "the dog barked at the cat because it was loud | dog\n"
    "the cat ran from the dog because it was scared | cat\n"
    "the cat hid from the dog because it was small | cat\n"
    "the girl ate the apple because it was sweet | apple\n"
    "the girl ate the apple because it was ripe | apple\n"
    "the boy read the book because it was funny | book\n"
    "the boy read the book because it was short | book\n"
    "the girl read the book because it was new | book\n"
    "the boy ate the apple because it was red | apple\n"
    "the dog ran from the girl because it was scared | dog\n"
    "the cat barked at the boy because it was hungry | cat";

constexpr auto kLearnExperiments = std::to_array<LearnExperiment>({
    {"recall", "With and without scaling: recall of key–value pairs, d_k 64",
     R"({"task":"recall","tokens":24,"symbols":16,"layers":2,"heads":1,"d_model":64,"d_k":64,)"
     R"("steps":600})",
     "scaling", "false"},
    {"pronouns", "With and without scaling: the noun that each “it” stands for", R"({"steps":500})",
     "scaling", "false", "pronouns"},
    {"translate", "With and without scaling: English to French", R"({"steps":500})", "scaling",
     "false", "translate", 2},
    {"stories", "With and without scaling: little stories, and who gets the ball", "{}", "scaling",
     "false", "stories"},
    {"lines", "Your own sentences, and their influence on an answer", "", "", "", "", 0, kLines},
    {"induction", "With and without scaling: induction, d_k 64", kInduction, "scaling", "false"},
    {"born_alike", "Without scaling; the same with the initial score variance that scaling gives",
     R"({"task":"induction","tokens":32,"symbols":16,"layers":2,"heads":2,"d_model":64,"d_k":64,)"
     R"("batch":16,"learning_rate":0.003,"warmup":50,"steps":400,"scaling":false})",
     "initial_spread", "0.35355339059327379"},
    {"born_wide", "With scaling; the same with the initial score variance without scaling",
     kInduction, "initial_spread", "2.8284271247461903"},
    {"narrow",
     "Narrow heads, with and without scaling: saturated when solved, not at the start (reverse, "
     "d_k 4)",
     R"({"task":"reverse","tokens":16,"symbols":16,"layers":1,"heads":1,"d_model":64,"d_k":4,)"
     R"("learning_rate":0.01,"steps":400})",
     "scaling", "false"},
    {"layers", "One layer and two: induction needs a head in an earlier layer", kInduction,
     "layers", "1"},
    {"positions", "With and without positions: the reverse task",
     R"({"task":"reverse","tokens":16,"symbols":16,"layers":1,"heads":1,"d_model":64,"d_k":32,)"
     R"("learning_rate":0.01,"steps":400})",
     "positions", "\"none\""},
    {"sort", "One head and four: sorting",
     R"({"task":"sort","tokens":16,"symbols":16,"layers":1,"heads":1,"d_model":64,"d_k":16,)"
     R"("mlp":true,"steps":600})",
     "heads", "4"},
    {"grammar", "Words of a small grammar: with and without scaling",
     R"({"task":"grammar","tokens":24,"layers":2,"heads":2,"d_model":64,"d_k":64,"mlp":true,)"
     R"("steps":600})",
     "scaling", "false"},
    {"seeds", "The same model from two seeds: the effect of chance", kInduction, "seed", "2"},
});

constexpr Index kHeldOutTexts = 128;  // that an evaluation reads: as long as some steps

/// The recipe of a model that comes with the program, without its required figures: they name a layer, which another setting may
/// not have.
Result<train::Spec> recipe_of(std::string_view model, std::string_view changes) {
    for (const std::filesystem::path& folder : asset_folders("models")) {
        const std::filesystem::path path = folder / fmt::format("{}.json", model);
        std::error_code none;
        if (!std::filesystem::exists(path, none)) continue;
        auto recipe = read_json_file(path);
        if (!recipe) return tl::unexpected(std::move(recipe.error()));
        if (recipe->is_object() && recipe->contains("language"))
            (*recipe)["language"]["require"] = {{"texts", kHeldOutTexts}};
        recipe->update(nlohmann::json::parse(changes));
        return train::spec_from_json(recipe->dump(), path.filename().string());
    }
    return bad_input(fmt::format("the program's files have no models/{}.json", model));
}

Result<LearnControls> read_experiment(const LearnExperiment& experiment) {
    auto a = !experiment.lines.empty()  ? train::own_spec(experiment.lines)
             : experiment.model.empty() ? train::spec_from_json(experiment.spec, experiment.key)
                                        : recipe_of(experiment.model, experiment.spec);
    if (!a) return tl::unexpected(std::move(a.error()));
    if (experiment.differs.empty()) return LearnControls{{*a, *a, ""}};
    auto b = with_learn_value(*a, experiment.differs, experiment.value);
    if (!b) return tl::unexpected(std::move(b.error()));
    return LearnControls{{*std::move(a), *std::move(b), std::string(experiment.differs)}};
}

/// A value of `field` that is worth comparing with A's.
std::string other_learn_value(const train::Spec& a, std::string_view field) {
    if (field == "scaling") return a.scaling ? "false" : "true";
    if (field == "mlp") return a.mlp ? "false" : "true";
    if (field == "norm") return a.norm == train::NormPlace::pre ? "\"none\"" : "\"pre\"";
    if (field == "optimiser")
        return a.optimiser == train::Optimiser::adamw ? "\"sgd\"" : "\"adamw\"";
    if (field == "positions")
        return a.positions == train::Positions::none ? "\"learned\"" : "\"none\"";
    const auto d_k = static_cast<double>(a.d_k);
    if (field == "temperature")
        return a.temperature != 1.0 ? "1" : a.d_k > 1 ? fmt::format("{}", std::sqrt(d_k)) : "2";
    if (field == "initial_spread")  // initial scores as wide as with the other choice of scaling
        return a.initial_spread != 1.0 ? "1"
               : a.d_k > 1             ? fmt::format("{}", std::pow(d_k, a.scaling ? 0.25 : -0.25))
                                       : "0.5";
    if (field == "d_k") return a.d_k > 16 ? "8" : "128";
    if (field == "heads") return a.heads > 1 ? "1" : "4";
    if (field == "layers") return a.layers > 1 ? "1" : "2";
    if (field == "d_model") return a.d_model > 32 ? "32" : "64";
    if (field == "symbols") return fmt::format("{}", a.symbols > 16 ? 16 : 32);
    if (field == "learning_rate") return a.learning_rate > 1e-3 ? "0.0003" : "0.003";
    if (field == "warmup") return a.warmup > 0 ? "0" : "100";
    if (field == "weight_decay") return a.weight_decay > 0.0 ? "0" : "0.1";
    return fmt::format("{}", a.seed + 1);
}

}  // namespace

std::span<const LearnFieldInfo> learn_fields() { return kLearnFields; }

const LearnFieldInfo* find_learn_field(std::string_view key) {
    const auto found = std::ranges::find(kLearnFields, key, &LearnFieldInfo::key);
    return found == kLearnFields.end() ? nullptr : &*found;
}

std::vector<std::string> learn_names(std::string_view field) {
    if (field == "positions") return {"learned", "sinusoidal", "rotary", "none"};
    if (field == "norm") return {"pre", "none"};
    if (field == "optimiser") return {"adamw", "sgd"};
    std::vector<std::string> names;
    if (field == "task")
        for (const train::TaskInfo& task : train::task_table())
            if (!task.takes_language) names.emplace_back(task.key);
    return names;
}

std::string learn_value(const train::Spec& spec, std::string_view field) {
    return train::field_to_json(spec, field);
}

Result<train::Spec> with_learn_value(const train::Spec& spec, std::string_view field,
                                     std::string_view value) {
    if (find_learn_field(field) == nullptr)
        return bad_input(fmt::format("a training has no setting “{}”", shortened(field)));
    return train::with_field(spec, field, value, "the settings");
}

Result<LearnControls> with_difference(const train::Spec& a, std::string_view differs) {
    LearnControls controls{{a, a, std::string(differs)}};
    if (differs.empty()) return controls;
    auto b = with_learn_value(a, differs, other_learn_value(a, differs));
    if (!b) return tl::unexpected(b.error());
    controls.b = *b;
    return controls;
}

std::string learn_run_text(const LearnControls& controls, std::size_t run) {
    const LearnFieldInfo* field = find_learn_field(controls.differs);
    if (field == nullptr) return {};
    std::string value = learn_value(controls.of(run), field->key);
    if (field->kind == LearnFieldKind::real) value = significant(std::stod(value), 3);
    std::erase(value, '"');
    if (field->key == "scaling") return value == "true" ? "with scaling" : "without scaling";
    if (field->kind == LearnFieldKind::flag) value = value == "true" ? "on" : "off";
    return fmt::format("{} = {}", field->label, value);
}

std::span<const LearnExperiment> learn_experiments() { return kLearnExperiments; }

const Result<LearnControls>& controls_of(const LearnExperiment& experiment) {
    static std::array<std::once_flag, kLearnExperiments.size()> once;
    // Optional: LearnControls by default are those of the first experiment.
    static std::array<std::optional<Result<LearnControls>>, kLearnExperiments.size()> read;
    const auto n = static_cast<std::size_t>(&experiment - kLearnExperiments.data());
    ATTN_CHECK(n < read.size(), "the experiment is one of learn_experiments()");
    std::call_once(once[n], [&] { read[n] = read_experiment(experiment); });
    return *read[n];
}

train::Spec first_learn_spec(std::size_t run) {
    static const LearnControls first = controls_of(kLearnExperiments.front()).value();
    return first.of(run);
}

}  // namespace attn::view
