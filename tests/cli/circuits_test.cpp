// `attnscope circuits`: what depends on each head, and one head's QK and OV, in text, JSON and arrays.

#include <nlohmann/json.hpp>

#include <fmt/format.h>
#include "tests/cli/command.h"
#include "tests/support/planted_circuit.h"
#include "tests/support/small_models.h"

using namespace attn;

namespace {

struct Circuit {
    Scratch scratch;
    std::string folder = test::planted_circuit(scratch / "circuit");

    Arguments asked(const Arguments& more = {}) const {
        return joined({"circuits", folder, "--text", std::string(test::kCircuitText)}, more);
    }
};

float at(const Npz& npz, const std::string& name, HeadPlace place) {
    return floats(npz, name)[place.layer * test::kCircuitHeads + place.head];
}

}  // namespace

TEST_CASE("circuits: the sweep names the planted heads, in text, JSON and arrays alike") {
    const Circuit circuit;
    const std::string target = circuit.scratch.at("sweep.npz");
    const Ran ran = succeeds(circuit.asked({"-o", target}));
    CHECK(contains(ran.out, "change of logit d - logit "));
    CHECK(contains(ran.out, "  1.1 "));
    CHECK(contains(ran.out, "  0.2 "));
    const Npz npz = read_npz(target).value();
    CHECK(extents(npz, "sweep_change") == std::vector<Index>{3, 4});
    CHECK(at(npz, "sweep_change", test::kInduction) < -4.0F);
    CHECK(at(npz, "sweep_change", test::kPrevious) < -4.0F);
    const auto json = nlohmann::json::parse(succeeds(circuit.asked({"--json"})).out);
    CHECK(json["a"]["token"] == "d");
    REQUIRE(json["heads"].size() == 12);
    for (std::size_t n = 0; n < 12; ++n) {
        CHECK(json["heads"][n]["change"].get<float>() == floats(npz, "sweep_change")[n]);
        CHECK(json["heads"][n]["kl"].get<float>() == floats(npz, "sweep_kl")[n]);
    }
}

TEST_CASE("circuits: mean, patch, positions and other tokens") {
    const Circuit circuit;
    const auto json = [&](const Arguments& more) {
        return nlohmann::json::parse(succeeds(circuit.asked(joined(more, {"--json"}))).out);
    };
    const auto mean = json({"--sweep", "mean", "--logits", "e", "#3"});
    CHECK(mean["sweep"] == "mean");
    CHECK(mean["a"]["id"] == 4);
    CHECK(mean["b"]["id"] == 3);
    CHECK(mean["difference"].get<double>() < 0.0);
    CHECK(json({"--by-position"})["heads"].size() == 12 * 11);
    const auto same = json({"--sweep", "patch", "--from", std::string(test::kCircuitText)});
    for (const auto& head : same["heads"]) {
        CHECK(head["change"].get<double>() == 0.0);
        CHECK(head["kl"].get<double>() == 0.0);
    }
    const Ran text =
        succeeds(circuit.asked({"--sweep", "patch", "--from", std::string(test::kCircuitText)}));
    CHECK(contains(text.out, "\nno change is more than rounding\n"));
    CHECK_FALSE(contains(text.out, "-0.000"));
}

