#include "app/ui/common/imgui_compat.h"

#include <imgui_internal.h>

#include <array>
#include <utility>

namespace attn::ui {
namespace {

using view::Key;

#if IMGUI_VERSION_NUM < 18700
// Keys are indices into io.KeysDown, which the GLFW backend fills by GLFW's key codes: letters and
// digits by their ASCII capitals.
using NativeKey = int;
constexpr NativeKey kLetterA = 'A';
constexpr std::array<std::pair<Key, NativeKey>, 19> kKeys{{
    {Key::left, 263}, {Key::right, 262}, {Key::up, 265},    {Key::down, 264},  {Key::home, 268},
    {Key::end, 269},  {Key::space, 32},  {Key::enter, 257}, {Key::enter, 335}, {Key::escape, 256},
    {Key::tab, 258},  {Key::f1, 290},    {Key::f12, 301},   {Key::comma, 44},  {Key::period, 46},
    {Key::plus, '='}, {Key::minus, '-'}, {Key::plus, 334},  {Key::minus, 333},
}};
constexpr std::array<std::pair<Key, NativeKey>, 4> kDigits{
    {{Key::zero, '0'}, {Key::digit1, '1'}, {Key::digit2, '2'}, {Key::digit3, '3'}}};
#else
using NativeKey = ImGuiKey;
constexpr NativeKey kLetterA = ImGuiKey_A;
constexpr std::array<std::pair<Key, NativeKey>, 19> kKeys{{
    {Key::left, ImGuiKey_LeftArrow},
    {Key::right, ImGuiKey_RightArrow},
    {Key::up, ImGuiKey_UpArrow},
    {Key::down, ImGuiKey_DownArrow},
    {Key::home, ImGuiKey_Home},
    {Key::end, ImGuiKey_End},
    {Key::space, ImGuiKey_Space},
    {Key::enter, ImGuiKey_Enter},
    {Key::enter, ImGuiKey_KeypadEnter},
    {Key::escape, ImGuiKey_Escape},
    {Key::tab, ImGuiKey_Tab},
    {Key::f1, ImGuiKey_F1},
    {Key::f12, ImGuiKey_F12},
    {Key::comma, ImGuiKey_Comma},
    {Key::period, ImGuiKey_Period},
    {Key::plus, ImGuiKey_Equal},
    {Key::minus, ImGuiKey_Minus},
    {Key::plus, ImGuiKey_KeypadAdd},
    {Key::minus, ImGuiKey_KeypadSubtract},
}};
constexpr std::array<std::pair<Key, NativeKey>, 4> kDigits{{{Key::zero, ImGuiKey_0},
                                                            {Key::digit1, ImGuiKey_1},
                                                            {Key::digit2, ImGuiKey_2},
                                                            {Key::digit3, ImGuiKey_3}}};
#endif

template <class Table>
bool any_pressed(const Table& table, Key key, bool repeat) {
    for (const auto& [name, native] : table)
        if (name == key && ImGui::IsKeyPressed(native, repeat)) return true;
    return false;
}

}  // namespace

void push_font(const Font& font) {
#if IMGUI_VERSION_NUM < 19200
    ImGui::PushFont(font.imgui);
#else
    ImGui::PushFont(font.imgui, font.px);
#endif
}

void pop_font() { ImGui::PopFont(); }

int native_key(Key key) {
    if (key >= Key::a && key <= Key::z)
        return kLetterA + static_cast<int>(key) - static_cast<int>(Key::a);
    for (const auto& [name, native] : kKeys)
        if (name == key) return native;
    for (const auto& [name, native] : kDigits)
        if (name == key) return native;
    return 0;
}

bool is_pressed(Key key, bool repeat) {
    if (key >= Key::a && key <= Key::z)
        return ImGui::IsKeyPressed(static_cast<NativeKey>(native_key(key)), repeat);
    return any_pressed(kKeys, key, repeat) || any_pressed(kDigits, key, repeat);
}

bool is_typed_into(const char* id) { return ImGui::TempInputIsActive(ImGui::GetID(id)); }

ImTextureID texture_id(std::uint64_t name) {
    return (ImTextureID)(static_cast<std::intptr_t>(name));  // a pointer in 1.86, a number in 1.92
}

#if IMGUI_VERSION_NUM < 19200
void pretend_renderer() {}
void pretend_fonts() {
    unsigned char* pixels = nullptr;
    int width = 0;
    int height = 0;
    ImGui::GetIO().Fonts->GetTexDataAsAlpha8(&pixels, &width, &height);
    ImGui::GetIO().Fonts->SetTexID(texture_id(1));
}
void pretend_textures() {}
#else
void pretend_renderer() { ImGui::GetIO().BackendFlags |= ImGuiBackendFlags_RendererHasTextures; }
void pretend_fonts() {}
void pretend_textures() {
    for (ImTextureData* texture : ImGui::GetPlatformIO().Textures) {
        if (texture->Status == ImTextureStatus_OK) continue;
        const bool gone = texture->Status == ImTextureStatus_WantDestroy;
        texture->SetTexID(gone ? ImTextureID_Invalid : texture_id(1));
        texture->SetStatus(gone ? ImTextureStatus_Destroyed : ImTextureStatus_OK);
    }
}
#endif

ImVec2 place_text(ImVec2 size) {
    const ImGuiWindow& window = *ImGui::GetCurrentWindow();
    const ImVec2 at{window.DC.CursorPos.x,
                    window.DC.CursorPos.y + window.DC.CurrLineTextBaseOffset};
    ImGui::ItemSize(size, 0.0F);
    ImGui::ItemAdd({at, {at.x + size.x, at.y + size.y}}, 0);
    return at;
}

}  // namespace attn::ui
