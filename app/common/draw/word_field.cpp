#include "app/common/draw/word_field.h"

#include <imgui_internal.h>

#include "app/common/actions.h"
#include "app/common/document/actions.h"
#include "app/common/draw/draw.h"
#include "app/common/draw/focus.h"
#include "app/common/draw/hidden_key.h"
#include "app/common/draw/imgui_compat.h"
#include "app/common/draw/still.h"
#include "app/common/draw/text_fields.h"
#include "app/common/draw/widgets.h"
#include "app/common/draw/workspace.h"

namespace attn::ui {
namespace {

// Design units.
constexpr float kUnderField = 4.0F, kCompletionPad = 4.0F, kCompletionRow = 26.0F;
constexpr float kLeastCompletions = 180.0F, kWordToClass = 24.0F;

constexpr ImGuiWindowFlags kCompletionWindow =
    ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoSavedSettings |
    ImGuiWindowFlags_NoBackground | ImGuiWindowFlags_NoFocusOnAppearing | ImGuiWindowFlags_NoNav;

using Completions = std::vector<view::Completion>;

/// State of a field's list from frame to frame, in the storage of its window.
struct CompletionList {
    int& rows;    // as it was drawn last; 0: it was closed
    int& row;     // the chosen one
    int& width;   // in pixels
    int& word;    // a hash of the word that it is for
    int& closed;  // where the word begins whose list Escape closed, from 1; 0: none
};

CompletionList completion_list(ImGuiID field) {
    ImGuiStorage& storage = *ImGui::GetStateStorage();
    // all exist before a reference is taken: a new one moves the others
    for (ImGuiID n = 1; n <= 5; ++n) storage.GetIntRef(field + n);
    const auto number = [&](ImGuiID n) -> int& { return *storage.GetIntRef(field + n); };
    return {number(1), number(2), number(3), number(4), number(5)};
}

/// Input and result of the toolkit's callback.
struct WordEdit {
    std::span<const view::VocabularyClass> vocabulary;
    std::optional<int> take = {};  // the row to insert
    int first = 0;                 // where the word at the caret begins
    std::string word = {};         // from there to the caret; "": the caret is at no word's end
};

int edit_word(ImGuiInputTextCallbackData* data) {
    WordEdit& edit = *static_cast<WordEdit*>(data->UserData);
    const std::string_view text(data->Buf, static_cast<std::size_t>(data->BufTextLen));
    const auto caret = static_cast<std::size_t>(data->CursorPos);
    const bool inside = caret < text.size() && text[caret] != ' ';
    const bool selects = data->SelectionStart != data->SelectionEnd;
    edit.word = inside || selects ? "" : view::word_before(text, caret);
    edit.first = data->CursorPos - static_cast<int>(edit.word.size());
    if (!edit.take) return 0;
    const Completions found = view::completions(edit.vocabulary, edit.word);
    if (*edit.take >= std::ssize(found)) return 0;
    edit.word = found[static_cast<std::size_t>(*edit.take)].word;
    data->DeleteChars(edit.first, data->CursorPos - edit.first);
    data->InsertChars(edit.first, edit.word.c_str());
    return 0;
}

/// The rows under the field, without the list's own border.
struct CompletionRows {
    ImVec2 low, high;
    float height;  // of one

