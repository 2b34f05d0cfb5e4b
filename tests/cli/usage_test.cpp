// Subcommands, help, and what is said when the words are wrong.
#include <nlohmann/json.hpp>

#include "app/files/options.h"
#include "core/models/model.h"
#include "core/stages.h"
#include "tests/cli/command.h"
#include "tests/support/results.h"
#include "tests/support/small_models.h"

using namespace attn;

TEST_CASE("help and version answer on the output and succeed") {
    for (const char* word : {"--help", "-h", "help"}) {
        const Ran ran = succeeds({word});
        for (const cli::Subcommand& subcommand : cli::subcommands())
            CHECK(contains(ran.out, "attnscope " + std::string(subcommand.name)));
    }
    CHECK(command({"--version"}).out.starts_with("attnscope "));
    for (const cli::Subcommand& subcommand : cli::subcommands()) {
        const Ran ran = succeeds({std::string(subcommand.name), "--help"});
        CHECK(contains(ran.out, "Usage: attnscope " + std::string(subcommand.name)));
    }
}

TEST_CASE("what is no command is for the desktop app") {
    CHECK(command({}).code == -1);
    CHECK(command({"model.npz"}).code == -1);
    CHECK(command({"--replay", "journal"}).code == -1);
}

TEST_CASE("a misspelt command or option is told what was probably meant") {
    check_refused({"trcae", "in.npz"}, "did you mean trace?");
    check_option_refused({"--cuasal"}, "no option --cuasal; did you mean --causal?");
    check_option_refused({"--temprature", "2"}, "did you mean --temperature?");
    check_option_refused({"--keep", "wieghts"}, "did you mean weights?");
    check_refused({"stages", "--frobnicate"}, "no option --frobnicate");
}

TEST_CASE("words that are missing or too many are named") {
    check_refused({"trace"}, "expected an input file");
    check_refused({"trace", golden("qkv.npz")}, "expected an output file: -o OUT.npz");
    check_refused({"trace", golden("qkv.npz"), "-o"}, "--output");
    check_refused({"trace", golden("qkv.npz"), "-o", golden("../npz/qkv.npz")},
                  "the same file as the input");
    check_option_refused({"--scale"}, "--scale has no value; expected C");
    check_option_refused({"--scale", "2", "--scale", "3"},
                         "--scale is given 2 times; expected once");
    check_refused({"trace", golden("qkv.npz"), "other.npz", "-o", "x.npz"},
                  "-o is x.npz for 2 inputs; expected a folder");
}

TEST_CASE("an empty value is no value") {
    const std::string qkv = golden("qkv.npz");
    struct Row {
        Arguments text;
        std::string contains;
    };
    const Row rows[] = {
        {{"heads", ""}, "FILE is ''; expected a file"},
        {{"render", "", "-o", "x.svg"}, "FILE is ''; expected a file"},
        {{"heads", qkv, "--rope", ""}, "--rope is ''; expected PAIRS"},
        {{"render", qkv, "--score", "", "-o", "x.svg"}, "--score is ''; expected S"},
        {{"heads", qkv, "--sort", ""}, "--sort is ''; expected MEASURE"},
        {{"diff", qkv, "--tolerance", ""}, "--tolerance is ''; expected ABS"},
        {{"trace", qkv, "-o", ""}, "--output is ''; expected OUT.npz"}};
    for (const Row& row : rows) check_refused(row.text, row.contains);
}

TEST_CASE("a value with line breaks is still refused in one line") {
    check_option_refused({"--scale", "a\nb"}, "--scale is 'a b'");
    check_refused({"trace", "no\x1b[31m\nfile", "-o", "x.npz"}, "cannot read no\\x1b[31m file");
}

TEST_CASE("stages lists every stage with the backends that keep it") {
    const Ran text = succeeds({"stages"});
    const auto rows = nlohmann::json::parse(command({"stages", "--json"}).out);
    REQUIRE(rows.size() == kStageCount);
    for (const StageInfo& stage : stage_table()) {
        CHECK(contains(text.out, std::string(stage.key) + " "));
        CHECK(contains(text.out, plain_formula(stage)));
    }
    CHECK(rows[3]["key"] == "k");
    CHECK(rows[3]["shape"] == "[B,Hkv,Tk,d_k]");
    CHECK(rows[3]["kept_by"][0] == "reference");
}

