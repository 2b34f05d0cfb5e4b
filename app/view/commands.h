#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "app/view/actions.h"

namespace attn::view {

// The one list of commands: keyboard, the F1 page and the Ctrl+K palette come from it.

/// Keys by name, so that this layer knows no toolkit; the ui maps them.
enum class Key : std::uint8_t {
    none,
    left,
    right,
    up,
    down,
    home,
    end,
    space,
    enter,
    escape,
    tab,
    f1,
    f12,
    comma,
    period,
    plus,
    minus,
    zero,
    digit1,
    digit2,
    digit3,
    a,
    b,
    c,
    d,
    e,
    f,
    g,
    h,
    i,
    j,
    k,
    l,
    m,
    n,
    o,
    p,
    q,
    r,
    s,
    t,
    u,
    v,
    w,
    x,
    y,
    z
};
struct Chord {
    Key key = Key::none;
    bool ctrl = false;
    bool shift = false;
    bool operator==(const Chord&) const = default;
};
/// "Ctrl+Shift+Z".
std::string to_string(const Chord& chord);

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
