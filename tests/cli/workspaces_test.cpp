// Whatever the command line lists of the workspaces comes from their table: one that only this test knows is there too.
#include "app/cli/studio.h"
#include "app/common/workspace.h"
#include "attn_tree.h"
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
        return std::string("a picture");
    }

  private:
    std::vector<std::string>& shown_;
};

struct Rendered {
    Ran ran;
    std::vector<std::string> shown;
};

Rendered render(std::vector<std::string> words) {
    Rendered rendered;
    std::ostringstream out;
    std::ostringstream err;
    const auto open = [&](const auto&) -> Result<std::unique_ptr<cli::Studio>> {
        return std::make_unique<Sketchbook>(rendered.shown);
    };
    words.insert(words.begin(), "render");
    const auto code =
        cli::run(words, {out, err, open, attn::backends(), test::workspaces_with_probe()});
    rendered.ran = {code.value_or(-1), out.str(), err.str()};
    return rendered;
}

}  // namespace

TEST_CASE("--workspace takes the key of every workspace, and an error lists them") {
    const Scratch scratch;
    const std::string picture = (scratch / "x.png").string();
    const Rendered good = render({"--workspace", "probe", "--chrome", "-o", picture});
    CAPTURE(good.ran.err);
    CHECK(good.ran.code == cli::kSuccess);
    CHECK(good.shown == std::vector<std::string>{"probe 1"});
    const Rendered bad = render({"--workspace", "attic", "-o", picture});
    CHECK(bad.ran.code == cli::kBadInput);
    CHECK(says(bad.ran.err,
               "'attic'; expected " + view::workspace_keys(test::workspaces_with_probe())));
}

TEST_CASE("render --all draws every shot of every workspace in both themes") {
    const Scratch scratch;
    const Rendered all = render({"--all", "-o", (scratch / "out").string()});
    CAPTURE(all.ran.err);
    REQUIRE(all.ran.code == cli::kSuccess);
    for (const view::WorkspaceInfo* workspace : test::workspaces_with_probe())
        for (const view::Shot& shot : workspace->shots())
            for (const char* theme : {"dark", "light"}) {
                const std::string name = std::string(workspace->key) +
                                         (shot.name.empty() ? "" : "-") + std::string(shot.name) +
                                         "-" + theme + ".png";
                CAPTURE(name);
                CHECK(says(all.ran.out, name));
                CHECK(std::filesystem::exists(scratch / "out" / name));
            }
    CHECK(std::ranges::count(all.shown, "probe 5") == 2);
}

TEST_CASE("the README shows a picture of every workspace") {
    const std::filesystem::path root =
        std::filesystem::path(ATTN_TEST_DATA).parent_path().parent_path();
    const std::string readme = read_text_file(root / "README.md").value();
    for (const view::WorkspaceInfo* workspace : view::workspaces()) {
        const std::string picture = "docs/images/" + std::string(workspace->key) + "-dark.png";
        CAPTURE(picture);
        CHECK(says(readme, picture));
        CHECK(std::filesystem::exists(root / picture));
    }
}
