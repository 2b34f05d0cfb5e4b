#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace attn::view {

/// Keys by name, so that this layer knows no toolkit; the ui maps them. Digits and letters are consecutive.
enum class Key : std::uint8_t {
    none,
    left,
    right,
    up,
    down,
    home,
    end,
    page_up,
    page_down,
    space,
    enter,
    escape,
    tab,
    backspace,
    del,
    f1,
    f2,
    f3,
    f4,
    f5,
    f6,
    f12,
    comma,
    period,
    plus,
    minus,
    zero,
    digit1,
    digit2,
    digit3,
    digit4,
    digit5,
    digit6,
    digit7,
    digit8,
    digit9,
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
inline constexpr std::size_t kKeyCount = static_cast<std::size_t>(Key::z) + 1;

/// "PgUp"; "" for none.
std::string_view key_name(Key key);

struct Chord {
    Key key = Key::none;
    bool ctrl = false;
    bool shift = false;
    Key first = Key::none;  // is pressed before it, and let go
    bool operator==(const Chord&) const = default;
};
/// "Ctrl+Shift+Z"; "2 S": one after the other.
std::string to_string(const Chord& chord);

}  // namespace attn::view
