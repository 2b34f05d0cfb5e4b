// Presenting: the canvas alone, as large as the window is, whatever scale was set.

#include "app/common/workspace.h"
#include "tests/view/view_test.h"

using namespace attn::view;

TEST_CASE("presenting, a window is 540 design units high, and the scale that was set is kept") {
    AppState state = after(initial_state(), {SetUiScale{1.5}});
    for (const double height : {300.0, 720.0, 1080.0, 2160.0})
        CHECK(shown_scale(state, height) == 1.5);
    CHECK(shown_scale(acted(state, {SetPresenter{true}}), 300.0) == 1.0);
    CHECK(shown_scale(state, 720.0) == 1.25);
    CHECK(shown_scale(state, 1000.0) == 1.75);
    CHECK(shown_scale(state, 1080.0) == 2.0);
    CHECK(shown_scale(state, 2160.0) == 2.0);
    CHECK(state.ui_scale == 1.5);
    CHECK(shown_scale(acted(state, {SetPresenter{false}}), 720.0) == 1.5);
}

TEST_CASE("P presents in every workspace and goes back") {
    for (const WorkspaceInfo* workspace : view::workspaces()) {
        const AppState state = after(initial_state(), {go_to(*workspace)});
        const AppState presenting = pressed(state, plain(Key::p));
        CHECK(presenting.presenter);
        CHECK(!pressed(presenting, plain(Key::p)).presenter);
    }
}

TEST_CASE("Escape closes what is on top, then stops presenting; the selection stays") {
    const CellRef cell{Stage::x, 1, 1};
    AppState state = after(initial_state(), {SelectCell{cell}, SetPresenter{true}, ShowHelp{true}});
    state = pressed(state, plain(Key::escape));
    CHECK(!state.show_help);
    CHECK(state.presenter);
    state = pressed(state, plain(Key::escape));
    CHECK(!state.presenter);
    CHECK(state.selected == cell);
    const auto list = commands(state);
    CHECK_FALSE(one_of(list, plain(Key::escape), &Command::chord).enabled);
    CHECK_FALSE(one_of(list, plain(Key::escape), &Command::chord).text.empty());
    CHECK(after(state, {one_of(list, std::string("Reset the selection"), &Command::text).action})
              .selected == CellRef{Stage::x, 0, 0});
}

TEST_CASE("a session and a journal keep that it presents") {
    const AppState state = after(initial_state(), {SetPresenter{true}});
    CHECK(reopened(state).presenter);
    CHECK(!session_from_json(session_to_json(initial_state()), "s")->presenter);
    CHECK(after(initial_state(), {through_journal(SetPresenter{true})}).presenter);
}
