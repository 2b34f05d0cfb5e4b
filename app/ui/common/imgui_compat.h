#pragma once

#include <imgui.h>
#include <imgui_stdlib.h>

#include <cstdint>
#include <string>

#include "app/ui/common/fonts.h"
#include "app/view/commands.h"

namespace attn::ui {

// Every difference between Dear ImGui 1.86 and 1.92 that the panels meet.

/// 1.86 has one size for each font, 1.92 takes the size with the font.
void push_font(const Font& font);
void pop_font();

/// The toolkit's own number for a key: an index into io.KeysDown, or an ImGuiKey.
int native_key(view::Key key);
/// Pressed in this frame (or repeating while held down, when `repeat`).
bool is_pressed(view::Key key, bool repeat = false);

/// Whether a slider or number field of the current window is being typed into.
bool is_typed_into(const char* id);

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
