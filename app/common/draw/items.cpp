#include "app/common/draw/items.h"

#include <cmath>

#include "app/common/draw/imgui_compat.h"
#include "app/common/draw/still.h"
#include "app/common/draw/text_fields.h"

#include <imgui_internal.h>

namespace attn::ui {
namespace {

/// A callback of text_field(), and whether it changed the text.
struct WatchedCallback {
    const FieldOptions& options;
    bool changed = false;
};

int run_watched(ImGuiInputTextCallbackData* data) {
    auto& watched = *static_cast<WatchedCallback*>(data->UserData);
    data->UserData = watched.options.data;
    const int answer = watched.options.callback(data);
    watched.changed = watched.changed || data->BufDirty;
    return answer;
}

/// Dear ImGui before 1.88 applies the earlier undo steps to a text that a callback has changed, and writes outside it (its
/// issue 4947).
void clear_undo([[maybe_unused]] const char* id) {
#if IMGUI_VERSION_NUM < 18800
    ImGuiInputTextState* const state = ImGui::GetInputTextState(ImGui::GetID(id));
    if (state == nullptr) return;
    auto& undo = state->Stb.undostate;
    undo.undo_point = 0;
    undo.undo_char_point = 0;
    undo.redo_point = STB_TEXTEDIT_UNDOSTATECOUNT;
    undo.redo_char_point = STB_TEXTEDIT_UNDOCHARCOUNT;
#endif
}

}  // namespace

ImVec2 positive_size(ImVec2 size) {
    return {std::fmax(size.x, 1.0F), std::fmax(size.y, 1.0F)};  // fmax: not NaN
}

bool invisible_button(const char* id, ImVec2 size) {
    return ImGui::InvisibleButton(id, positive_size(size));
}

bool text_field(const char* id, std::string& text, const FieldOptions& options) {
    clear_stale_undo(id, text);
    const std::string before = text;
    WatchedCallback watched{options};
    const bool answer = ImGui::InputTextWithHint(
        id, options.hint, &text, options.flags, options.callback ? run_watched : nullptr, &watched);
    if (watched.changed) clear_undo(id);
    text = keep_characters(before, text);
    return answer;
}

bool text_box(const char* id, std::string& text, ImVec2 size, bool selects) {
    clear_stale_undo(id, text);
    const std::string before = text;
    const auto select_all = [](ImGuiInputTextCallbackData* data) {
        data->SelectAll();
        return 0;
    };
    ImGuiInputTextFlags flags = ImGuiInputTextFlags_EnterReturnsTrue;
    if (selects) flags |= ImGuiInputTextFlags_CallbackAlways;
    const bool entered = ImGui::InputTextMultiline(
        id, &text, positive_size(size), flags,
        selects ? static_cast<ImGuiInputTextCallback>(select_all) : nullptr);
    text = keep_characters(before, text);
    return entered;
}

bool begin_child(const char* id, ImVec2 size, ImGuiWindowFlags flags) {
    return ImGui::BeginChild(id, positive_size(size), false, flags);
}

void leave_space(ImVec2 size) { ImGui::Dummy({std::fmax(size.x, 0.0F), std::fmax(size.y, 0.0F)}); }

}  // namespace attn::ui