    /// Where the pointer is; −1: on none.
    int pointed() const {
        if (!ImGui::IsMouseHoveringRect(low, high, false)) return -1;
        return static_cast<int>((ImGui::GetIO().MousePos.y - low.y) / height);
    }
};

CompletionRows completion_rows(ImVec2 field, const CompletionList& list, const Frame& frame) {
    const float under = ImGui::GetFrameHeight() + frame.px(kUnderField + kCompletionPad);
    const float height = frame.px(kCompletionRow);
    const ImVec2 low{field.x, field.y + under};
    return {
        low,
        {low.x + static_cast<float>(list.width), low.y + height * static_cast<float>(list.rows)},
        height};
}

int completions_width(const Completions& found, const Frame& frame) {
    float width = frame.px(kLeastCompletions);
    for (const view::Completion& each : found)
        width = std::max(width, frame.text_width(frame.fonts.body, each.word) +
                                    frame.text_width(frame.fonts.small, each.class_name) +
                                    frame.px(kWordToClass + 2 * kSpace12));
    return static_cast<int>(width);
}

/// In a window of its own, so that nothing under it is pointed at. It has no items: model_text_field() reads the pointer.
void draw_completions(const Completions& found, const CompletionRows& rows, int chosen,
                      const Frame& frame) {
    const float pad = frame.px(kCompletionPad), inset = frame.px(kSpace12);
    const ImVec2 low{rows.low.x, rows.low.y - pad}, high{rows.high.x, rows.high.y + pad};
    ImGui::SetNextWindowPos(low);
    ImGui::SetNextWindowSize({high.x - low.x, high.y - low.y});
    ImGui::Begin("completions", nullptr, kCompletionWindow);
    ImGui::BringWindowToDisplayFront(ImGui::GetCurrentWindow());  // over a popover with the field
    ImGui::PushClipRect(low, high, false);
    frame.painter.rect(low, high, frame.theme.surface, frame.px(6));
    frame.painter.outline(low, high, frame.theme.muted, frame.px(1), frame.px(6));
    float y = rows.low.y;
    for (int n = 0; n < std::ssize(found); ++n, y += rows.height) {
        const view::Completion& each = found[static_cast<std::size_t>(n)];
        const float end = y + rows.height;
        if (n == chosen)
            frame.painter.rect({low.x + pad, y}, {high.x - pad, end}, frame.theme.control,
                               frame.px(4));
        draw_text_in(frame, frame.fonts.body, {low.x + inset, y}, {high.x, end}, Align::left,
                     frame.theme.text, each.word);
        draw_text_in(frame, frame.fonts.small, {low.x, y}, {high.x - inset, end}, Align::right,
                     n == chosen ? frame.theme.text : frame.theme.muted, each.class_name);
    }
    ImGui::PopClipRect();
    close_placing();
    ImGui::End();
}

/// A key of an open list; the field and the commands do not see it in this frame.
bool take_list_key(Key key, const Frame& frame) {
    const ImGuiIO& io = ImGui::GetIO();
    if (io.KeyCtrl || io.KeyAlt || io.KeyShift) return false;
    if (!is_pressed(key, key == Key::down || key == Key::up)) return false;
    if (frame.focus != nullptr) frame.focus->claim(key);
    return true;
}

/// The row that a key or a click takes. The click is the list's alone: the field keeps the keyboard.
std::optional<int> taken_row(const CompletionList& list, const CompletionRows& rows,
                             const Frame& frame) {
    if (take_list_key(Key::down, frame)) list.row = (list.row + 1) % list.rows;
    if (take_list_key(Key::up, frame)) list.row = (list.row + list.rows - 1) % list.rows;
    if (take_list_key(Key::tab, frame)) return list.row;
    const int pointed = rows.pointed();
    bool& clicked = ImGui::GetIO().MouseClicked[ImGuiMouseButton_Left];
    if (!clicked || pointed < 0) return std::nullopt;
    clicked = false;
    return pointed;
}

/// The words for the word at the caret. A changed word selects the first row.
Completions offered_at_caret(const WordEdit& edit, const CompletionList& list) {
    if (list.closed != edit.first + 1 || edit.word.empty()) list.closed = 0;
    if (list.closed != 0) return {};
    const auto word = static_cast<int>(ImGui::GetID(edit.word.c_str()));
    if (list.word != word) list.row = 0;
    list.word = word;
    return view::completions(edit.vocabulary, edit.word);
}

}  // namespace

void model_text_field(const char* id, const std::string& draft, float width,
                      std::span<const view::VocabularyClass> vocabulary, const Frame& frame,
                      Actions& out) {
    constexpr const char* kHint = "Type a text for the model";
    constexpr int kFlags =
        ImGuiInputTextFlags_EnterReturnsTrue | ImGuiInputTextFlags_CallbackAlways;
    const CompletionList list = completion_list(ImGui::GetID(id));
    const ImVec2 at = ImGui::GetCursorScreenPos();
    WordEdit edit{vocabulary};
    const bool open = list.rows > 0;
    if (open) edit.take = taken_row(list, completion_rows(at, list, frame), frame);
    const bool closes = open && take_list_key(Key::escape, frame);
    std::string text = draft;
    {
        const HiddenKey escape(Key::escape, closes), tab(Key::tab, edit.take.has_value());
        ImGui::SetNextItemWidth(width);
        push_no_tab_stop();
        const bool entered = text_field(id, text, {kHint, kFlags, edit_word, &edit});
        pop_no_tab_stop();
        still_field(frame, frame.fonts.body, text, kHint);
        if (!open)
            tooltip(frame, "Text",
                    vocabulary.empty() ? "The model runs as you type. Enter finishes typing."
                                       : "The model runs as you type. Tab completes a word, Enter "
                                         "finishes typing.");
        text_stop(frame);
        if (text != draft) out.push_back(TypeText{text});
        if (entered) out.push_back(EndGesture{});
    }
    const bool typing = ImGui::IsItemActive() && !frame.still;
    list.closed = !typing ? 0 : closes ? edit.first + 1 : list.closed;
    const Completions found = typing ? offered_at_caret(edit, list) : Completions();
    list.rows = static_cast<int>(found.size());
    if (found.empty()) return;
    list.width = completions_width(found, frame);
    const CompletionRows rows = completion_rows(at, list, frame);
    const ImVec2 moved = ImGui::GetIO().MouseDelta;
    if (const int row = rows.pointed(); row >= 0 && (moved.x != 0.0F || moved.y != 0.0F))
        list.row = row;
    draw_completions(found, rows, list.row, frame);
}

}  // namespace attn::ui
