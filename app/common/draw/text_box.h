#pragma once

#include <imgui.h>

#include <string>

namespace attn::ui {

/// A text field of several lines, of a positive size (items.h). True when the text changed.
bool text_box(const char* id, std::string& text, ImVec2 size);

}  // namespace attn::ui
