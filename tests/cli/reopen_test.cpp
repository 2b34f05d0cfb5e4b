// What trace writes is read again as the call that it came from: the same weights, bit for bit, by every way to open it.
#include <cstring>

#include <fmt/format.h>

#include "app/common/document/document.h"
#include "app/common/document/heads.h"
#include "app/common/document/opened.h"
#include "app/files/open.h"
#include "core/stages.h"
#include "core/trace.h"
#include "tests/cli/command.h"
#include "tests/support/results.h"
#include "tests/support/small_models.h"

using namespace attn;
namespace fs = std::filesystem;

namespace {

bool same_bits(std::span<const float> a, std::span<const float> b) {
    return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size_bytes()) == 0;
}

/// As the window opens it.
view::Opened opened(const std::string& path) {
    return must(files::opener(backends())({path, 0, {}}, {}));
}
HeadsResult heads_of(const view::Opened& file) {
    return compute_heads(view::heads_input(*file.document), {backends()});
}

/// Every stage that both have.
void check_same_stages(const Npz& once, const Npz& twice) {
    for (const StageInfo& stage : stage_table()) {
        const std::string key(stage.key);
        CAPTURE(key);
        const bool of_tokens = stage.stage == Stage::x || stage.stage == Stage::x_kv;
        if (!once.arrays.contains(key) || of_tokens) continue;
        CHECK(same_bits(floats(once, key), floats(twice, key)));
    }
}

/// Traces a call, and what came of it again: no stage differs, by trace and in the window.
void check_reopens(const std::string& input, const Arguments& options) {
    INFO("input ", input, ", options ", options);
    const Scratch scratch;
    const std::string once = scratch.at("once.npz"), twice = scratch.at("twice.npz");
    succeeds(joined({"trace", input, "-o", once}, options));
    const Ran again = succeeds({"trace", once, "-o", twice});
    CHECK_FALSE(contains(again.err, "not used"));
    CHECK_FALSE(contains(again.err, "not in the file"));
    CHECK(contains(again.err, "match the results of Q and K, bit for bit"));
    const Npz first = read_npz(once).value(), second = read_npz(twice).value();
    check_same_stages(first, second);
    CHECK(std::get<std::vector<std::string>>(first.arrays.at("options").values) ==
          std::get<std::vector<std::string>>(second.arrays.at("options").values));
    const view::Opened window = opened(once);
    CHECK(window.document->given.empty());
    CHECK(same_bits(heads_of(window).layers[0].weights.values(), floats(first, "weights")));
}

std::string options_in(const std::string& path) {
    return std::get<std::vector<std::string>>(read_npz(path).value().arrays.at("options").values)
        .front();
}

/// A model's folder of this family that can read "abba c".
std::string folder_of(const std::string& family, const Scratch& scratch) {
    const fs::path folder = scratch / family;
    test::copy_model(family, folder);
    test::write_pieces(folder, R"(["a",-1],["b",-1],["c",-1],[" ",-1])");
    return folder.string();
}

const Arguments kVit{"--image", ATTN_TEST_DATA "/models/vit/image.png"};
const Arguments kText{"--text", "abba c"};

}  // namespace

TEST_CASE("a trace of a call of any kind opens as that call") {
    std::size_t kinds = 0;
    for (const auto& file : fs::directory_iterator(ATTN_TEST_DATA "/kinds")) {
        check_reopens(file.path().string(), {});
        ++kinds;
    }
    CHECK(kinds >= 43);
    check_reopens(golden("two_heads.npz"), {"--heads", "2", "--kv-heads", "1"});  // mask, W_O, b_O
    check_reopens(golden("twelve_heads.npz"), {"--dropout", "0.4", "--seed", "12345678901234567"});
    check_reopens(golden("twelve_heads.npz"), {"--dropout", "0.4", "--training", "off"});
    check_reopens(golden("tokens.npz"), {"--score", "student_t", "--temperature", "0.3"});
    check_reopens(golden("tokens.npz"),
                  {"--scale", "0.1", "--empty-rows", "nan", "--padding", "1"});
    check_reopens(golden("tokens.npz"), {"--rope", "interleaved", "--rope-scaling",
                                         "llama3,8,1,4,7", "--rope-base", "5"});
    check_reopens(golden("tokens.npz"), {"--rope", "half", "--rope-scaling", "linear,1.5",
                                         "--query-offset", "3", "--causal=top-left"});
    check_reopens(golden("decode.npz"), {"--causal=bottom-right"});
}

