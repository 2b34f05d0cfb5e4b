// A trained model in Hugging Face's files: the engine, which reads them by their own formulas, gives the trainer's logits.

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/backend.h"
#include "core/dimensions.h"
#include "core/io/arrays/array_file.h"
#include "core/io/json.h"
#include "core/models/family.h"
#include "core/models/model.h"
#include "core/train/export.h"
#include "core/train/pass.h"
#include "tests/io/scratch.h"
#include "tests/support/results.h"

using namespace attn;
using namespace attn::train;

namespace {

const char* const kLanguage = R"({"text": "a rose is red", "end": "red",
  "classes": {"thing": ["rose", "tree", "star"], "colour": ["red", "old", "big"],
              "text": ["a {thing} is {colour}", "that {thing} of {other:thing!thing} is/{thing} {colour}"]}})";

Spec small_spec(std::string_view task) {
    return must(spec_from_json(
        fmt::format(
            R"({{"task": "{}", "tokens": 8, "symbols": 6, "layers": 2, "heads": 2, "d_model": 12,
                         "d_k": 6, "mlp": true, "batch": 8, "warmup": 3, "learning_rate": 0.02,
                         "language": {}}})",
            task, kLanguage),
        "spec"));
}

Moment trained(const Spec& spec, const Switches* switches = nullptr) {
    Trainer trainer = must(Trainer::make(spec));
    for (Index n = 0; n < 8; ++n) REQUIRE(trainer.step());
    State state = *trainer.checkpoint();
    if (switches) state.switches = *switches;
    return std::make_shared<const State>(std::move(state));
}

/// Largest difference of the engine's logits from the trainer's over some texts, in parts of the largest logit.
double worst_difference(const std::filesystem::path& folder, const Spec& spec,
                        const State& moment) {
    const Model model = must(Model::open(folder));
    CHECK(model.notes().empty());
    const Sequences sequences(spec);
    Pass pass(spec, moment);
    double worst = 0.0;
    for (std::uint64_t n = 0; n < 6; ++n) {
        const Example example = sequences.fixed(n);
        std::vector<std::string> spoken;
        for (const Index token : example.tokens) spoken.push_back(sequences.vocabulary()[token]);
        const auto tokens = must(model.tokens_of(fmt::format("{}", fmt::join(spoken, " "))));
        REQUIRE(tokens.size() == example.tokens.size());
        for (std::size_t p = 0; p < tokens.size(); ++p) CHECK(tokens[p].id == example.tokens[p]);
        pass.read(example);
        const MatrixView<const float> expected = pass.logits();
        const ModelRun run = must(model.run(tokens, *find_backend("staged")));
        REQUIRE(run.read_out.shape() == Shape{1, 1, expected.rows, expected.columns});
        double largest = 0.0;
        for (Index i = 0; i < expected.rows; ++i)
            for (const float logit : expected.row(i))
                largest = std::max(largest, std::abs(static_cast<double>(logit)));
        for (Index i = 0; i < expected.rows; ++i)
            for (Index j = 0; j < expected.columns; ++j)
                worst = std::max(
                    worst,
                    std::abs(double{run.read_out(0, 0, i, j)} - expected.row(i)[j]) / largest);
    }
    return worst;
}

}  // namespace

TEST_CASE_FIXTURE(OnDisk,
                  "an export gives the trainer's logits, causal or not, whatever its sizes") {
    const auto check = [&](const Spec& spec, const Switches* switches = nullptr) {
        REQUIRE(train::check(spec));
        const Moment moment = trained(spec, switches);
        const auto folder = scratch / fmt::format("m{}", scratch.files());
        REQUIRE(export_hf(folder, spec, *moment));
        CHECK(worst_difference(folder, spec, *moment) < 1e-5);
    };
    for (const char* task : {"sentences", "marked", "induction", "reverse", "majority"}) {
        CAPTURE(task);
        check(small_spec(task));
        Spec narrow = small_spec(task);  // heads narrower than the classes have them
        narrow.d_k = 2;
        narrow.d_v = 3;
        narrow.scaling = false;
        narrow.temperature = 1.7;
        check(narrow);
        Spec plain = small_spec(task);
        plain.mlp = false;
        plain.positions = train::Positions::sinusoidal;
        check(plain);
        plain.positions = train::Positions::none;
        const Switches switches{false, {false, true, true, false}};
        check(plain, &switches);
    }
}

