#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "app/view/actions.h"
#include "app/view/common/glossary.h"
#include "app/view/common/keys.h"

namespace attn::view {

// The one list of commands: keyboard, the F1 page and the Ctrl+K palette come from it. A workspace brings its own
// (workspaces.h), the document its own (document/commands.h), the window these.

struct Command {
    std::string words;  // "Scaling off", as found in the palette
    std::string group;  // "Step", "Saturation", "Large", "Document", "Window"
    Chord chord;        // Key::none: palette only
    Action action;      // what it does in the state it was listed for
    bool enabled = true;
    std::string why_not = {};  // why it cannot be done here; such a command is listed all the same
    Chord also = {};           // another chord for it
};
/// "Ctrl+Y, Ctrl+Shift+Z"; "" where there is none.
std::string keys_of(const Command& command);

inline Chord plain(Key key) { return {key, false, false}; }
inline Chord ctrl(Key key) { return {key, true, false}; }
inline Chord shift(Key key) { return {key, false, true}; }

/// Adds commands of one group to a list. Where there is nothing that they act on, none of them can be done.
struct CommandAdder {
    std::vector<Command>& list;
    const char* group;
    bool there = true;

    void operator()(std::string words, Chord chord, Action action, bool enabled = true,
                    std::string why_not = {}, Chord also = {}) const {
        list.push_back({std::move(words), group, chord, std::move(action), there && enabled,
                        std::move(why_not), also});
    }
    void operator()(std::string words, Key key, Action action, bool enabled = true,
                    std::string why_not = {}) const {
        (*this)(std::move(words), plain(key), std::move(action), enabled, std::move(why_not));
    }
};

/// Shows or hides the inspector; what the window's width does by itself is not held on to.
Action inspector_action(const AppState& state, bool shown);
/// Every command that makes sense in this state.
std::vector<Command> commands(const AppState& state);
/// Those whose words hold every word of the query, best first.
std::vector<Command> find_commands(const AppState& state, std::string_view query);
/// What the glossary lists: of what is looked at first.
std::vector<const GlossaryTerm*> found_terms(const AppState& state);
/// "Step, stage weights": where it is seen.
std::string place_words(const AppState& state, const GlossaryTerm& term);
/// Closes the glossary and goes there.
Actions chosen(const GlossaryTerm& term);
/// What choosing a command in the palette does: closes it, then the command, or why it cannot be done.
Actions chosen(const Command& command);

}  // namespace attn::view