TEST_CASE(
    "circuits: the logits of each change give its difference and are those of a run with the head "
    "off") {
    const Circuit circuit;
    const auto logits_of = [&](const Arguments& more) {
        const std::string target = circuit.scratch.at("sweep.npz");
        succeeds(circuit.asked(joined({"--keep-logits", "-o", target}, more)));
        return read_npz(target).value();
    };
    const Npz npz = logits_of({});
    CHECK(extents(npz, "sweep_logits") == std::vector<Index>{3, 4, 12});
    CHECK(extents(npz, "sweep_logits_before") == std::vector<Index>{12});
    const auto logits = floats(npz, "sweep_logits"), before = floats(npz, "sweep_logits_before");
    const auto tokens = floats(npz, "sweep_tokens"), change = floats(npz, "sweep_change");
    const auto a = static_cast<std::size_t>(tokens[0]), b = static_cast<std::size_t>(tokens[1]);
    for (std::size_t n = 0; n < change.size(); ++n)
        CHECK(logits[12 * n + a] - logits[12 * n + b] - (before[a] - before[b]) ==
              doctest::Approx(change[n]).epsilon(1e-5));
    const std::string off = circuit.scratch.at("off.npz");
    succeeds({"trace", "--model", circuit.folder, "--text", std::string(test::kCircuitText),
              "--off", "1.1", "-o", off});
    const auto rows = floats(read_npz(off).value(), "logits");
    for (std::size_t n = 0; n < 12; ++n)
        CHECK(logits[12 * (1 * 4 + 1) + n] ==
              doctest::Approx(rows[rows.size() - 12 + n]).epsilon(1e-5));
    const auto unpaired =
        floats(logits_of({"--by-position", "--sweep", "patch", "--from", "ll", "--align", "0=0"}),
               "sweep_logits");
    CHECK(unpaired.size() == 12 * 11 * 12);
    CHECK(std::isfinite(unpaired[0]));
    CHECK(std::isnan(unpaired[12]));
}

TEST_CASE("circuits: a token is named alike where others stand around every text") {
    const Scratch scratch;
    test::copy_model("llama", scratch / "llama");
    std::ofstream(scratch / "llama" / "tokenizer.json")
        << R"({"model":{"type":"BPE","vocab":{"<s>":1,"a":2,"b":3},"merges":[]},)"
           R"("added_tokens":[{"id":1,"content":"<s>","special":true}],"post_processor":)"
           R"({"type":"TemplateProcessing","single":[{"SpecialToken":{"id":"<s>"}},)"
           R"({"Sequence":{"id":"A"}}],"special_tokens":{"<s>":{"id":"<s>","ids":[1]}}}})";
    const auto json = nlohmann::json::parse(
        succeeds({"circuits", scratch.at("llama"), "--text", "ab", "--logits", "a", "b", "--json"})
            .out);
    CHECK(json["a"]["id"] == 2);
    CHECK(json["b"]["id"] == 3);
}

TEST_CASE("circuits: one head's singular values, copying score, composition, QK and OV") {
    const Circuit circuit;
    const std::string target = circuit.scratch.at("head.npz");
    const Ran ran = succeeds(circuit.asked({"--layer", "1", "--head", "1", "-o", target}));
    CHECK(contains(ran.out, "singular values of QK (16): "));
    CHECK(contains(ran.out, "K:  0.2 "));  // what composes most with its keys
    const Npz npz = read_npz(target).value();
    CHECK(extents(npz, "qk") == std::vector<Index>{11, 11});
    CHECK(extents(npz, "ov") == std::vector<Index>{11, 11});
    CHECK(extents(npz, "composition_k") == std::vector<Index>{1, 4});
    CHECK(floats(npz, "copying")[0] > 0.9F);
    const auto json = nlohmann::json::parse(
        succeeds(circuit.asked({"--layer", "1", "--head", "1", "--json"})).out);
    CHECK(json["qk_values"].size() == 16);
    CHECK(json["ov"][10][2].get<float>() == floats(npz, "ov")[10 * 11 + 2]);
}

