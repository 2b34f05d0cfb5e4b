// What the window and `render` start with: one FILE, options that must be carried out, files that are kept.

#include <fmt/format.h>

#include "app/cli/desktop_options.h"
#include "app/cli/render_parts.h"
#include "app/common/document/actions.h"
#include "app/common/document/document.h"
#include "app/common/document/model_text.h"
#include "app/common/document/opened.h"
#include "core/io/file.h"
#include "tests/cli/start.h"
#include "tests/support/results.h"

using namespace attn;

namespace {

/// What `attnscope WORDS` says before anything is opened; "" when it is fine.
std::string refused_by_window(const std::vector<std::string>& arguments) {
    std::ostringstream out;
    std::ostringstream err;
    const auto options = cli::parse_desktop(arguments, {out, err});
    if (const int* code = std::get_if<int>(&options)) CHECK(*code == cli::kBadInput);
    return err.str();
}

cli::StartOptions resolved(std::vector<std::string> files) {
    cli::StartOptions options;
    options.files = std::move(files);
    REQUIRE(cli::resolve_start(options, {}));
    return options;
}

std::string saved_session(const Scratch& scratch, const char* name) {
    const std::string path = scratch.at(name);
    REQUIRE(write_file_atomically(path, R"({"action":"set_scaling","on":false})"
                                        "\n"));
    return path;
}

}  // namespace

TEST_CASE("render takes FILE as the window does, and none of them twice") {
    CHECK(resolved({"a.npz"}).file == "a.npz");
    CHECK(resolved({"a.json"}).file == "a.json");
    check_refused({"render", "a.npz", "b.npz", "-o", "x.png"}, "expected one at a time");
    check_refused({"render", "a.json", "--session", "b.json", "-o", "x.png"},
                  "'a.json' and --session 'b.json'; expected one file");
    check_refused({"render", "a.npz", "--map", "b.npz", "-o", "x.png"}, "expected one file");
    check_refused({"render", "/nowhere/a.npz", "-o", "x.png"}, "/nowhere/a.npz: No such file");
    CHECK(contains(refused_by_window({"a.npz", "b.npz"}), "expected one at a time"));
}

TEST_CASE_FIXTURE(OnDisk, "no output of render or the window is a file that it reads") {
    const std::string file = saved_session(scratch, "f.jsonl");
    const std::string link = scratch.at("link.jsonl");
    std::filesystem::create_symlink("f.jsonl", link);
    const std::string before = read_text_file(file).value();
    for (const std::string& output : {file, link}) {
        check_refused({"render", "--session", file, "-o", output}, "the same file as --session");
        check_refused({"render", "--replay", file, "-o", output}, "the same file as --replay");
        check_refused({"render", "--map", file, "-o", output}, "the same file as --map");
        check_refused({"render", file, "-o", output}, "the same file as FILE");
        CHECK(contains(refused_by_window({"--replay", file, "--journal", output}), "--journal is"));
        CHECK(
            contains(refused_by_window({"--session", file, "--journal", output}), "--journal is"));
        CHECK(contains(refused_by_window({file, "--frame-log", output}), "--frame-log is"));
        CHECK(
            contains(refused_by_window({"--replay", file, "--save-session", output}), "--replay"));
        CHECK(contains(refused_by_window({"--journal", file, "--frame-log", output}), "--journal"));
        CHECK(contains(refused_by_window({"--journal", file, "--save-session", output}),
                       "--journal"));
        CHECK(refused_by_window({"--session", file, "--save-session", output}).empty());
        CHECK(refused_by_window({file, "--save-session", output}).empty());
    }
    CHECK(read_text_file(file).value() == before);
    CHECK(std::filesystem::is_symlink(link));
}

TEST_CASE_FIXTURE(OnDisk, "a session goes back to its file, but never over tensors") {
    const std::string tensors = scratch.at("q.npz");
    std::filesystem::copy_file(golden("qkv.npz"), tensors);
    CHECK(
        contains(refused_by_window({tensors, "--save-session", tensors}), "the same file as FILE"));
    CHECK(contains(refused_by_window({"--map", tensors, "--save-session", tensors}), "as --map"));
}

