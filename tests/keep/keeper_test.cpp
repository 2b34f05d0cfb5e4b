// What a window says of work that is not saved.

#include "app/keep/keeper.h"

#include <doctest/doctest.h>

#include <cstdlib>

#include "tests/io/scratch.h"
#include "tests/view/sample_states.h"

using namespace attn;
using namespace attn::keep;

namespace {

/// A window whose state lies in a folder of its own.
struct Window {
    Scratch scratch;
    view::AppState state = view::initial_state();
    std::optional<Keeper> keeper;

    Window() {
        setenv("XDG_STATE_HOME", scratch.path().c_str(), 1);
        setenv("XDG_CONFIG_HOME", scratch.path().c_str(), 1);
        keeper.emplace(true, [] {});
        keeper->begin(state);
    }
    ~Window() { keeper->end(state, false); }

    /// What is said beside.
    std::string act(const view::Action& action) {
        view::apply(state, action);
        for (const view::Action& answer : keeper->follow(action, state, true))
            if (const auto* said = answer.as<view::Notify>()) return said->message.words;
        return "";
    }
};

}  // namespace

TEST_CASE("keep: changes that another document takes the place of are spoken of, once") {
    Window window;
    CHECK(window.act(view::LoadPreset{"river-bank"}) == "");
    CHECK(window.act(view::SetScaling{false}) == "");
    CHECK(window.keeper->has_unsaved(window.state));
    CHECK(window.act(view::LoadPreset{"savings-bank"}) ==
          "What was changed before is not saved: Ctrl+Z goes back to it.");
    CHECK_FALSE(window.keeper->has_unsaved(window.state));
    CHECK(window.act(view::LoadPreset{"river-bank"}) == "");
    window.act(view::Undo{});
    CHECK(window.act(view::Undo{}) == "");
    CHECK(window.keeper->has_unsaved(window.state));
    CHECK(window.act(view::SessionSaved{"talk.json"}) == "");
    CHECK(window.act(view::LoadPreset{"savings-bank"}) == "");
}