TEST_CASE("circuits: edges, in text, JSON and arrays alike") {
    const Circuit circuit;
    const std::string target = circuit.scratch.at("edges.npz");
    const Ran ran = succeeds(circuit.asked({"--edges", "-o", target}));
    CHECK(
        contains(ran.out, "edges cut in turn, the sender's output is left out: change of logit d"));
    CHECK_FALSE(contains(ran.out, "-0.0000"));
    const Npz npz = read_npz(target).value();
    const auto json = nlohmann::json::parse(succeeds(circuit.asked({"--edges", "--json"})).out);
    // 4 heads and an MLP in each of 3 layers
    REQUIRE(json["edges"].size() == 5 * (1 + 6 + 11) + 3 * 4 + 16);
    CHECK(extents(npz, "edge_change") == std::vector<Index>{std::ssize(json["edges"]), 4});
    double most = 0.0, keys = 0.0;
    nlohmann::json largest;
    for (std::size_t n = 0; n < json["edges"].size(); ++n) {
        const auto& edge = json["edges"][n];
        CHECK(edge["change"].get<float>() == floats(npz, "edge_change")[4 * n]);
        const bool heads = edge["sender"].contains("head") && edge["reader"].contains("head");
        if (edge.contains("k"))
            CHECK(edge["k"].get<float>() == floats(npz, "edge_change")[4 * n + 2]);
        if (heads && edge["change"].get<double>() < most)
            most = edge["change"], keys = edge["k"], largest = edge;
    }
    // the induction head's keys read the previous-token head
    CHECK(largest["sender"]["name"] == "0.2");
    CHECK(largest["reader"]["name"] == "1.1");
    CHECK(most < -4.0);
    CHECK(keys < -4.0);
    const auto one = nlohmann::json::parse(
        succeeds(circuit.asked({"--edges", "--json", "--layer", "1", "--head", "1", "--sweep",
                                "mean", "--logits", "e", "d"}))
            .out);
    CHECK(one["edges"].size() == 6);
    CHECK(one["sweep"] == "mean");
    CHECK(one["a"]["token"] == "e");
    const auto& weights = json["weights"];
    REQUIRE(weights.size() == 12);
    CHECK(weights[5]["key"] == 3);
    CHECK(weights[5]["weight"].get<double>() > 0.5);
}

TEST_CASE("circuits: in the trained pronouns, layer 0 finds the adjective and layer 1 the noun") {
    const auto json = nlohmann::json::parse(
        succeeds({"circuits", "pronouns", "--edges", "--json", "--text",
                  "the animal didn't cross the street because it was too tired"})
            .out);
    CHECK(json["a"]["token"] == "animal");
    CHECK(json["position"] == 7);
    CHECK(json["weights"][0]["key"] == 10);
    CHECK(json["weights"][0]["weight"].get<double>() > 0.9);
    CHECK(json["weights"][2]["key"] == 1);
    CHECK(json["weights"][2]["weight"].get<double>() > 0.9);
    for (const auto& edge : json["edges"]) {
        const std::string name = fmt::format("{} {}", edge["sender"]["name"].get<std::string>(),
                                             edge["reader"]["name"].get<std::string>());
        if (name == "0.0 1.0") CHECK(edge["q"].get<double>() < -2.0);
        if (name == "1.0 logits") CHECK(edge["change"].get<double>() < -5.0);
    }
}

TEST_CASE("circuits: what cannot be is refused by its name") {
    const Circuit circuit;
    check_refused({"circuits", "--text", "a"},
                  "no MODEL; expected a trained model's folder, its .gguf, or one of");
    check_refused({"circuits", circuit.folder}, "no --text; expected the text");
    check_refused(circuit.asked({"--image", "x.png"}), "--image and a text are given");
    check_refused({"circuits", circuit.folder, "--image", "x.png"},
                  "Llama reads no image; leave out --image");
    check_refused(circuit.asked({"--sweep", "median"}),
                  "--sweep is 'median'; expected one of zero, mean, patch");
    check_refused(circuit.asked({"--sweep", "patch"}), "--sweep patch needs --from TEXT");
    check_refused(circuit.asked({"--part", "keys"}), "expected one of heads, residual, mlp");
    const auto patch = [&](const Arguments& more) {
        return circuit.asked(joined({"--sweep", "patch", "--from", "ll"}, more));
    };
    check_refused(patch({}), "has 2 tokens and the text 11, and neither their first nor");
    check_refused(patch({"--align", "0=2"}),
                  "token 2 is paired, but the text to patch from has 2 tokens");
    check_refused(patch({"--align", "0=0,0=1"}), "token 0 of the text is paired twice");
    check_refused(patch({"--align", "0:0"}), "'0:0' pairs no tokens");
    check_refused(circuit.asked({"--align", "0=0"}), "--align applies only with --sweep patch");
    check_refused(circuit.asked({"--nearest", "3"}), "--nearest applies to one head");
    check_refused(circuit.asked({"--from", "ab"}), "--from applies only with --sweep patch");
    check_refused(circuit.asked({"--logits", "zebra", "c"}), "there is no token 'zebra'");
    check_refused(circuit.asked({"--logits", "#99", "c"}),
                  "there is no token '#99'; expected one as it is shown, or its number, #0 to #11");
    const std::string link = circuit.scratch.at("link.npz");
    std::filesystem::create_symlink(std::filesystem::path(circuit.folder) / "model.safetensors",
                                    link);
    check_refused(circuit.asked({"-o", link}), "the same file as MODEL");
    check_refused(circuit.asked({"--layer", "1"}), "--layer and --head name a head together");
    check_refused(circuit.asked({"--layer", "1", "--head", "9"}), "layer 1 has no head 9");
    check_refused(circuit.asked({"--layer", "1", "--head", "1", "--sweep", "zero"}),
                  "expected no --part, --sweep");
    check_refused(circuit.asked({"--layer", "1", "--head", "1", "--backend", "reference"}),
                  "--logits or --backend");
    for (const Arguments& more : {Arguments{"--part", "mlp"},
                                  {"--by-position"},
                                  {"--nearest", "3"},
                                  {"--sweep", "patch", "--from", "ab"}})
        check_refused(circuit.asked(joined({"--edges"}, more)), "--edges cuts what a part of");
    for (const Arguments& more :
         {Arguments{}, {"--edges", "-o", link}, {"--layer", "1", "--head", "1", "-o", link}})
        check_refused(circuit.asked(joined({"--keep-logits"}, more)),
                      "--keep-logits writes the logits after each change of a sweep");
    check_refused(circuit.asked({"--edges", "--head", "1"}), "name a head together");
    check_refused(circuit.asked({"--edges", "--layer", "1", "--head", "4"}), "has no head 4");
    check_refused(circuit.asked({"--json", "-o", "-"}),
                  "--json and -o - both write to standard output");
}

