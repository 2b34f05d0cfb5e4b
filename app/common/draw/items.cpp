#include "app/common/draw/items.h"

#include <cmath>

#include "app/common/draw/imgui_compat.h"
#include "app/common/draw/still.h"
#include "app/common/draw/text_fields.h"

namespace attn::ui {

ImVec2 positive_size(ImVec2 size) {
    return {std::fmax(size.x, 1.0F), std::fmax(size.y, 1.0F)};  // fmax: not NaN
}

bool invisible_button(const char* id, ImVec2 size) {
    return ImGui::InvisibleButton(id, positive_size(size));
}

bool text_field(const char* id, std::string& text, const FieldOptions& options) {
    clear_stale_undo(id, text);
    const std::string before = text;
    const bool answer = ImGui::InputTextWithHint(id, options.hint, &text, options.flags,
                                                 options.callback, options.data);
    text = keep_characters(before, text);
    return answer;
}

bool text_box(const char* id, std::string& text, ImVec2 size) {
    clear_stale_undo(id, text);
    const std::string before = text;
    const bool changed = ImGui::InputTextMultiline(id, &text, positive_size(size));
    text = keep_characters(before, text);
    return changed;
}

bool begin_child(const char* id, ImVec2 size, ImGuiWindowFlags flags) {
    return ImGui::BeginChild(id, positive_size(size), false, flags);
}

void leave_space(ImVec2 size) { ImGui::Dummy({std::fmax(size.x, 0.0F), std::fmax(size.y, 0.0F)}); }

}  // namespace attn::ui