TEST_CASE("a scale that the window cannot have is refused") {
    for (const char* scale : {"nan", "inf", "3", "2.01", "0.99", "0", "-1"}) {
        check_refused({"render", "--scale", scale, "-o", "x.png"},
                      "; expected a number from 1 to 2");
        CHECK(contains(refused_by_window({"--scale", scale}), "; expected a number from 1 to 2"));
    }
    for (const char* scale : {"1", "1.5", "2"})
        CHECK(refused_by_window({"--scale", scale}).empty());
}

TEST_CASE_FIXTURE(OnDisk,
                  "a file's arrays and tokens are read as --role, --tokens and --layout say") {
    const std::vector<float> numbers{1, 0, 0, 1};
    const std::vector<NpzEntry> entries{{"asks", {1, 1, 2, 2}, numbers},
                                        {"K", {1, 1, 2, 2}, numbers},
                                        {"V", {1, 1, 2, 2}, numbers}};
    const std::string path = scratch.at("mine.npz");
    const std::string text = scratch.at("words.txt");
    REQUIRE(write_npz(path, entries));
    REQUIRE(write_file_atomically(text, "ay\nbee\n"));
    cli::StartOptions options = resolved({path});
    options.needs_attention = true;
    CHECK_FALSE(read_start(options));
    options.reading = {{"role", "asks=Q"}, {"tokens", text}};
    REQUIRE(cli::resolve_start(options, {}));
    const auto start = must(read_start(options));
    const auto& ready = *start.actions.back().as<view::DocumentReady>();
    CHECK(ready.opened->document->no_attention.empty());
    CHECK(ready.opened->document->tokens == std::vector<std::string>{"ay", "bee"});
    CHECK(contains(*start.actions.front().as<view::OpenFile>()->options, "asks=Q"));
    options.reading["role"] = "asks=W_Z";
    CHECK(contains(must_fail(read_start(options)).text(), "W_Z"));
    check_refused({"render", "--role", "asks=Q", "-o", "x.svg"},
                  "--role is for a file of tensors; no file is given");
    check_refused({"render", saved_session(scratch, "f.jsonl"), "--tokens", text, "-o", "x.svg"},
                  "is none");
}

TEST_CASE_FIXTURE(OnDisk, "--follow is for one file of tensors") {
    CHECK(refused_by_window({golden("qkv.npz"), "--follow"}).empty());
    CHECK(contains(refused_by_window({"--follow"}), "a file of tensors; no file is given"));
    CHECK(contains(refused_by_window({saved_session(scratch, "f.json"), "--follow"}), "is none"));
}

TEST_CASE_FIXTURE(OnDisk, "--layer and --head say what is shown first, and must be there") {
    const std::vector<float> numbers(2 * 3 * 4, 0.5F);
    std::vector<NpzEntry> entries;
    for (const char* name : {"l0.Q", "l0.K", "l0.V", "l1.Q", "l1.K", "l1.V"})
        entries.push_back({name, {1, 2, 3, 4}, numbers});
    const std::string path = scratch.at("layers.npz");
    REQUIRE(write_npz(path, entries));
    const auto shown = [&](std::optional<Index> layer, std::optional<Index> head) {
        cli::StartOptions options = resolved({path});
        options.layer = layer;
        options.head = head;
        const auto start = must(read_start(options));
        view::AppState state = start.state;
        jobs::Jobs jobs(start.open, [] {});
        return cli::carry_out(start, state, jobs).map([&] {
            return std::pair(state.document().layer, state.head);
        });
    };
    CHECK(must(shown(1, 1)) == std::pair<Index, Index>(1, 1));
    CHECK(must(shown(1, {})) == std::pair<Index, Index>(1, 0));
    CHECK(must(shown({}, 1)) == std::pair<Index, Index>(0, 1));
    CHECK(contains(must_fail(shown(2, {})).text(), "no layer 2"));
    CHECK(contains(must_fail(shown({}, 2)).text(), "no head 2"));
}

TEST_CASE("standard input is one file") {
    CHECK(contains(refused_by_window({"--session", "-", "--replay", "-"}), "- is given twice"));
    check_refused({"render", "--all", "-o", "-"}, "-o is -; expected a folder");
}

