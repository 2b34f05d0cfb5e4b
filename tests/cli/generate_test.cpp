// `attnscope generate` and `attnscope lens` on a small model of random weights.
#include <cmath>
#include <fstream>

#include <nlohmann/json.hpp>

#include "app/common/format.h"
#include "core/models/generate.h"
#include "core/models/lens.h"
#include "tests/cli/command.h"
#include "tests/support/results.h"
#include "tests/support/small_models.h"

using namespace attn;

namespace {

nlohmann::json json_from(const Arguments& arguments) {
    return nlohmann::json::parse(succeeds(arguments).out);
}

}  // namespace

TEST_CASE_FIXTURE(test::WithGpt2,
                  "generate: greedy tokens are the largest logits of the text so far") {
    const auto json = json_from({"generate", folder, "--text", "abba c", "--tokens", "4",
                                 "--temperature", "0", "--candidates", "3", "--json"});
    const auto model = must(Model::open(folder));
    std::vector<ModelToken> tokens = must(model.tokens_of("abba c"));
    REQUIRE(json["steps"].size() == 4);
    CHECK(json["prompt"].size() == 5);
    for (const auto& step : json["steps"]) {
        const auto run = must(model.run(tokens, *find_backend("staged"), {}));
        const auto best = likeliest(run.read_out.matrix(0, 0).row(run.read_out.shape().t - 1), 3);
        CHECK(step["id"] == best[0].id);
        CHECK(step["position"] == tokens.size());
        CHECK(step["before"].get<double>() == doctest::Approx(best[0].probability).epsilon(1e-4));
        CHECK(step["after"] == 1.0);
        CHECK(step["rank"] == 0);
        REQUIRE(step["candidates"].size() == 3);
        for (std::size_t n = 0; n < 3; ++n) CHECK(step["candidates"][n]["id"] == best[n].id);
        CHECK(step["candidates"][1]["kept"] == false);
        tokens.push_back({step["id"].get<Index>(), ""});
    }
    CHECK(json["cache_bytes"] == cache_bytes(model.config(), 8));
    const Ran text =
        succeeds({"generate", folder, "--text", "abba c", "--tokens", "4", "--temperature", "0"});
    CHECK("abba c" + json["text"].get<std::string>() + "\n" == text.out);
}

TEST_CASE_FIXTURE(test::WithGpt2,
                  "generate: text goes to the output as it comes, and a seed repeats it") {
    const auto written = [&](const std::string& seed) {
        return succeeds({"generate", folder, "--text", "abba c", "--tokens", "8", "--seed", seed});
    };
    const Ran ran = written("3");
    CHECK(ran.out.starts_with("abba c"));
    CHECK(ran.out.ends_with("\n"));
    CHECK(contains(ran.err, "5 tokens read in "));
    CHECK(contains(ran.err, "then 8 chosen"));
    CHECK(ran.out == written("3").out);
    const auto ids = [&](const std::string& seed) {
        return json_from({"generate", folder, "--text", "abba c", "--tokens", "8", "--seed", seed,
                          "--json"})["steps"]
            .dump()
            .size();
    };
    CHECK(ids("3") > 0);
    const Ran lines =
        succeeds({"generate", folder, "--text", "abba c", "--tokens", "2", "--candidates", "2"});
    CHECK(std::count(lines.out.begin(), lines.out.end(), '\n') == 2);
    CHECK(contains(lines.out, "50 kept:"));
    const Ran long_one = succeeds({"generate", folder, "--text", "abba c", "--tokens", "99"});
    CHECK(contains(long_one.err, "--tokens is 99, but the model reads at most 16 tokens"));
}

TEST_CASE_FIXTURE(OnDisk, "generate: a token of eos_token_id, one or of a list, ends the text") {
    const std::filesystem::path folder = test::gpt2_folder(scratch);
    const auto with = [&](const nlohmann::json& ends) {
        auto config = nlohmann::json::parse(std::ifstream(folder / "config.json"));
        config["eos_token_id"] = ends;
        std::ofstream(folder / "config.json") << config;
        return must(Model::open(folder)).config().end_tokens;
    };
    const Arguments arguments{"generate", folder.string(), "--text", "abba c", "--tokens",
                              "6",        "--temperature", "0",      "--json"};
    CHECK(with(49) == std::vector<Index>{49});
    CHECK(with({-1, 7}) == std::vector<Index>{7});
    CHECK(with(nullptr).empty());
    const auto all = json_from(arguments)["steps"];
    REQUIRE(all.size() == 6);
    const auto third = all[2]["id"].get<Index>();
    std::size_t first = 0;
    while (all[first]["id"] != third) ++first;
    with({third});
    const Ran ran = succeeds(arguments);
    CHECK(nlohmann::json::parse(ran.out)["steps"].size() == first + 1);
    CHECK(contains(ran.err, "ends the text"));
}