TEST_CASE("a trace says the options of its call, those that are not as by default") {
    const Scratch scratch;
    const std::string out = scratch.at("out.npz");
    succeeds({"trace", golden("tokens.npz"), "-o", out});
    CHECK(options_in(out) == "{}");
    succeeds({"trace", golden("tokens.npz"), "-o", out, "--rope", "half", "--rope-scaling",
              "llama3,8,1,4,8192", "--causal=bottom-right", "--window-left", "2", "--padding", "2",
              "--dropout", "0.5", "--training", "off", "--softcap", "2.5"});
    CHECK(options_in(out) ==
          R"({"causal":"bottom-right","dropout":0.5,"padding":2,"rope":"half",)"
          R"("rope_scaling":"llama3,8,1,4,8192","softcap":2.5,"training":false,"window_left":2})");
    const Ran ran = succeeds({"trace", out, "-o", scratch.at("again.npz")});
    CHECK(
        contains(ran.err, "out.npz: k, q, v are read as K, Q, V, as the stages of a trace, and "));
    CHECK(contains(ran.err,
                   "out.npz: weights, masked, biased, scaled, scores match the results of Q and K, "
                   "bit for bit\n"));
    CHECK(floats(read_npz(out).value(), "q") ==
          floats(read_npz(scratch / "again.npz").value(), "q"));
    const Npz npz = read_npz(scratch / "again.npz").value();
    CHECK(std::get<std::vector<std::string>>(npz.arrays.at("tokens").values).size() == 3);
    check_refused(
        {"trace", golden("tokens.npz"), "-o", out, "--rope", "half", "--rope-scaling", "llama3,8"},
        "--rope-scaling is 'llama3,8'; expected linear,FACTOR, "
        "llama3,FACTOR,LOW,HIGH,ORIGINAL_LENGTH");
}

TEST_CASE("queries and keys that were turned by position are not turned again") {
    const Scratch scratch;
    const std::string whole = scratch.at("whole.npz"), turned = scratch.at("turned.npz");
    const std::string again = scratch.at("again.npz");
    const Arguments rope{"--rope", "half", "--causal", "--window-left", "1"};
    succeeds(joined({"trace", golden("tokens.npz"), "-o", whole}, rope));
    succeeds(
        joined({"trace", golden("tokens.npz"), "-o", turned, "--keep", "q_rot,k_rot,v"}, rope));
    CHECK(options_in(turned) == R"({"causal":"top-left","window_left":1})");
    succeeds({"trace", turned, "-o", again});
    const Npz first = read_npz(whole).value(), second = read_npz(again).value();
    for (const char* key : {"scores", "scaled", "masked", "weights", "context"})
        CHECK(same_bits(floats(first, key), floats(second, key)));
    CHECK_FALSE(same_bits(floats(first, "q"), floats(second, "q")));
    check_refused({"trace", turned, "-o", again, "--rope", "half"},
                  turned + ": q_rot and k_rot are already rotated by position; expected no rope");
}

TEST_CASE("weights and scores that are kept alone make the same weights again") {
    const Scratch scratch;
    const std::string whole = scratch.at("whole.npz"), part = scratch.at("part.npz");
    const Arguments options{"--causal", "--softcap", "0.5", "--temperature", "2"};
    succeeds(joined({"trace", golden("tokens.npz"), "-o", whole}, options));
    const Npz npz = read_npz(whole).value();
    const std::vector<float>& weights = floats(npz, "weights");
    for (const char* keep : {"weights", "masked", "biased", "scaled", "scores"}) {
        CAPTURE(keep);
        succeeds(joined({"trace", golden("tokens.npz"), "-o", part, "--keep", keep}, options));
        const auto result = heads_of(opened(part));
        const auto values = result.layers[0].weights.values();
        REQUIRE(values.size() == weights.size());
        if (std::string_view(keep) == "weights") CHECK(same_bits(values, weights));
        for (std::size_t n = 0; n < weights.size(); ++n)  // from scores they are made in double
            CHECK(values[n] == doctest::Approx(weights[n]).epsilon(1e-6));
        CHECK(std::ranges::count(result.layers[0].allowed_of(0), 0) == 3);
    }
}