TEST_CASE("options lists every option of an attention call, with its range") {
    const Ran text = succeeds({"options"});
    const auto rows = nlohmann::json::parse(command({"options", "--json"}).out);
    REQUIRE(rows.size() == files::attention_options().size());
    for (const auto& row : rows) CHECK(contains(text.out, row["name"].get<std::string>() + " "));
    CHECK(rows[0]["name"] == "heads");
    CHECK(rows[0]["range"] == "1 to 65536");
    CHECK(rows[2]["words"].get<std::string>().find("tokens-first [B,T,H,d]") != std::string::npos);
}

TEST_CASE_FIXTURE(test::WithGpt2, "info gives the sizes of a model, and refuses another folder") {
    const auto json = nlohmann::json::parse(succeeds({"info", folder, "--json"}).out);
    const auto model = must(Model::open(folder));
    CHECK(json["family"] == "gpt2");
    CHECK(json["layers"] == model.config().layers);
    CHECK(json["heads"] == model.config().heads);
    CHECK(json["vocabulary"] == model.config().vocabulary);
    CHECK(json["has_tokenizer"] == true);
    CHECK(json["gives_logits"] == true);
    CHECK(json["groups"].empty());
    CHECK(contains(succeeds({"info", folder}).out, "family         gpt2\n"));
    check_refused({"info", "no-such-folder"},
                  "there is no 'no-such-folder'; expected a trained model's folder");
    std::filesystem::remove(std::filesystem::path(folder) / "config.json");
    check_refused({"info", folder}, "config.json");
}

TEST_CASE("info names version, backends and preset folders") {
    const auto all = nlohmann::json::parse(command({"info", "--json"}).out);
    CHECK(all["backends"][0]["name"] == "reference");
    CHECK(all["backends"][0]["available"] == true);
    CHECK(!all["preset_folders"].empty());
    CHECK(contains(command({"info"}).out, "staged"));
}

TEST_CASE("with --json errors and notes are JSON objects, one a line, of every command") {
    for (const cli::Subcommand& subcommand : cli::subcommands())
        CHECK(contains(succeeds({std::string(subcommand.name), "--help"}).out, "--json"));
    const Ran refused = command(
        {"trace", golden("qkv.npz"), "-o", "/nowhere/x.npz", "--empty-rows", "x", "--json"});
    CHECK(refused.code == cli::kBadInput);
    const auto error = nlohmann::json::parse(refused.err);
    CHECK(error["level"] == "error");
    CHECK(error["command"] == "attnscope trace");
    CHECK(error["code"] == "unexpected_value");
    CHECK(error["subject"] == "--empty-rows");
    CHECK(error["value"] == "'x'");
    CHECK(error["expected"] == "zero or nan");
    CHECK(error["text"] == "--empty-rows is 'x'; expected zero or nan");
    const Scratch scratch;
    const std::vector<float> scores(4);
    REQUIRE(write_npz(scratch / "s.npz", std::vector<NpzEntry>{{"scores", {2, 2}, scores}}));
    const Ran unscaled =
        command({"trace", scratch.at("s.npz"), "-o", scratch.at("out.npz"), "--json"});
    CHECK(unscaled.code == cli::kBadInput);
    const auto ambiguous = nlohmann::json::parse(unscaled.err);
    CHECK(ambiguous["code"] == "ambiguous");
    REQUIRE(ambiguous["remedies"].size() == 3);
    CHECK(ambiguous["remedies"][0] ==
          nlohmann::json{{"option", "scale"},
                         {"value", "none"},
                         {"meaning", "they are already scaled, or need no scale"}});
    const Ran noted = succeeds(
        {"trace", scratch.at("s.npz"), "-o", scratch.at("out.npz"), "--scale", "none", "--json"});
    const auto note = nlohmann::json::parse(noted.err.substr(0, noted.err.find('\n')));
    CHECK(note["level"] == "note");
    CHECK(note["code"] == "given_pairs");
}
