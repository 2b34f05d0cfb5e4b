#pragma once

#include <imgui.h>

#include <string>

namespace attn::ui {

// The only place that makes text fields. Each of them retains characters above U+FFFF (still.h), and its undo steps end
// where its text changes while it is without the keyboard.

/// What a field of one line takes with its text.
struct FieldOptions {
    const char* hint = "";
    ImGuiInputTextFlags flags = ImGuiInputTextFlags_None;
    ImGuiInputTextCallback callback = nullptr;
    void* data = nullptr;  ///< for the callback
};

/// A text field of one line. True when the text changed, or, with ImGuiInputTextFlags_EnterReturnsTrue, at Enter.
bool text_field(const char* id, std::string& text, const FieldOptions& options = {});

/// A text field of several lines, of a positive size (items.h). True at Ctrl+Enter. `selects`: all of its text is selected.
bool text_box(const char* id, std::string& text, ImVec2 size, bool selects = false);

}  // namespace attn::ui
