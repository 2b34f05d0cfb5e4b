#pragma once

// What the tests of this folder begin with: states, the window's doors to them, the Step workspace; round trips.

#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "app/common/format.h"
#include "app/common/sheet.h"
#include "app/window/commands.h"
#include "app/window/journal.h"
#include "app/window/requests.h"
#include "app/window/session.h"
#include "app/workspaces/step/actions.h"
#include "app/workspaces/step/view.h"
#include "tests/view/sample_states.h"

namespace attn::view {

/// What a model that is called fake makes of a text: one token a word, seeded weights.
inline Result<Document> fake_document(const ModelOrigin& model) {
    auto made = make_document(model.text, 8, 4, 2, 1, {});
    if (!made) return made;
    made->origin = model;
    made->sentence.clear();
    made->name = made->title = "fake";
    made->note = "trained weights";
    return made;
}

/// The first of `list` whose `member` is `value`, which there must be.
template <class List, class Value, class Member>
const auto& one_of(const List& list, const Value& value, Member member) {
    const auto found = std::ranges::find(list, value, member);
    REQUIRE(found != list.end());
    return *found;
}

/// What a key does, by the list of commands.
inline AppState pressed(const AppState& state, const Chord& chord) {
    const auto list = commands(state);
    const auto found = std::ranges::find_if(list, [&](const Command& command) {
        return command.chord == chord || command.also == chord;
    });
    REQUIRE(found != list.end());
    CHECK(found->enabled);
    return after(state, {found->action});
}

/// The state that a session of `state` gives.
inline AppState reopened(const AppState& state, const SessionContext& context = {}) {
    const auto read = session_from_json(session_to_json(state), "session", context);
    REQUIRE_MESSAGE(read.has_value(), (read ? std::string() : read.error().text()));
    return *read;
}

/// The same; its own session is the same text.
inline AppState reopened_alike(const AppState& state, const SessionContext& context = {}) {
    AppState read = reopened(state, context);
    CHECK(session_to_json(read) == session_to_json(state));
    return read;
}

/// Why a session is refused.
inline std::string session_fault(const std::string& text, const SessionContext& context = {}) {
    const auto read = session_from_json(text, "session", context);
    REQUIRE_FALSE(read);
    return read.error().text();
}

/// What a journal line gives of an action.
inline Action through_journal(const Action& action) {
    const auto line = to_journal(action);
    REQUIRE(line);
    const auto read = from_journal(*line);
    REQUIRE(read);
    return *read;
}

inline Actions through_journal(const Actions& actions) {
    Actions again;
    for (const Action& action : actions) again.push_back(through_journal(action));
    return again;
}

/// `text` with one part of it, which must be there, replaced; the first that comes after `mark`.
inline std::string replaced(std::string text, std::string_view from, std::string_view to,
                            std::string_view mark = "") {
    const auto at = text.find(from, text.find(mark));
    REQUIRE(at != std::string::npos);
    return text.replace(at, from.size(), to);
}

}  // namespace attn::view
