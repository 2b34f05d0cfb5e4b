// Work that is not saved while other documents are opened: what the end of the program asks for, and what is left for the next.

#include "app/autosave/autosaver.h"

#include <doctest/doctest.h>

#include <cstdlib>

#include "app/common/document/document.h"
#include "app/common/document/opened.h"
#include "app/window/session.h"
#include "core/io/file.h"
#include "tests/io/scratch.h"
#include "tests/view/sample_states.h"

using namespace attn;
using namespace attn::autosave;
using view::QuitAnswer;

namespace {

/// A window's state and what keeps its work, as the main loop joins them.
struct Window {
    view::AppState state = view::initial_state();
    Autosaver autosaver{true, [] {}};

    Window() { act(autosaver.begin(state)); }
    void act(const view::Actions& actions) {
        for (const view::Action& action : actions) {
            autosaver.foresee(action, state);
            view::apply(state, action);
            act(autosaver.follow(action, state, true));
        }
    }
    /// The document that is opened, as from a file.
    void opens(view::AppState other) {
        act({view::OpenFile{"other.json"}});
        view::Opened opened;
        opened.document = std::make_shared<const view::Document>(other.document());
        act({view::DocumentReady{"", "", std::make_shared<const view::Opened>(std::move(opened))}});
    }
    std::optional<view::UnsavedWork> unsaved() const { return autosaver.unsaved(state); }
    /// Resumes what another window left.
    void resume() {
        REQUIRE(state.recovery);
        const auto text = must_read(state.recovery->path);
        act(autosaver.answer(view::RecoveryAnswer::resume, state));
        view::Opened opened;
        auto session = view::session_from_json(text, "left", {});
        REQUIRE(session);
        opened.session = std::make_shared<const view::AppState>(*session);
        opened.document = session->shared_document();
        act({view::DocumentReady{"", "", std::make_shared<const view::Opened>(std::move(opened))}});
    }
    static std::string must_read(const std::string& path) {
        const auto text = read_text_file(path);
        REQUIRE(text);
        return *text;
    }
};

/// The places of a person, in a folder of the test.
struct Home {
    Scratch scratch;
    Home() {
        setenv("XDG_STATE_HOME", scratch.at("state").c_str(), 1);
        setenv("XDG_CONFIG_HOME", scratch.at("config").c_str(), 1);
    }
};

view::AppState river() { return view::preset_state("river-bank"); }
const view::Actions kCausal = {view::SetCausalMask{view::CausalChoice::top_left}};

}  // namespace

TEST_CASE("keep: work that another document took the place of is asked about, and offered later") {
    const Home home;
    {
        Window window;
        CHECK_FALSE(window.unsaved());
        window.act(kCausal);
        CHECK(window.unsaved()->shown);
        window.opens(river());
        CHECK(window.state.notice->text ==
              "Unsaved changes were replaced. Ctrl+Z brings them back.");
        REQUIRE(window.unsaved());
        CHECK_FALSE(window.unsaved()->shown);  // what is shown now has no changes
        CHECK(window.unsaved()->left == "“The cat sat down”");
        window.autosaver.end(window.state, QuitAnswer::keep);
    }
    Window next;
    next.resume();
    CHECK(next.state.document().title == "The cat sat down");
    CHECK(next.state.document().spec.mask.causal);
    CHECK(next.unsaved()->shown);
    next.autosaver.end(next.state, QuitAnswer::discard);
    CHECK_FALSE(Window().state.recovery);
}

TEST_CASE("keep: discarded at the end, nothing is left of any of them; saved, only of the others") {
    const Home home;
    for (const QuitAnswer answer : {QuitAnswer::discard, QuitAnswer::save}) {
        {
            Window window;
            window.act(kCausal);
            window.act({view::LoadPreset{"river-bank"}});
            window.act(kCausal);
            CHECK(window.unsaved()->shown);
            CHECK(window.unsaved()->left == "“The cat sat down”");
            window.autosaver.end(window.state, answer);
        }
        Window next;
        CHECK(next.state.recovery.has_value() == (answer == QuitAnswer::save));
        if (next.state.recovery) CHECK(contains(next.state.recovery->text, "The cat sat down"));
        next.autosaver.end(next.state, QuitAnswer::discard);
    }
}

TEST_CASE("keep: undo goes back to work that was left, which is then there once") {
    const Home home;
    Window window;
    window.act(kCausal);
    window.opens(river());
    window.act({view::Undo{}});
    REQUIRE(window.unsaved());
    CHECK(window.unsaved()->shown);
    CHECK(window.unsaved()->left.empty());
    window.act({view::Redo{}});
    CHECK_FALSE(window.unsaved()->shown);
    CHECK(window.unsaved()->left == "“The cat sat down”");
    window.act({view::Undo{}, view::SessionSaved{"a.json"}, view::Redo{}});
    CHECK_FALSE(window.unsaved());
}

TEST_CASE("keep: what is opened after resumed work has nothing unsaved of its own") {
    const Home home;
    {
        Window killed;
        killed.act(kCausal);
        killed.autosaver.end(killed.state, QuitAnswer::keep);
    }
    Window window;
    window.resume();
    CHECK(window.unsaved()->shown);
    window.opens(river());
    CHECK_FALSE(window.unsaved()->shown);
    CHECK(window.unsaved()->left == "“The cat sat down”");
}

TEST_CASE("keep: going through a tour's pages leaves no work") {
    const Home home;
    Window window;
    window.act({view::StartTour{""}, view::SetCausalMask{view::CausalChoice::top_left}});
    window.act({view::GoToTourPage{1}, view::SetScaling{false}, view::GoToTourPage{0}});
    const auto work = window.unsaved();
    CHECK((!work || work->left.empty()));
}
