#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "app/view/actions.h"
#include "app/view/common/keys.h"

namespace attn::view {

// The one list of commands: keyboard, the F1 page and the Ctrl+K palette come from it.

struct Command {
    std::string words;  // "Scaling off", as found in the palette
    std::string group;  // "Step", "Saturation", "Large", "Window"
    Chord chord;        // Key::none: palette only
    Action action;      // what it does in the state it was listed for
    bool enabled = true;
    std::string why_not = {};  // why it cannot be done here; such a command is listed all the same
};

/// Every command that makes sense in this state.
std::vector<Command> commands(const AppState& state);
/// Those whose words hold every word of the query, best first.
std::vector<Command> find_commands(const AppState& state, std::string_view query);

}  // namespace attn::view