TEST_CASE("options of render of which one would not count are refused") {
    struct Row {
        Arguments options;
        std::string contains;
    };
    const Row rows[] = {
        {{"-o", "q.svg", "--width", "85mm", "--size", "3000x2000"}, "--width and --size each say"},
        {{"-o", "q.svg", "--paper", "cream", "--theme", "dark"}, "expected no --theme dark"},
        {{"-o", "q.png", "--format", "svg"}, "--format is 'svg' and -o is 'q.png'"},
        {{"-o", "pictures", golden("qkv.npz"), "--all"}, "qkv.npz; expected none with --all"}};
    for (const Row& row : rows) check_refused(joined({"render"}, row.options), row.contains);
}

TEST_CASE("what an option asks for must be carried out, what a journal did need not") {
    jobs::Jobs jobs({}, [] {});
    view::AppState state = view::initial_state();
    cli::Start good;
    good.actions = {view::GoToStage{Stage::weights}, view::SelectCell{{Stage::weights, 1, 2}}};
    CHECK(cli::carry_out(good, state, jobs));
    cli::Start nowhere;
    nowhere.actions = {view::SelectCell{{Stage::weights, 99, 0}}};
    const auto refused = must_fail(cli::carry_out(nowhere, state, jobs));
    CHECK(refused.kind == ErrorKind::input);
    CHECK(contains(refused.text(), "no cell"));
    cli::Start replayed;
    replayed.replay = nowhere.actions;
    state = view::initial_state();
    CHECK(cli::carry_out(replayed, state, jobs));
    CHECK(cli::complete(state, jobs));
}

TEST_CASE_FIXTURE(
    OnDisk, "a journal with a torn or a blank line is read up to and after it, with a warning") {
    const std::string path = scratch.at("torn.jsonl");
    REQUIRE(write_file_atomically(path,
                                  "{\"action\":\"set_scaling\",\"on\":false}\n"
                                  "{\"action\":\"set_sc\n\n"
                                  "{\"action\":\"set_causal\",\"on\":true}\n"));
    std::vector<Note> warnings;
    const auto actions = must(cli::read_journal(path, warnings));
    CHECK(actions.size() == 2);
    REQUIRE(warnings.size() == 2);
    CHECK(contains(warnings[0].text, "line 2"));
    CHECK(contains(warnings[1].text, "line 3: is blank"));
}

TEST_CASE_FIXTURE(OnDisk, "a journal's images are found beside it, each of several") {
    const std::string path = scratch.at("j.jsonl");
    for (const char* name : {"a.png", "b.png", "model.npz"})
        REQUIRE(write_file_atomically(scratch.at(name), "x"));
    REQUIRE(write_file_atomically(path,
                                  R"({"action":"open_file","path":"model.npz","text":"a || b",)"
                                  R"("image":"a.png || b.png || c.png"})"
                                  "\n"));
    std::vector<Note> warnings;
    const auto actions = must(cli::read_journal(path, warnings));
    REQUIRE(actions.size() == 1);
    CHECK(actions[0].as<view::OpenFile>()->image ==
          fmt::format("{} || {} || c.png", scratch.at("a.png"), scratch.at("b.png")));
    REQUIRE(warnings.size() == 1);
    CHECK(contains(warnings[0].text, "c.png"));
}

TEST_CASE(
    "without an option the window opens a trained model at the weights that give its answer") {
    cli::Start start = must(read_start({}));
    cli::append_first_screen(start);
    jobs::Jobs jobs(start.open, [] {});
    view::AppState state = view::initial_state();
    REQUIRE(cli::carry_out(start, state, jobs));
    const view::Document& document = state.document();
    REQUIRE(document.read_out.position == 7);
    CHECK(document.tokens[7] == "it");
    CHECK(document.read_out.next.front().text == "animal");
    CHECK(document.layer == std::ssize(document.layers) - 1);
    CHECK(state.stage == Stage::weights);
    REQUIRE(state.selected.has_value());
    CHECK(state.selected->row == 7);
    CHECK(document.tokens[static_cast<std::size_t>(state.selected->column)] == "animal");
    const view::OfferedText offered = view::offered_text(document);
    CHECK(offered.change == "tired → wide");

    view::apply(state, view::TypeText{offered.text});
    REQUIRE(cli::complete(state, jobs));
    const view::Document& other = state.document();
    CHECK(other.read_out.next.front().text == "street");
    CHECK(view::offered_text(other).change == "wide → tired");
    CHECK(view::offered_text(other).text == other.default_text);
}
