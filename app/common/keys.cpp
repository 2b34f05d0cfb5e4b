#include "app/common/keys.h"

#include <array>

namespace attn::view {
namespace {

struct Row {
    Key key;
    std::string_view name;
};

// clang-format off
constexpr std::array<Row, kKeyCount> kRows{{
    {Key::none, ""}, {Key::left, "←"}, {Key::right, "→"}, {Key::up, "↑"}, {Key::down, "↓"}, {Key::home, "Home"}, {Key::end, "End"},
    {Key::page_up, "PgUp"}, {Key::page_down, "PgDn"}, {Key::space, "Space"}, {Key::enter, "Enter"}, {Key::escape, "Esc"},
    {Key::tab, "Tab"}, {Key::backspace, "Backspace"}, {Key::del, "Delete"}, {Key::f1, "F1"}, {Key::f2, "F2"}, {Key::f3, "F3"}, {Key::f4, "F4"}, {Key::f5, "F5"}, {Key::f6, "F6"}, {Key::f12, "F12"},
    {Key::comma, ","}, {Key::period, "."}, {Key::plus, "+"}, {Key::minus, "−"},
    {Key::zero, "0"}, {Key::digit1, "1"}, {Key::digit2, "2"}, {Key::digit3, "3"}, {Key::digit4, "4"},
    {Key::digit5, "5"}, {Key::digit6, "6"}, {Key::digit7, "7"}, {Key::digit8, "8"}, {Key::digit9, "9"},
    {Key::a, "A"}, {Key::b, "B"}, {Key::c, "C"}, {Key::d, "D"}, {Key::e, "E"}, {Key::f, "F"}, {Key::g, "G"},
    {Key::h, "H"}, {Key::i, "I"}, {Key::j, "J"}, {Key::k, "K"}, {Key::l, "L"}, {Key::m, "M"}, {Key::n, "N"},
    {Key::o, "O"}, {Key::p, "P"}, {Key::q, "Q"}, {Key::r, "R"}, {Key::s, "S"}, {Key::t, "T"}, {Key::u, "U"},
    {Key::v, "V"}, {Key::w, "W"}, {Key::x, "X"}, {Key::y, "Y"}, {Key::z, "Z"},
}};
// clang-format on

/// A row for each key, in the order of Key, no name twice.
constexpr bool is_whole() {
    for (std::size_t n = 0; n < kKeyCount; ++n) {
        if (kRows[n].key != static_cast<Key>(n) || kRows[n].name.empty() != (n == 0)) return false;
        for (std::size_t before = 0; before < n; ++before)
            if (kRows[before].name == kRows[n].name) return false;
    }
    return true;
}
static_assert(is_whole());

}  // namespace

std::string_view key_name(Key key) { return kRows[static_cast<std::size_t>(key)].name; }

std::string to_string(const Chord& chord) {
    if (chord.key == Key::none) return {};
    std::string text(key_name(chord.first));
    if (!text.empty()) text += ' ';
    if (chord.ctrl) text += "Ctrl+";
    if (chord.shift) text += "Shift+";
    return text += key_name(chord.key);
}

}  // namespace attn::view
