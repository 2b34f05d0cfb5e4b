#pragma once

#include <string>
#include <vector>

#include "app/common/action.h"
#include "app/common/keys.h"

namespace attn::view {

/// A command with a key, on the F1 page and in the palette (Ctrl+K), which come from one list: a workspace brings its
/// own commands (workspace.h), the document its own, the window the rest (window/commands.h).
struct Command {
    std::string text;   // "Scaling off", as found in the palette
    std::string group;  // "Step", "Saturation", "Large", "Document", "Window"
    Chord chord;        // Key::none: palette only
    Action action;      // its effect in the state that it was listed for
    bool enabled = true;
    std::string why_not = {};  // why it is not possible here; the command is listed all the same
    Chord also = {};           // another chord for it
};
/// "Ctrl+Y, Ctrl+Shift+Z"; "" without a key.
std::string keys_of(const Command& command);

inline Chord plain(Key key) { return {key, false, false}; }
inline Chord ctrl(Key key) { return {key, true, false}; }
inline Chord shift(Key key) { return {key, false, true}; }

/// Adds commands of one group to a list. Where there is nothing that they act on, none of them can be done.
struct CommandAdder {
    std::vector<Command>& list;
    const char* group;
    bool there = true;

    void operator()(std::string text, Chord chord, Action action, bool enabled = true,
                    std::string why_not = {}, Chord also = {}) const {
        list.push_back({std::move(text), group, chord, std::move(action), there && enabled,
                        std::move(why_not), also});
    }
    void operator()(std::string text, Key key, Action action, bool enabled = true,
                    std::string why_not = {}) const {
        (*this)(std::move(text), plain(key), std::move(action), enabled, std::move(why_not));
    }
};

}  // namespace attn::view
