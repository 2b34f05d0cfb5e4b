#pragma once

#include <imgui.h>

namespace attn::ui {

// The only place that makes items of a computed size. The layout of a small window gives sizes of 0, negative sizes and
// NaN. Dear ImGui ends the program at 0 and counts a negative size from the far edge of the window.

/// `size` with at least one pixel each way. Edge cases: NaN gives one pixel.
ImVec2 positive_size(ImVec2 size);

/// ImGui::InvisibleButton of the positive size.
bool invisible_button(const char* id, ImVec2 size);
/// ImGui::BeginChild of the positive size.
bool begin_child(const char* id, ImVec2 size, ImGuiWindowFlags flags = 0);
/// ImGui::Dummy; 0 stays 0: space cannot be clicked, so it may be empty.
void leave_space(ImVec2 size);

}  // namespace attn::ui
