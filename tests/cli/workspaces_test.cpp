// Whatever the command line lists of the workspaces comes from their table: one that only this test knows is there too.
#include <fmt/format.h>

#include "app/cli/studio.h"
#include "app/common/document/document.h"
#include "app/common/lower_case.h"
#include "app/common/workspace.h"
#include "app/window/session.h"
#include "core/io/file.h"
#include "tests/cli/command.h"
#include "tests/view/probe_workspace.h"

using namespace attn;

namespace {

/// Draws nothing, and keeps what it was asked to draw.
class Sketchbook : public cli::Studio {
  public:
    explicit Sketchbook(std::vector<std::string>& shown) : shown_(shown) {}
    view::Actions draw(const view::AppState&) override { return {}; }
    Result<std::string> picture(const view::AppState& state) override {
        shown_.push_back(std::string(shown_workspace(state).key) + " " +
                         std::to_string(state.document().seed));
        return encode_png({1, 1, {0, 0, 0}});
    }

  private:
    std::vector<std::string>& shown_;
};

struct Rendered {
    Ran ran;
    std::vector<std::string> shown;
};

Rendered render(std::vector<std::string> arguments) {
    Rendered rendered;
    std::ostringstream out;
    std::ostringstream err;
    const auto open = [&](const auto&) -> Result<std::unique_ptr<cli::Studio>> {
        return std::make_unique<Sketchbook>(rendered.shown);
    };
    arguments.insert(arguments.begin(), "render");
    const auto code =
        cli::run(arguments, {out, err, open, attn::backends(), test::workspaces_with_probe()});
    rendered.ran = {code.value_or(-1), out.str(), err.str()};
    return rendered;
}

}  // namespace

TEST_CASE_FIXTURE(OnDisk, "--workspace takes the key of every workspace, and an error lists them") {
    const std::string picture = scratch.at("x.png");
    const Rendered good = render({"--workspace", "probe", "--chrome", "-o", picture});
    CAPTURE(good.ran.err);
    CHECK(good.ran.code == cli::kSuccess);
    CHECK(good.shown == std::vector<std::string>{"probe 1"});
    const Rendered bad = render({"--workspace", "attic", "-o", picture});
    CHECK(bad.ran.code == cli::kBadInput);
    CHECK(contains(bad.ran.err,
                   "'attic'; expected " + view::workspace_keys(test::workspaces_with_probe())));
}

TEST_CASE_FIXTURE(OnDisk, "render --all draws every shot of every workspace in both themes") {
    const Rendered all = render({"--all", "-o", scratch.at("out")});
    CAPTURE(all.ran.err);
    REQUIRE(all.ran.code == cli::kSuccess);
    for (const view::WorkspaceInfo* workspace : test::workspaces_with_probe())
        for (const view::Shot& shot : workspace->shots())
            for (const char* theme : {"dark", "light"}) {
                const std::string name = std::string(workspace->key) +
                                         (shot.name.empty() ? "" : "-") + std::string(shot.name) +
                                         "-" + theme + ".png";
                CAPTURE(name);
                CHECK(contains(all.ran.out, name));
                CHECK(std::filesystem::exists(scratch / "out" / name));
            }
    CHECK(std::ranges::count(all.shown, "probe 5") == 2);
}

TEST_CASE_FIXTURE(OnDisk,
                  "a workspace that lacks something has no figure: render says what, and fails") {
    const std::string file = scratch.at("many.npz");
    const std::vector<float> rows(1200, 0.5F);
    const std::vector<Index> shape{1, 2, 300, 2};
    const NpzEntry entries[] = {{"Q", shape, rows}, {"K", shape, rows}, {"V", shape, rows}};
    REQUIRE(write_npz(file, entries));
    const std::string picture = scratch.at("out.png");
    const Rendered none = render({file, "--workspace", "gradients", "-o", picture});
    CHECK(none.ran.code == cli::kBadInput);
    CHECK(none.shown.empty());
    CHECK(contains(none.ran.err, "300 × 300 scores are too many"));
    CHECK_FALSE(std::filesystem::exists(picture));
    const Rendered window = render({file, "--workspace", "gradients", "--chrome", "-o", picture});
    CHECK(window.ran.code == cli::kSuccess);  // the window says it there
    const Rendered empty = render({"--workspace", "heads", "--preset", "empty", "-o", picture});
    CHECK(empty.ran.code == cli::kBadInput);
    CHECK(contains(empty.ran.err, "no sentence yet"));
    // a check that cannot be done, in a figure or in the window
    const std::string text = scratch.at("a.txt");
    const std::string checked = scratch.at("checked.png");
    REQUIRE(write_file_atomically(text, "no arrays"));
    for (const Arguments& more : {Arguments{}, Arguments{"--chrome"}}) {
        const Rendered check =
            render(joined({"--preset", "three-heads", "--check", text, "-o", checked}, more));
        CHECK(check.ran.code == cli::kBadInput);
        CHECK(contains(check.ran.err, "a.txt is not a file of arrays"));
    }
    CHECK_FALSE(std::filesystem::exists(checked));
}

