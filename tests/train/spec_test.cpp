// Specifications as JSON, and what is refused.

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "core/train/spec.h"
#include "core/train/task_table.h"
#include "tests/support/results.h"

using namespace attn;
using namespace attn::train;

namespace {

std::string fault_of(std::string_view text) { return sentence_in(spec_from_json(text, "s.json")); }

}  // namespace

TEST_CASE("a specification comes back from its JSON") {
    Spec spec;
    spec.task = Task::recall;
    spec.positions = Positions::rotary;
    spec.norm = NormPlace::none;
    spec.optimiser = Optimiser::sgd;
    spec.learning_rate = 0.1;
    spec.d_k = 6;
    spec.mlp = true;
    spec.scaling = false;
    spec.temperature = 2.5;
    spec.initial_spread = 0.5;
    spec.seed = 0xFFFF'FFFF'FFFF'FFFFU;
    spec.tokens = 48;
    spec.symbols = 20;
    spec.layers = 3;
    spec.heads = 2;
    spec.d_model = 96;
    spec.d_v = 5;
    spec.warmup = 7;
    spec.weight_decay = 0.5;
    spec.clip = 2.0;
    spec.beta1 = 0.5;
    spec.beta2 = 0.75;
    spec.momentum = 0.25;
    spec.batch = 9;
    spec.steps = 77;
    CHECK(spec_from_json(spec_to_json(spec), "s") == spec);
    CHECK(spec_from_json("{}", "s") == Spec{});
    CHECK(spec_from_json(R"({"d_k": 512})", "s")->d_k == 512);
}

TEST_CASE("an error names field, value and what was expected") {
    CHECK(fault_of(R"({"heads": 9})") == "s.json: heads is 9; expected 1 to 8");
    CHECK(fault_of(R"({"d_k": 0})") == "s.json: d_k is 0; expected 1 to 512");
    CHECK(fault_of(R"({"d_k": "x"})") == "s.json: d_k is \"x\"; expected a whole number");
    CHECK(fault_of(R"({"d_k": 4.5})") == "s.json: d_k is 4.5; expected a whole number");
    CHECK(fault_of(R"({"mlp": 1})") == "s.json: mlp is 1; expected true or false");
    CHECK(fault_of(R"({"positions": "alibi"})") ==
          "s.json: positions is \"alibi\"; expected one of learned, sinusoidal, rotary, none");
    CHECK(fault_of(R"({"task": "dance"})")
              .starts_with("s.json: task is \"dance\"; expected one of copy, "));
    CHECK(fault_of(R"({"dk": 4})")
              .starts_with("s.json: there is no field 'dk'; expected task, tokens"));
    CHECK(fault_of(R"({"learning_rate": 0})") ==
          "s.json: learning_rate is 0; expected more than 0");
    CHECK(fault_of(R"({"seed": -1})").starts_with("s.json: seed is -1; expected a whole number"));
    CHECK(fault_of("[]") == "s.json is []; expected an object");
    CHECK(fault_of(R"({"d_k": 3, "positions": "rotary"})") ==
          "s.json: d_k is 3; expected an even number with rotary positions");
    CHECK(fault_of(R"({"task": "copy", "tokens": 7})") ==
          "s.json: tokens is 7; expected an even number for copy");
    CHECK(fault_of(R"({"symbols": 31})") ==
          "s.json: symbols is 31; expected at least 32, because induction uses tokens/2 different "
          "symbols");
    CHECK(fault_of(R"({"task": "text", "text": "too few"})") ==
          "s.json: text has 2 words; expected more than tokens, 64");
    CHECK(fault_of(R"({"layers": 4, "heads": 8, "d_model": 512, "d_k": 512})")
              .ends_with("weights; expected at most 16777216"));
}

TEST_CASE("every number has its limits") {
    const auto written = nlohmann::json::parse(spec_to_json(Spec{}));
    for (const auto& [name, value] : written.items()) {
        if (!value.is_number() || name == "seed") continue;
        CAPTURE(name);
        const Limits& limit = limits_of(name);
        CHECK(limit.least < limit.most);
        CHECK(value.get<double>() >= limit.least);
        CHECK(value.get<double>() <= limit.most);
        auto wrong = written;
        wrong[name] = value.is_number_integer() ? nlohmann::json(static_cast<Index>(limit.most) + 1)
                                                : nlohmann::json(limit.most * 2.0);
        CHECK(fault_of(wrong.dump()).starts_with("s.json: " + name + " is "));
    }
}
