// `attnscope circuits`: what depends on each head, and one head's QK and OV, in text, JSON and arrays.
#include <nlohmann/json.hpp>

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
    return floats(npz,
                  name)[static_cast<std::size_t>(place.layer * test::kCircuitHeads + place.head)];
}

}  // namespace

TEST_CASE("circuits: the sweep names the planted heads, in text, JSON and arrays alike") {
    const Circuit circuit;
    const std::string target = circuit.scratch.at("sweep.npz");
    const Ran ran = succeeds(circuit.asked({"-o", target}));
    CHECK(says(ran.out, "change of logit d - logit "));
    CHECK(says(ran.out, "  1.1 "));
    CHECK(says(ran.out, "  0.2 "));
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
    for (const auto& head : same["heads"]) CHECK(std::abs(head["change"].get<double>()) < 1e-5);
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
    CHECK(says(ran.out, "singular values of QK (16): "));
    CHECK(says(ran.out, "K:  0.2 "));  // what composes most with its keys
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

TEST_CASE("circuits: what cannot be is refused by its name") {
    const Circuit circuit;
    check_refused({"circuits", "--text", "a"}, "no MODEL; expected one trained model's folder");
    check_refused({"circuits", circuit.folder}, "expected one of --text, --token-ids and --image");
    check_refused(circuit.asked({"--sweep", "median"}),
                  "--sweep is 'median'; expected zero, mean or patch");
    check_refused(circuit.asked({"--sweep", "patch"}), "--sweep patch needs --from TEXT");
    check_refused(circuit.asked({"--sweep", "patch", "--from", "ab"}),
                  "the text to patch from has 2 tokens; expected 11");
    check_refused(circuit.asked({"--from", "ab"}), "--from is of --sweep patch");
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
                  "expected no --sweep");
    check_refused(circuit.asked({"--json", "-o", "-"}),
                  "--json and -o - both write to standard output");
}