TEST_CASE_FIXTURE(OnDisk, "render --check: results that differ are drawn, said and no success") {
    const std::vector<Index> shape{1, 2, 2};
    const std::vector<float> q{1, 0, 0, 1}, even{0.5F, 0.5F, 0.5F, 0.5F};
    const std::vector<NpzEntry> inputs{{"Q", shape, q}, {"K", shape, q}, {"V", shape, q}};
    const std::string in = scratch.at("in.npz"), right = scratch.at("right.npz"),
                      wrong = scratch.at("wrong.npz"), picture = scratch.at("x.png");
    REQUIRE(write_npz(in, inputs));
    REQUIRE(write_npz(wrong, std::vector<NpzEntry>{{"weights", shape, even}}));
    succeeds({"trace", in, "-o", right});
    const std::string journal = scratch.at("j.jsonl");  // which goes where nothing is checked
    REQUIRE(write_file_atomically(journal, R"({"action":"set_workspace","workspace":"step"})"));
    for (const Arguments& more :
         {Arguments{}, Arguments{"--chrome"}, Arguments{"--film", "--replay", journal}}) {
        CHECK(render(joined({in, "--check", right, "-o", picture}, more)).ran.code ==
              cli::kSuccess);
        std::filesystem::remove(picture);
        const Rendered differs = render(joined({in, "--check", wrong, "-o", picture}, more));
        CHECK(differs.ran.code == cli::kFailure);
        CHECK(contains(differs.ran.err, "wrong.npz differs from float64"));
        CHECK(std::filesystem::exists(picture));
    }
}

TEST_CASE_FIXTURE(OnDisk, "what a session said when it was saved is no outcome of render") {
    for (const auto severity : {view::Severity::warning, view::Severity::error}) {
        view::AppState state = view::initial_state();
        state.message = {"There is no such thing.", severity};
        const std::string session = scratch.at("session.json");
        REQUIRE(write_file_atomically(session, view::session_to_json(state)));
        const std::string picture = scratch.at("out.png");
        const Rendered valid = render({session, "-o", picture});
        CAPTURE(valid.ran.err);
        CHECK(valid.ran.code == cli::kSuccess);
        CHECK(valid.shown.size() == 1);
        const Rendered wrong = render({session, "--select", "scores:99,0", "-o", picture});
        CHECK(wrong.ran.code == cli::kBadInput);
        CHECK(contains(wrong.ran.err, "no cell"));
    }
}

TEST_CASE("every workspace has a page with a picture, which the index of the docs lists") {
    const std::filesystem::path docs =
        std::filesystem::path(ATTN_TEST_DATA).parent_path().parent_path() / "docs";
    const std::string index = read_text_file(docs / "index.md").value();
    for (const view::WorkspaceInfo* workspace : view::workspaces()) {
        std::string name = view::lower_case(std::string(workspace->title));
        std::ranges::replace(name, ' ', '-');
        const std::string page = fmt::format("workspaces/{}.md", name);
        CAPTURE(page);
        CHECK(contains(index, fmt::format("[{}]({})", workspace->title, page)));
        REQUIRE(std::filesystem::exists(docs / page));
        const std::string text = read_text_file(docs / page).value();
        CHECK(text.starts_with(fmt::format("# {}\n", workspace->title)));
        CHECK(contains(text, fmt::format("](../images/{}-dark.png)", workspace->key)));
    }
}
