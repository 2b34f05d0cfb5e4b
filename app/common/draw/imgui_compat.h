#pragma once

#include <imgui.h>
#include <imgui_stdlib.h>

#include <cstdint>
#include <string_view>

#include "app/common/command.h"
#include "app/common/draw/fonts.h"

struct ImGuiWindow;

namespace attn::ui {

// Every difference between Dear ImGui 1.86 and 1.92 that the panels meet.

/// 1.86 has one size for each font, 1.92 takes the size with the font.
void push_font(const Font& font);
void pop_font();

/// From the top of a line of that size to the baseline, as ImGui draws it.
float drawn_ascent(ImFont& font, float px);
/// Whether the font draws that character, and not what stands for any it lacks.
bool has_glyph(ImFont& font, char32_t character);
/// Of this source no glyph is taken but U+FFFD.
void only_replacement(ImFontConfig& config);
/// The atlas reads `file`, which outlives it, and copies nothing. nullptr for an empty one.
ImFont* add_font(std::string_view file, const ImFontConfig& config, const ImWchar* ranges);

/// The toolkit's own number for a key: an index into io.KeysDown, or an ImGuiKey.
int native_key(view::Key key);
/// Pressed in this frame (or repeating while held down, when `repeat`).
bool is_pressed(view::Key key, bool repeat = false);

/// Between these the toolkit's own Tab passes text fields by: the order is ours (focus.h).
void push_no_tab_stop();
void pop_no_tab_stop();
/// 1.92 wants an item where the cursor was set last, before a window ends.
void close_placing();
/// Called before the text field `id` is drawn with `text`. Dear ImGui before 1.88 applies the undo steps of a field that
/// had the keyboard to a text that has changed since: Ctrl+Z then writes outside the text (its issue 4947).
void clear_stale_undo(const char* id, std::string_view text);
/// The item that the mouse holds or that is typed into loses both.
void release_item();

/// Notches of the wheel over the last item, which keeps them from what scrolls.
int wheel_steps();

/// Whether a list is open.
bool is_list_open();

ImGuiID last_item_id();
ImGuiWindow* current_window();
/// Scrolls that window so far that the rectangle is seen.
void bring_into_view(ImGuiWindow* window, ImVec2 low, ImVec2 high);

/// A texture name of the renderer as ImGui wants it.
ImTextureID texture_id(std::uint64_t name);

/// Tell the current context that something would draw it: before its fonts are loaded, after, and
/// after every frame.
void pretend_renderer();
void pretend_fonts();
void pretend_textures();

/// An item as ImGui makes one of a line of text: on the base line of what stands beside it. Its top left.
ImVec2 place_text(ImVec2 size);

}  // namespace attn::ui
