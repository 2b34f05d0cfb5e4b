#include <algorithm>

#include "app/common/draw/imgui_compat.h"
#include "app/window/draw/panels.h"

namespace attn::ui {
namespace {

using view::Chord;
using view::Key;

bool repeats(Key key) {
    return key == Key::left || key == Key::right || key == Key::up || key == Key::down;
}

/// Keys that a focused text field needs for itself.
bool belongs_to_text(const Chord& chord) {
    constexpr Key kFunction[] = {Key::f1, Key::f2, Key::f3, Key::f4, Key::f5, Key::f6, Key::f12};
    constexpr Key kTextEditing[] = {Key::a, Key::c,    Key::v,     Key::x,    Key::y,
                                    Key::z, Key::left, Key::right, Key::home, Key::end};
    if (std::ranges::count(kFunction, chord.key) > 0) return false;
    return !chord.ctrl || std::ranges::count(kTextEditing, chord.key) > 0;
}

bool is_down(const Chord& chord, const ImGuiIO& io) {
    if (chord.key == Key::none || chord.ctrl != io.KeyCtrl || io.KeyAlt) return false;
    const bool shift_is_part_of_key = chord.key == Key::plus;
    if (!shift_is_part_of_key && chord.shift != io.KeyShift) return false;
    return is_pressed(chord.key, repeats(chord.key));
}

bool any_pressed() {
    for (std::size_t n = 1; n < view::kKeyCount; ++n)
        if (const auto key = static_cast<Key>(n); is_pressed(key, repeats(key))) return true;
    return false;
}

}  // namespace

void read_keyboard(const view::AppState& state, const FocusRing& ring, view::Actions& out) {
    const ImGuiIO& io = ImGui::GetIO();
    if (state.show_palette || state.glossary.shown || state.prompt)
        return;                     // they read their own keys
    if (ring.hands().list) return;  // so does a list
    if (!any_pressed()) return;
    const bool typing = ring.hands().typing;
    for (const view::Command& command : commands(state)) {
        const bool also = is_down(command.also, io);
        if (!command.enabled || !(also || is_down(command.chord, io))) continue;
        const Chord& chord = also ? command.also : command.chord;
        if (!chord.ctrl && ring.is_taken(chord.key)) continue;
        if (typing && belongs_to_text(chord)) continue;
        const bool page =
            command.action.is<view::ShowHelp>() || command.action.is<view::ShowAbout>();
        if ((state.show_help || state.show_about) && !page) continue;
        out.push_back(command.action);
        return;
    }
}

}  // namespace attn::ui
