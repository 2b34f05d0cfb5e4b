// attnscope lecture: the list, the notes, when it is the window, and what is refused; a state in place of a file.
#include "app/window/lecture.h"
#include "app/cli/desktop_options.h"
#include "app/common/actions.h"
#include "app/common/document/actions.h"
#include "app/common/document/document.h"
#include "app/window/state_text.h"
#include "core/io/file.h"
#include "tests/cli/start.h"

using namespace attn;

namespace {

cli::DesktopOptions window_of(const Arguments& arguments) {
    std::ostringstream output;
    CHECK(command(arguments).code == -1);
    auto options = cli::parse_desktop(arguments, {output, output});
    REQUIRE(std::holds_alternative<cli::DesktopOptions>(options));
    return std::get<cli::DesktopOptions>(options);
}

std::string a_state() {
    view::AppState state = view::initial_state();
    view::apply(state, view::SetSentence{"a b c"});
    view::apply(state, view::SetWorkspace{"masks"});
    return view::state_to_text(state);
}

}  // namespace

TEST_CASE("lecture: notes go to standard output or a file, the name alone is the window") {
    const Scratch scratch;
    const std::string path = scratch.at("notes.md");
    const std::string notes = succeeds({"lecture", "attention", "--notes"}).out;
    CHECK(notes.starts_with("# "));
    CHECK(succeeds({"lecture", "attention", "--notes", "-o", path}).out.empty());
    CHECK(read_text_file(path).value() == notes);
    CHECK(contains(succeeds({"lecture", "--list"}).out, "attention "));
    CHECK(window_of({"lecture", "attention", "--theme", "light"}).start.lecture == "attention");
    const auto start = read_start(window_of({"lecture", "attention"}).start);
    REQUIRE(start);
    view::AppState state = start->state;
    for (const view::Action& action : start->actions) view::apply(state, action);
    CHECK(state.presenter);
    CHECK(view::lecture_look(state).on);
}

TEST_CASE("lecture: what cannot be is refused by name") {
    check_refused({"lecture", "--notes"}, "no lecture was named; expected ");
    check_refused({"lecture"}, "no lecture was named; expected ");
    check_refused({"lecture", "atention", "--notes"}, "no lecture 'atention'; did you mean");
    check_refused({"lecture", "attention", "--notes", "-o", "x.pdf"}, "ends in .md");
    check_refused({"lecture", "attention", "--list"}, "expected only --list");
    CHECK(contains(read_start(window_of({"lecture", "attic"}).start).error().text(),
                   "there is no lecture 'attic'"));
}

TEST_CASE("a state that was copied opens in place of a file; a broken one is bad input") {
    const auto start = read_start(window_of({a_state()}).start);
    REQUIRE_MESSAGE(start, (start ? std::string() : start.error().text()));
    view::AppState state = start->state;
    for (const view::Action& action : start->actions) view::apply(state, action);
    CHECK(state.workspace == "masks");
    CHECK(state.document().sentence == "a b c");
    CHECK(state.session_file.empty());
    const Scratch scratch;
    const std::string cut = a_state().substr(0, 40);
    check_refused({"render", cut, "-o", scratch.at("x.png")},
                  "the state that was pasted: a character");
    check_refused({"render", "attnscope:" + std::string(20000, 'A'), "-o", scratch.at("x.png")},
                  "the state that was pasted: ");
}
