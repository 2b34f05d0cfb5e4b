#include "app/common/draw/imgui_compat.h"
#include "app/common/draw/items.h"

#include <imgui_internal.h>

#include <string>

#include "app/common/draw/built_fonts.h"

namespace attn::ui {
namespace {

using view::Key;

/// What the toolkit calls a key; some keys stand twice on a keyboard.
struct Native {
    int first = 0;
    int second = 0;
};

struct NativeRow {
    Key key;
    Native native;
};

#if IMGUI_VERSION_NUM < 18700
// Keys are indices into io.KeysDown, which the GLFW backend fills by GLFW's key codes: letters and
// digits by their ASCII capitals.
using NativeKey = int;
constexpr int kLetterA = 'A', kDigit0 = '0';
constexpr NativeRow kRows[] = {
    {Key::left, {263}},       {Key::right, {262}},     {Key::up, {265}},
    {Key::down, {264}},       {Key::home, {268}},      {Key::end, {269}},
    {Key::page_up, {266}},    {Key::page_down, {267}}, {Key::space, {32}},
    {Key::enter, {257, 335}}, {Key::escape, {256}},    {Key::tab, {258}},
    {Key::backspace, {259}},  {Key::del, {261}},       {Key::f1, {290}},
    {Key::f2, {291}},         {Key::f3, {292}},        {Key::f4, {293}},
    {Key::f5, {294}},         {Key::f6, {295}},        {Key::f12, {301}},
    {Key::comma, {44}},       {Key::period, {46}},     {Key::plus, {'=', 334}},
    {Key::minus, {'-', 333}},
};
#else
using NativeKey = ImGuiKey;
constexpr int kLetterA = ImGuiKey_A, kDigit0 = ImGuiKey_0;
constexpr NativeRow kRows[] = {
    {Key::left, {ImGuiKey_LeftArrow}},
    {Key::right, {ImGuiKey_RightArrow}},
    {Key::up, {ImGuiKey_UpArrow}},
    {Key::down, {ImGuiKey_DownArrow}},
    {Key::home, {ImGuiKey_Home}},
    {Key::end, {ImGuiKey_End}},
    {Key::page_up, {ImGuiKey_PageUp}},
    {Key::page_down, {ImGuiKey_PageDown}},
    {Key::space, {ImGuiKey_Space}},
    {Key::enter, {ImGuiKey_Enter, ImGuiKey_KeypadEnter}},
    {Key::escape, {ImGuiKey_Escape}},
    {Key::tab, {ImGuiKey_Tab}},
    {Key::backspace, {ImGuiKey_Backspace}},
    {Key::del, {ImGuiKey_Delete}},
    {Key::f1, {ImGuiKey_F1}},
    {Key::f2, {ImGuiKey_F2}},
    {Key::f3, {ImGuiKey_F3}},
    {Key::f4, {ImGuiKey_F4}},
    {Key::f5, {ImGuiKey_F5}},
    {Key::f6, {ImGuiKey_F6}},
    {Key::f12, {ImGuiKey_F12}},
    {Key::comma, {ImGuiKey_Comma}},
    {Key::period, {ImGuiKey_Period}},
    {Key::plus, {ImGuiKey_Equal, ImGuiKey_KeypadAdd}},
    {Key::minus, {ImGuiKey_Minus, ImGuiKey_KeypadSubtract}},
};
#endif

constexpr std::size_t place(Key key) { return static_cast<std::size_t>(key); }

constexpr std::array<Native, view::kKeyCount> make_natives() {
    std::array<Native, view::kKeyCount> natives{};
    for (const NativeRow& row : kRows) natives[place(row.key)] = row.native;
    for (int n = 0; n < 10; ++n)
        natives[place(Key::zero) + static_cast<std::size_t>(n)] = {kDigit0 + n};
    for (int n = 0; n < 26; ++n)
        natives[place(Key::a) + static_cast<std::size_t>(n)] = {kLetterA + n};
    return natives;
}
constexpr std::array<Native, view::kKeyCount> kNatives = make_natives();

constexpr bool every_key_has_one() {
    for (std::size_t n = 1; n < view::kKeyCount; ++n)
        if (kNatives[n].first == 0) return false;
    return kNatives[place(Key::none)].first == 0;
}
static_assert(every_key_has_one());
static_assert(place(Key::digit9) - place(Key::zero) == 9 && place(Key::z) - place(Key::a) == 25);

bool native_pressed(int native, bool repeat) {
    return native != 0 && ImGui::IsKeyPressed(static_cast<NativeKey>(native), repeat);
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

#if IMGUI_VERSION_NUM < 19200
float drawn_ascent(ImFont& font, float px) { return font.Ascent * px / font.FontSize; }
bool has_glyph(ImFont& font, char32_t character) {
    return font.FindGlyphNoFallback(static_cast<ImWchar>(character)) != nullptr;
}
void only_replacement(ImFontConfig&) {}  // the ranges that a font is loaded with say it
#else
float drawn_ascent(ImFont& font, float px) { return font.GetFontBaked(px)->Ascent; }
bool has_glyph(ImFont& font, char32_t character) {
    return font.IsGlyphInFont(static_cast<ImWchar>(character));
}
constexpr ImWchar kAllElse[] = {0x0001, 0xFFFC, 0xFFFE, 0xFFFF, 0};  // the font keeps the pointer
void only_replacement(ImFontConfig& config) { config.GlyphExcludeRanges = kAllElse; }
#endif

/// The atlas copies what it does not own: it owns the file while it is told of it.
ImFont* add_font(ImFontAtlas& atlas, std::string_view file, const ImFontConfig& config,
                 const ImWchar* ranges) {
    if (file.empty()) return nullptr;
    ImFontConfig owned = config;
    owned.FontDataOwnedByAtlas = true;
    ImFont* const font =
        atlas.AddFontFromMemoryTTF(const_cast<char*>(file.data()), static_cast<int>(file.size()),
                                   config.SizePixels, &owned, ranges);
#if IMGUI_VERSION_NUM < 19200
    atlas.ConfigData.back().FontDataOwnedByAtlas = false;
#else
    atlas.Sources.back().FontDataOwnedByAtlas = false;
#endif
    return font;
}

ImFont* add_font(std::string_view file, const ImFontConfig& config, const ImWchar* ranges) {
    return add_font(*ImGui::GetIO().Fonts, file, config, ranges);
}

int native_key(Key key) { return kNatives[place(key)].first; }

bool is_pressed(Key key, bool repeat) {
    const Native native = kNatives[place(key)];
    return native_pressed(native.first, repeat) || native_pressed(native.second, repeat);
}

void push_no_tab_stop() { ImGui::PushItemFlag(ImGuiItemFlags_NoTabStop, true); }
void pop_no_tab_stop() { ImGui::PopItemFlag(); }
void clear_stale_undo([[maybe_unused]] const char* id, [[maybe_unused]] std::string_view text) {
#if IMGUI_VERSION_NUM < 18800
    ImGuiInputTextState* const state = ImGui::GetInputTextState(ImGui::GetID(id));
    if (state == nullptr || ImGui::GetActiveID() == state->ID) return;
    const ImWchar* const typed = state->TextW.Data;
    std::string last(static_cast<std::size_t>(state->CurLenW) * 3 + 1, '\0');
    last.resize(static_cast<std::size_t>(ImTextStrToUtf8(last.data(), static_cast<int>(last.size()),
                                                         typed, typed + state->CurLenW)));
    if (last != text) state->ID = 0;  // the field starts with no steps
#endif
}

void release_item() {
    ImGui::ClearActiveID();
#if IMGUI_VERSION_NUM >= 19200
    GImGui->DeactivatedItemData.ID =
        0;  // IsItemDeactivated() would be true once more, in the next frame
#endif
}

int wheel_steps() {
    if (!ImGui::IsItemHovered() || ImGui::GetIO().KeyCtrl) return 0;
#if IMGUI_VERSION_NUM < 18900
    ImGui::SetItemUsingMouseWheel();
#else
    ImGui::SetItemKeyOwner(ImGuiKey_MouseWheelY);
#endif
    const float notches = ImGui::GetIO().MouseWheel;
    return notches > 0.0F ? 1 : notches < 0.0F ? -1 : 0;
}

bool is_list_open() {
    return ImGui::IsPopupOpen("", ImGuiPopupFlags_AnyPopupId | ImGuiPopupFlags_AnyPopupLevel);
}

ImGuiID last_item_id() { return ImGui::GetItemID(); }

void close_placing() {
#if IMGUI_VERSION_NUM >= 18900
    if (ImGui::GetCurrentWindow()->DC.IsSetPos) leave_space({0.0F, 0.0F});
#endif
}

ImGuiWindow* current_window() { return ImGui::GetCurrentWindow(); }

void bring_into_view(ImGuiWindow* window, ImVec2 low, ImVec2 high) {
    const ImRect rect(low, high);
    if (window->InnerRect.Contains(rect)) return;
    ImGui::ScrollToRect(window, rect,
                        ImGuiScrollFlags_KeepVisibleEdgeY | ImGuiScrollFlags_NoScrollParent);
}

ImTextureID texture_id(std::uint64_t name) {
    return (ImTextureID)(static_cast<std::intptr_t>(name));  // a pointer in 1.86, a number in 1.92
}

#if IMGUI_VERSION_NUM < 19200
void pretend_renderer() {}
void pretend_fonts() {
    for (ImFontConfig& config : ImGui::GetIO().Fonts->ConfigData)
        config.OversampleH = 1;  // nobody sees the pixels
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
