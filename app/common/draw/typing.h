#pragma once

#include <imgui.h>

#include <optional>
#include <string>
#include <string_view>

#include "app/common/draw/frame.h"

namespace attn::ui {

// Typing a number in place of a control's value. What is typed stands in Focus.

/// A double click or Ctrl+click on the last item.
bool opens_typing();
/// The mouse takes hold of the last item, or lets go of it.
void report_gesture(bool opened, Actions& out);
/// What was typed is not what was `wanted`.
void refuse(const std::string& text, std::string_view wanted, const std::string& name,
            const std::string& stays, Actions& out);

bool is_typed_into(const Frame& frame, ImGuiID control);
/// Opens the field with all of `text` selected.
void begin_typing(ImGuiID control, const std::string& text, Actions& out);
/// What came from the keyboard in this frame of a number: its keys are no commands.
std::string typed_digits(const Frame& frame);
/// The focused control: Enter or Space opens the field, a digit replaces the value.
void begin_typing_by_key(const Frame& frame, ImGuiID control, const std::string& text,
                         Actions& out);
/// The open field at that place, wider where the text needs it. The text when Enter, Tab or a click
/// elsewhere commits it; Escape drops it.
std::optional<std::string> type_in_place(const Frame& frame, ImGuiID control, ImVec2 low,
                                         ImVec2 high, Actions& out);

/// What is typed of "12, 7" before the last item, a text field that is about to open, has the keyboard. Its keys
/// are no commands.
std::string early_cell(const Frame& frame);
/// The same of what came in one frame with the key that opens the field, and after it: `opener` is its letter.
std::string early_cell_after(char opener);
/// Of the flags of such a field: opening it selects nothing of what was typed early.
int keep_early(ImGuiInputTextCallbackData* data);

}  // namespace attn::ui