TEST_CASE_FIXTURE(test::WithGpt2, "generate: the file has the rows of trace, and opens") {
    const std::string file = scratch.at("out.npz");
    succeeds({"generate", folder, "--text", "abba c", "--tokens", "4", "--temperature", "0", "-o",
              file});
    const Npz npz = read_npz(file).value();
    const auto model = must(Model::open(folder));
    std::vector<ModelToken> tokens;
    for (const float id : floats(npz, "token_ids")) tokens.push_back({static_cast<Index>(id), ""});
    REQUIRE(tokens.size() == 8);
    const auto run = must(model.run(tokens, *find_backend("staged")));
    for (std::size_t n = 0; n < run.layers.size(); ++n) {
        const std::string name = "l" + std::to_string(n);
        CHECK(extents(npz, name + ".weights") == std::vector<Index>{1, 3, 8, 8});
        const auto& weights = floats(npz, name + ".weights");
        const auto expected = run.layers[n].trace[Stage::weights].values();
        for (std::size_t i = 0; i < weights.size(); ++i)
            CHECK(weights[i] == doctest::Approx(expected[i]).epsilon(1e-5));
        const auto& residual = floats(npz, name + ".residual");
        for (std::size_t i = 0; i < residual.size(); ++i)
            CHECK(std::abs(residual[i] - run.layers[n].residual.values()[i]) < 1e-4);
    }
    CHECK(extents(npz, "logits") == std::vector<Index>{1, 4, 50});
    CHECK(floats(npz, "generated").size() == 4);
    CHECK(floats(npz, "generated")[0] == floats(npz, "token_ids")[5]);
    succeeds({"heads", file});
}

TEST_CASE_FIXTURE(test::WithGpt2, "generate: what cannot be is named with its value") {
    const auto refused = [&](const Arguments& more, const std::string& text) {
        check_refused(joined({"generate", folder, "--text", "ab"}, more), text);
    };
    refused({"--temperature", "-1"}, "--temperature is -1; expected a number from 0 to 1e18");
    refused({"--temperature", "warm"}, "--temperature is 'warm'; expected a number");
    refused({"--top-k", "0"}, "--top-k is 0; expected a whole number from 1");
    refused({"--top-p", "2"}, "--top-p is 2; expected a number from 0 to 1");
    refused({"--seed", "-3"}, "--seed is -3; expected a whole number from 0");
    for (const auto& [name, value] :
         {std::pair{"--top-k", "3"}, {"--top-p", "0.9"}, {"--seed", "4"}})
        refused({"--temperature", "0", name, value},
                std::string(name) + " is " + value + ", but --temperature 0 takes the largest");
    refused({"--tokens", "0"}, "--tokens is 0; expected a whole number from 1 to 1048576");
    refused({"-o", "x.csv"}, ".npz");
    check_refused({"generate"},
                  "no MODEL; expected a trained model's folder, its .gguf, or one of");
    check_refused({"generate", folder}, "no --text; expected the text");
    check_refused({"generate", test::golden_model("bert").string(), "--token-ids", "1"},
                  "BERT gives no next token");
}

TEST_CASE_FIXTURE(test::WithGpt2,
                  "lens: the table and JSON have the layers, the parts and their sum") {
    const Arguments asked{"lens", folder, "--text", "abba c", "--token", "ab", "--against", "#4"};
    const auto json = json_from(joined(asked, {"--json"}));
    const auto model = must(Model::open(folder));
    const auto run = must(model.run(must(model.tokens_of("abba c")), *find_backend("staged")));
    const double expected = must(logit_difference(run, 2, 4));
    CHECK(json["logit"].get<double>() == doctest::Approx(expected).epsilon(1e-4));
    double sum = 0.0;
    for (const auto& part : json["parts"]) sum += part["value"].get<double>();
    CHECK(sum == doctest::Approx(expected).epsilon(1e-4));
    CHECK(json["layers"].size() == 3);
    const Ran table = succeeds(asked);
    CHECK(contains(table.out, "logit of ab (#2) − logit of c (#4)"));
    CHECK(contains(table.out, "layer 1"));
    CHECK(contains(table.out, "head 2"));
    for (const auto& layer : json["layers"])
        CHECK(contains(table.out,
                       fmt::format("{:>9} {:>7}  ", view::percent(layer["p"].get<double>()),
                                   layer["rank"].get<Index>())));
    const auto off = json_from(joined(asked, {"--off", "1.0", "--json"}));
    CHECK(off["logit_with_every_head"] == json["logit"]);
    CHECK(off["logit"] != json["logit"]);
    check_refused(joined(asked, {"--at", "5"}), "there is no position 5; expected 0 to 4");
    check_refused({"lens", folder, "--text", "ab", "--token", "zebra"},
                  "there is no token 'zebra'");
}
