#include "app/gl/window_events.h"

#include <emscripten.h>
#include <imgui.h>

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

namespace attn::gl {
namespace {

struct Inbox {
    bool news = true;
    std::vector<std::string> dropped;
};

Inbox& inbox() {
    static Inbox inbox;
    return inbox;
}

struct Named {
    std::string_view code;  // of KeyboardEvent
    ImGuiKey key;
};
constexpr Named kKeys[] = {
    {"ArrowLeft", ImGuiKey_LeftArrow},
    {"ArrowRight", ImGuiKey_RightArrow},
    {"ArrowUp", ImGuiKey_UpArrow},
    {"ArrowDown", ImGuiKey_DownArrow},
    {"Tab", ImGuiKey_Tab},
    {"PageUp", ImGuiKey_PageUp},
    {"PageDown", ImGuiKey_PageDown},
    {"Home", ImGuiKey_Home},
    {"End", ImGuiKey_End},
    {"Insert", ImGuiKey_Insert},
    {"Delete", ImGuiKey_Delete},
    {"Backspace", ImGuiKey_Backspace},
    {"Space", ImGuiKey_Space},
    {"Enter", ImGuiKey_Enter},
    {"Escape", ImGuiKey_Escape},
    {"NumpadEnter", ImGuiKey_KeypadEnter},
    {"NumpadAdd", ImGuiKey_KeypadAdd},
    {"NumpadSubtract", ImGuiKey_KeypadSubtract},
    {"Quote", ImGuiKey_Apostrophe},
    {"Comma", ImGuiKey_Comma},
    {"Minus", ImGuiKey_Minus},
    {"Period", ImGuiKey_Period},
    {"Slash", ImGuiKey_Slash},
    {"Semicolon", ImGuiKey_Semicolon},
    {"Equal", ImGuiKey_Equal},
    {"BracketLeft", ImGuiKey_LeftBracket},
    {"Backslash", ImGuiKey_Backslash},
    {"BracketRight", ImGuiKey_RightBracket},
    {"Backquote", ImGuiKey_GraveAccent},
    {"ShiftLeft", ImGuiKey_LeftShift},
    {"ShiftRight", ImGuiKey_RightShift},
    {"ControlLeft", ImGuiKey_LeftCtrl},
    {"ControlRight", ImGuiKey_RightCtrl},
    {"AltLeft", ImGuiKey_LeftAlt},
    {"AltRight", ImGuiKey_RightAlt},
};

ImGuiKey after(ImGuiKey first, int n) { return static_cast<ImGuiKey>(first + n); }

/// Letters by what is printed on them (`key`), as GLFW names them by the layout too; the rest by place.
ImGuiKey key_of(std::string_view code, std::string_view key) {
    if (key.size() == 1) {
        const char c = key.front();
        if (c >= 'a' && c <= 'z') return after(ImGuiKey_A, c - 'a');
        if (c >= 'A' && c <= 'Z') return after(ImGuiKey_A, c - 'A');
    }
    const std::string_view last = code.substr(code.empty() ? 0 : code.size() - 1);
    if (code.starts_with("Digit")) return after(ImGuiKey_0, last.front() - '0');
    if (code.starts_with("Numpad") && code.size() == 7)
        return after(ImGuiKey_Keypad0, last.front() - '0');
    if (code.starts_with("F") && (code.size() == 2 || code.size() == 3)) {
        int n = 0;
        for (const char c : code.substr(1)) n = 10 * n + (c - '0');
        return n >= 1 && n <= 12 ? after(ImGuiKey_F1, n - 1) : ImGuiKey_None;
    }
    const auto* const found = std::ranges::find(kKeys, code, &Named::code);
    return found == std::end(kKeys) ? ImGuiKey_None : found->key;
}

/// Of the one window; nullptr before it is there.
ImGuiIO* news() {
    inbox().news = true;
    return ImGui::GetCurrentContext() != nullptr ? &ImGui::GetIO() : nullptr;
}

}  // namespace

// Called by page.js. Lengths are pixels of the canvas.

extern "C" {

EMSCRIPTEN_KEEPALIVE void attn_pointer(double x, double y) {
    if (ImGuiIO* const io = news())
        io->AddMousePosEvent(static_cast<float>(x), static_cast<float>(y));
}
EMSCRIPTEN_KEEPALIVE void attn_leave() {
    if (ImGuiIO* const io = news()) io->AddMousePosEvent(-FLT_MAX, -FLT_MAX);
}
EMSCRIPTEN_KEEPALIVE void attn_button(int button, int down) {
    if (ImGuiIO* const io = news()) io->AddMouseButtonEvent(button, down != 0);
}
EMSCRIPTEN_KEEPALIVE void attn_wheel(double x, double y) {
    if (ImGuiIO* const io = news())
        io->AddMouseWheelEvent(static_cast<float>(x), static_cast<float>(y));
}
EMSCRIPTEN_KEEPALIVE void attn_key(const char* code, const char* key, int down, int modifiers) {
    ImGuiIO* const io = news();
    if (io == nullptr) return;
    io->AddKeyEvent(ImGuiMod_Ctrl, (modifiers & 1) != 0);
    io->AddKeyEvent(ImGuiMod_Shift, (modifiers & 2) != 0);
    io->AddKeyEvent(ImGuiMod_Alt, (modifiers & 4) != 0);
    if (const ImGuiKey named = key_of(code, key); named != ImGuiKey_None)
        io->AddKeyEvent(named, down != 0);
}
EMSCRIPTEN_KEEPALIVE void attn_text(const char* utf8) {
    if (ImGuiIO* const io = news()) io->AddInputCharactersUTF8(utf8);
}
EMSCRIPTEN_KEEPALIVE void attn_focus(int focused) {
    if (ImGuiIO* const io = news()) io->AddFocusEvent(focused != 0);
}
EMSCRIPTEN_KEEPALIVE void attn_dropped(const char* path) {
    inbox().dropped.emplace_back(path);
    inbox().news = true;
}
EMSCRIPTEN_KEEPALIVE void attn_changed() { inbox().news = true; }
}

bool WindowEvents::take_news() { return std::exchange(inbox().news, false); }
std::vector<std::string> WindowEvents::take_dropped() { return std::exchange(inbox().dropped, {}); }

}  // namespace attn::gl
