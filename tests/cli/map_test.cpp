// The Large workspace from the command line: start options and files.
#include "app/cli/desktop_options.h"
#include "app/common/document/document.h"
#include "app/common/map/state.h"
#include "app/common/workspace.h"
#include "app/jobs/jobs.h"
#include "app/window/requests.h"
#include "tests/cli/command.h"
#include "tests/support/results.h"

using namespace attn;

namespace {

/// What the words of the window's command line ask for; an error with the sentence of whoever refused them.
Result<cli::Start> start_of(const std::vector<std::string>& arguments) {
    std::ostringstream out;
    std::ostringstream err;
    const auto options = cli::parse_desktop(arguments, {out, err});
    if (std::holds_alternative<int>(options)) return bad_input(err.str());
    return cli::read_start(std::get<cli::DesktopOptions>(options).start, {out, err});
}

view::AppState started(const std::vector<std::string>& arguments) {
    auto start = start_of(arguments);
    if (!start) MESSAGE(start.error().text());
    REQUIRE(start);
    CHECK(start->replay.empty());
    const auto message = [](const view::AppState& state) -> Result<void> {
        if (state.message.severity == view::Severity::info) return {};
        return bad_input(state.message.text);
    };
    jobs::Jobs jobs(files::opener(attn::backends()), [] {});
    CHECK(view::play(
        start->state, start->actions, [&] { jobs::answer(start->state, jobs); }, message));
    return start->state;
}

std::string start_fault(const std::vector<std::string>& arguments) {
    return must_fail(start_of(arguments)).text();
}

Index tokens_of(const view::AppState& state) {
    return std::get<large::PlantedSpec>(state.document().origin).tokens;
}

}  // namespace

TEST_CASE("the window starts with a file of tensors, a generated matrix, at a cell") {
    const view::DocumentOrigin qkv = view::FileOrigin{golden("qkv.npz")};
    const view::AppState file = started({golden("qkv.npz")});
    CHECK(file.workspace == "step");  // it has values, and few of them
    CHECK(file.document().origin == qkv);
    const view::AppState map = started({"--map", golden("qkv.npz"), "--go-to", "2,1"});
    CHECK(map.workspace == "large");
    CHECK(map.document().origin == qkv);
    CHECK(view::map_look(map).selected == large::Cell{2, 1});
    const view::AppState planted = started({"--planted", "4096", "--go-to", "4000,5"});
    CHECK(planted.workspace == "large");
    CHECK(tokens_of(planted) == 4096);
    CHECK(view::map_look(planted).selected == large::Cell{4000, 5});
    const view::AppState first = started({"--workspace", "large"});
    CHECK(first.workspace == "large");
    CHECK(first.document().title == view::initial_state().document().title);
    const view::AppState there = started({"--go-to", "3"});
    CHECK(there.workspace == "large");
    CHECK(view::map_look(there).selected == large::Cell{3, 3});
    CHECK(tokens_of(started({"--workspace", "large", "--planted", "300"})) == 300);
}

TEST_CASE("a file is open before the first frame, what the reader notes is a warning") {
    const auto start = must(start_of({golden("qkv.npz")}));
    REQUIRE(start.warnings.size() == 1);
    CHECK(contains(start.warnings.front().text, golden("qkv.npz")));
    CHECK(contains(start.warnings.front().text, "scale=none"));
    for (const view::Action& action : start.actions) CHECK_FALSE(view::is_awaited(action));
}

TEST_CASE("start options that cannot be carried out name what was expected") {
    CHECK(contains(start_fault({"--planted", "10"}),
                   "--planted is 10; expected a whole number from 256 to 1048576"));
    CHECK(contains(start_fault({"--planted", "2000000"}), "256 to 1048576"));
    CHECK(contains(start_fault({"--planted", "512", "--go-to", "here"}),
                   "--go-to is 'here'; expected a query and a key"));
    CHECK(
        contains(start_fault({golden("qkv.npz"), "--planted", "512"}), "expected one of the two"));
    CHECK(contains(start_fault({"--workspace", "huge"}),
                   "--workspace is 'huge'; expected " + view::workspace_keys(view::workspaces())));
}

TEST_CASE("a file that is no matrix is refused by name") {
    CHECK(contains(start_fault({"/nowhere/at-all.npz"}), "/nowhere/at-all.npz: No such file"));
    for (const char* name : {"structured.npz", "complex.npz"})
        for (const char* option : {"--map", "--session"})
            CHECK(contains(start_fault({option, golden(name)}), golden(name)));
    // Without a workspace it opens as a table of its arrays.
    const auto table = must(start_of({golden("complex.npz")}));
}