TEST_CASE_FIXTURE(OnDisk, "an export is a model's folder that says what it is") {
    const Spec causal = small_spec("sentences"), both = small_spec("marked");
    REQUIRE(export_hf(scratch / "a", causal, *trained(causal)));
    REQUIRE(export_hf(scratch / "b", both, *trained(both)));
    const auto a = must(read_json_file(scratch / "a" / "config.json"));
    CHECK(a["architectures"][0] == "GPT2LMHeadModel");
    CHECK(a["tie_word_embeddings"] == false);
    CHECK(a["eos_token_id"] == 6);  // "red" behind [?] a rose tree star is
    const auto b = must(read_json_file(scratch / "b" / "config.json"));
    CHECK(b["architectures"][0] == "MegatronBertForTokenClassification");
    CHECK(b["id2label"]["0"] == "[?]");
    CHECK(b["id2label"].size() == b["vocab_size"]);
    const auto tokenizer = must(read_json_file(scratch / "b" / "tokenizer_config.json"));
    CHECK(tokenizer["tokenizer_class"] == "PreTrainedTokenizerFast");
    const Model model = must(Model::open(scratch / "b"));
    CHECK(model.config().default_text == "a rose is red");
    CHECK(model.gives_logits());
    // Lower case, unknown words as they were typed.
    const auto tokens = must(model.tokens_of("A zebra IS red"));
    CHECK(tokens[0].id == 1);
    CHECK(tokens[1] == ModelToken{0, "zebra"});
    CHECK(model.outside_vocabulary(tokens) == std::vector<std::string>{"zebra"});
    CHECK(model.text_of(tokens[3].id) == " red");
    const auto array = must(open_arrays(scratch / "a" / "model.safetensors"));
    CHECK(must(array->read("transformer.h.0.attn.c_attn.bias")).extents == std::vector<Index>{36});
}

TEST_CASE_FIXTURE(OnDisk, "in float16 an export has the rounded weights") {
    const Spec spec = small_spec("sentences");
    const Moment moment = trained(spec);
    REQUIRE(export_hf(scratch / "half", spec, *moment, StoredFloat::float16));
    CHECK(worst_difference(scratch / "half", spec, rounded_to_half(*moment)) < 1e-5);
    CHECK(worst_difference(scratch / "half", spec, *moment) > 1e-5);
}

TEST_CASE_FIXTURE(OnDisk, "what the classes cannot compute is refused by its field") {
    const auto fault = [&](auto change) {
        Spec spec = small_spec("sentences");
        change(spec);
        const Moment moment = trained(spec);
        return sentence_in(export_hf(scratch / "none", spec, *moment));
    };
    CHECK(fault([](Spec& spec) { spec.positions = train::Positions::rotary; }) ==
          "positions is rotary; expected learned, sinusoidal or none, as Hugging Face's classes "
          "have it");
    CHECK(contains(fault([](Spec& spec) { spec.norm = NormPlace::none; }),
                   "norm is none; expected pre"));
    CHECK(contains(fault([](Spec& spec) { spec.d_k = 7; }),
                   "d_k is 7; expected at most d_model / heads, 6"));
    CHECK(contains(fault([](Spec& spec) { spec.d_v = 8; }), "d_v is 8; expected at most"));
    CHECK(contains(fault([](Spec& spec) { spec.heads = 5; }),
                   "heads is 5; expected a divisor of d_model"));
    CHECK(!std::filesystem::exists(scratch / "none"));
}