TEST_CASE("circuits: the residual and MLPs by position, patched from a text of another length") {
    const Circuit circuit;
    const std::string target = circuit.scratch.at("residual.npz");
    // the second c and what followed the first, from a text in which e follows c
    const Arguments asked{"--part", "residual", "--sweep", "patch", "--from", "abcefghabc"};
    succeeds(circuit.asked(joined(asked, {"-o", target})));
    const Npz npz = read_npz(target).value();
    CHECK(extents(npz, "sweep_change") == std::vector<Index>{3, 11});
    CHECK(floats(npz, "sweep_alignment") == std::vector<float>{0, 1, 2, -1, 3, 4, 5, 6, 7, 8, 9});
    CHECK(std::isnan(floats(npz, "sweep_change")[3]));
    CHECK(std::abs(floats(npz, "sweep_change")[0]) < 1e-5F);  // the same token at the same place
    const auto json =
        nlohmann::json::parse(succeeds(circuit.asked({"--part", "residual", "--json"})).out);
    CHECK(json["part"] == "residual");
    REQUIRE(json["places"].size() == 33);
    // d at 3 is what the induction head copies to the end: layer 1 reads it there, layer 2 at the end
    const auto change = [&](int layer, int position) {
        return json["places"][11 * layer + position]["change"].get<double>();
    };
    CHECK(change(1, 3) < -4.0);
    CHECK(std::abs(change(2, 3)) < 0.5);
    CHECK(change(2, 10) < -4.0);
    CHECK(std::abs(change(1, 5)) < 1.0);
    const auto mlp =
        nlohmann::json::parse(succeeds(circuit.asked({"--part", "mlp", "--json"})).out);
    for (const auto& place : mlp["places"]) CHECK(std::abs(place["change"].get<double>()) < 1.5);
    CHECK(contains(succeeds(circuit.asked(joined(asked, {}))).out, "       -"));
}

TEST_CASE("circuits: with the nearest of the vocabulary") {
    const Circuit circuit;
    const std::string target = circuit.scratch.at("near.npz");
    const Ran ran =
        succeeds(circuit.asked({"--layer", "1", "--head", "1", "--nearest", "4", "-o", target}));
    const Npz npz = read_npz(target).value();
    CHECK(extents(npz, "ov") == std::vector<Index>{11, 4});
    CHECK(floats(npz, "ov_tokens") == std::vector<float>{0, 1, 2, 3});  // a b c d raise themselves
    CHECK(contains(ran.out, "a "));
}