TEST_CASE("a trace of every family gives the numbers of the model's heads") {
    for (const std::string family : {"gpt2", "llama", "mistral", "qwen2", "qwen3", "bert", "vit"}) {
        CAPTURE(family);
        const Scratch scratch;
        const bool image = family == "vit";
        const std::string folder =
            image ? std::string(ATTN_TEST_DATA "/models/vit") : folder_of(family, scratch);
        const std::string traced = scratch.at("out.npz");
        const Arguments& reads = image ? kVit : kText;
        succeeds(joined({"trace", "--model", folder, "-o", traced}, reads));
        const view::Opened file = opened(traced);
        CHECK(file.document->given.empty());
        CHECK(contains(text_of(file.notes), "scores match the results of Q and K, bit for bit"));
        const auto result = heads_of(file);
        const Npz npz = read_npz(traced).value();
        REQUIRE(result.layers.size() == 2);
        for (const std::size_t n : {0, 1})
            CHECK(same_bits(result.layers[n].weights.values(),
                            floats(npz, fmt::format("l{}.weights", n))));
        // every measure with every digit, and every label: of weights, of tokens and of W_O
        const Ran of_model = succeeds(joined({"heads", folder, "-o", "-"}, reads));
        const Ran of_file = succeeds({"heads", traced, "-o", "-"});
        CHECK(of_model.out == of_file.out);
        const std::string twice = scratch.at("twice.npz");
        succeeds({"trace", traced, "--layer", "1", "-o", twice});
        for (const char* key : {"weights", "context", "output"})
            CHECK(same_bits(floats(npz, fmt::format("l1.{}", key)),
                            floats(read_npz(twice).value(), key)));
    }
}

TEST_CASE("weights alone of a trace have the labels and the evenness of the model") {
    for (const std::string family : {"gpt2", "mistral"}) {
        CAPTURE(family);
        const Scratch scratch;
        const std::string folder = folder_of(family, scratch);
        const std::string whole = scratch.at("whole.npz"), part = scratch.at("part.npz");
        succeeds(joined({"trace", "--model", folder, "-o", whole}, kText));
        succeeds(joined({"trace", "--model", folder, "-o", part, "--keep", "weights"}, kText));
        const auto a = heads_of(opened(whole)), b = heads_of(opened(part));
        REQUIRE(a.heads.size() == b.heads.size());
        for (std::size_t n = 0; n < a.heads.size(); ++n) {
            CHECK(a.heads[n].measures[HeadMeasure::evenness] ==
                  b.heads[n].measures[HeadMeasure::evenness]);
            CHECK(a.heads[n].label.has_value() == b.heads[n].label.has_value());
            if (a.heads[n].label) CHECK(a.heads[n].label->name == b.heads[n].label->name);
            CHECK(a.allowed(a.heads[n].place) == b.allowed(b.heads[n].place));
        }
    }
}

TEST_CASE_FIXTURE(test::WithGpt2,
                  "weights of a run with interventions are shown as the run had them") {
    const std::string traced = scratch.at("out.npz");
    succeeds(joined({"trace", "--model", folder, "-o", traced, "--row", "1.2.3=1,0,0,0,0"}, kText));
    const Npz npz = read_npz(traced).value();
    const view::Opened file = opened(traced);
    REQUIRE(file.document->given.size() == 2);
    const auto result = heads_of(file);
    for (const std::size_t n : {0, 1})
        CHECK(same_bits(result.layers[n].weights.values(),
                        floats(npz, fmt::format("l{}.weights", n))));
    CHECK(result.weights({1, 2})(3, 0) == 1.0F);
    CHECK(contains(
        text_of(file.notes),
        traced +
            ": weights are shown as they are stored; the results of Q and K differ by at most "));
    CHECK(contains(text_of(file.notes), " (layer 1, head 2, query 3, key 0)"));
}
