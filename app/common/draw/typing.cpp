#include "app/common/draw/typing.h"

#include <cstdlib>

#include "app/common/actions.h"
#include "app/common/draw/draw.h"
#include "app/common/draw/focus.h"
#include "app/common/draw/imgui_compat.h"
#include "app/common/draw/items.h"
#include "app/common/draw/still.h"
#include "app/common/draw/text_fields.h"
#include "app/common/state.h"
#include "app/common/typed.h"

namespace attn::ui {
namespace {

bool starts_a_number(ImWchar c) {
    return (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '+';
}

bool belongs_to_a_cell(ImWchar c) { return starts_a_number(c) || c == ',' || c == ' '; }

/// What came from the keyboard in this frame, as far as it belongs to a number, or to "12, 7".
std::string typed(bool (*belongs)(ImWchar)) {
    std::string text;
    for (const ImWchar c : ImGui::GetIO().InputQueueCharacters)
        if (belongs(c)) text += static_cast<char>(c);
    return text;
}

/// Keys that write a number are no commands.
void claim_digits(FocusRing& ring) {
    for (int n = 0; n < 10; ++n) ring.claim(static_cast<Key>(static_cast<int>(Key::zero) + n));
    ring.claim(Key::minus);
    ring.claim(Key::plus);
    ring.claim(Key::period);
}

/// The toolkit drops letters of the frame in which a field gets the keyboard: they come once more in the next.
void queue_again(const std::vector<ImWchar>& letters) {
    for (const ImWchar c : letters) ImGui::GetIO().AddInputCharacter(c);
}

/// The field alone; the text follows what is typed.
void draw_field(const Frame& frame, Typing& typing, ImVec2 size) {
    std::string& text = typing.text;
    const std::string before = text;
    const auto& queue = ImGui::GetIO().InputQueueCharacters;
    const std::vector<ImWchar> letters(queue.begin(), queue.end());
    const float pad = std::max(0.0F, (size.y - frame.fonts.digits.px) / 2);
    push_font(frame.fonts.digits);
    ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, {frame.px(6), pad});
    ImGui::PushStyleColor(ImGuiCol_FrameBg, to_vec4(frame.theme.background));
    ImGui::SetNextItemWidth(size.x);
    if (!ImGui::IsAnyItemActive()) ImGui::SetKeyboardFocusHere();
    push_no_tab_stop();
    if (typing.selected)
        text_field("##typed", text, {"", ImGuiInputTextFlags_AutoSelectAll});
    else
        text_field("##typed", text, {"", ImGuiInputTextFlags_CallbackAlways, keep_early});
    if (ImGui::IsItemActivated() && text == before) queue_again(letters);
    pop_no_tab_stop();
    ImGui::PopStyleColor();
    ImGui::PopStyleVar();
    pop_font();
    still_field(frame, frame.fonts.digits, text);
    frame.painter.outline(ImGui::GetItemRectMin(), ImGui::GetItemRectMax(), frame.theme.accent,
                          frame.px(2), frame.px(4));
}

/// Letters that come before the field has the keyboard replace what would be selected.
void add_early_letters(Typing& typing) {
    if (ImGui::IsItemActive() || ImGui::IsItemDeactivated()) return;
    const std::string early = typed(starts_a_number);
    if (early.empty()) return;
    typing.text = typing.selected ? early : typing.text + early;
    typing.selected = false;
}

enum class End { none, committed, cancelled };

/// What the keyboard or a click elsewhere made of the field, which is the last item.
End end_of_typing(const Frame& frame, ImGuiID control) {
    const bool cancelled = is_pressed(Key::escape);
    const bool done = ImGui::IsItemDeactivated() || is_pressed(Key::tab) || is_pressed(Key::enter);
    if (ImGui::IsItemActive()) frame.focus->typed_into(control);
    if ((cancelled || done) && ImGui::IsItemActive()) release_item();
    if (cancelled) return End::cancelled;
    return done ? End::committed : End::none;
}

// ---- what has the keyboard

// Design units.
constexpr float kFocusRing = 2.0F, kRingGap = 2.0F;

/// Outside of the control, also where its window ends with it.
void draw_ring(const Frame& frame, ImVec2 low, ImVec2 high) {
    ImDrawList& list = *ImGui::GetWindowDrawList();
    const float out = frame.px(kRingGap + kFocusRing / 2);
    const float reach = frame.px(kRingGap + kFocusRing);
    const ImVec2 clip_low = list.GetClipRectMin();
    const ImVec2 clip_high = list.GetClipRectMax();
    list.PushClipRect({clip_low.x - reach, clip_low.y - reach},
                      {clip_high.x + reach, clip_high.y + reach});
    list.AddRect({low.x - out, low.y - out}, {high.x + out, high.y + out},
                 to_u32(frame.theme.accent), frame.px(4), 0, frame.px(kFocusRing));
    list.PopClipRect();
}

int steps_of(const Frame& frame, Key before, Key after) {
    const bool back = take_key(frame, Key::left, true) || take_key(frame, before, true);
    const bool on = take_key(frame, Key::right, true) || take_key(frame, after, true);
    return (on ? 1 : 0) - (back ? 1 : 0);
}

bool any_click() {
    return ImGui::IsMouseClicked(ImGuiMouseButton_Left) ||
           ImGui::IsMouseClicked(ImGuiMouseButton_Right);
}

}  // namespace

/// The toolkit selects everything as the field opens: not the letter that was typed before.
int keep_early(ImGuiInputTextCallbackData* data) {
    const bool all = data->BufTextLen > 0 && data->SelectionStart != data->SelectionEnd &&
                     std::abs(data->SelectionEnd - data->SelectionStart) == data->BufTextLen;
    if (all) data->CursorPos = data->SelectionStart = data->SelectionEnd = data->BufTextLen;
    return 0;
}

std::string early_cell(const Frame& frame) {
    if (frame.focus == nullptr) return {};
    claim_digits(*frame.focus);
    frame.focus->claim(Key::space);
    return ImGui::IsItemActive() ? "" : typed(belongs_to_a_cell);
}

std::string early_cell_after(char opener) {
    std::string text;
    bool opened = false;
    for (const ImWchar c : ImGui::GetIO().InputQueueCharacters) {
        if (opened && belongs_to_a_cell(c)) text += static_cast<char>(c);
        opened = opened || c == static_cast<ImWchar>(opener);
    }
    return text;
}

bool opens_typing() {
    if (!ImGui::IsItemHovered()) return false;
    return ImGui::IsMouseDoubleClicked(ImGuiMouseButton_Left) ||
           (ImGui::IsMouseClicked(ImGuiMouseButton_Left) && ImGui::GetIO().KeyCtrl);
}

void report_gesture(bool opened, Actions& out) {
    if (ImGui::IsItemActivated() && !opened) out.push_back(BeginGesture{});
    if (ImGui::IsItemDeactivated()) out.push_back(EndGesture{});
}

void refuse(const std::string& text, std::string_view wanted, const std::string& name,
            const std::string& stays, Actions& out) {
    out.push_back(Notify{{view::not_typed(text, wanted, name, stays), Severity::error}});
}

bool is_typed_into(const Frame& frame, ImGuiID control) {
    return frame.focus != nullptr && frame.focus->focus().typing &&
           frame.focus->focus().typing->control == control;
}

void begin_typing(ImGuiID control, const std::string& text, Actions& out) {
    release_item();  // the mouse that opened the field holds nothing any more
    out.push_back(TypeInto{Typing{control, text, true}});
}

std::string typed_digits(const Frame& frame) {
    if (frame.focus == nullptr || ImGui::GetIO().KeyCtrl || ImGui::GetIO().KeyAlt) return {};
    claim_digits(*frame.focus);
    return typed(starts_a_number);
}

void begin_typing_by_key(const Frame& frame, ImGuiID control, const std::string& text,
                         Actions& out) {
    if (take_key(frame, Key::enter) || take_key(frame, Key::space))
        return begin_typing(control, text, out);
    const std::string digits = typed_digits(frame);
    if (!digits.empty()) out.push_back(TypeInto{Typing{control, digits, false}});
}

std::optional<std::string> type_in_place(const Frame& frame, ImGuiID control, ImVec2 low,
                                         ImVec2 high, Actions& out) {
    const Typing before = *frame.focus->focus().typing;
    Typing typing = before;
    const float space = frame.text_width(frame.fonts.digits, typing.text + "00") + frame.px(12);
    const ImVec2 size{std::max(high.x - low.x, space), high.y - low.y};
    ImGui::SetCursorScreenPos(low);
    // a window of its own: it may cover what stands to the right
    begin_child("typing", size, ImGuiWindowFlags_NoScrollbar);
    draw_field(frame, typing, size);
    add_early_letters(typing);
    const End end = end_of_typing(frame, control);
    close_placing();
    ImGui::EndChild();
    ImGui::SetCursorScreenPos(low);
    leave_space({high.x - low.x, high.y - low.y});
    if (end != End::none) {
        out.push_back(TypeInto{std::nullopt});
        return end == End::cancelled ? std::nullopt : std::optional(typing.text);
    }
    if (!(typing == before)) out.push_back(TypeInto{typing});
    return std::nullopt;
}

bool FocusRing::stop(const Frame& frame, ImGuiID control, ImVec2 low, ImVec2 high) {
    if (hands_.overlay) return false;
    stops_.push_back({control, low, high, current_window()});
    if (control != focus_.control || hands_.list) return false;
    const bool open = focus_.typing && focus_.typing->control == control;
    if (!open) draw_ring(frame, low, high);
    return !hands_.typing;
}

bool FocusRing::take(Key key, bool repeat) {
    const ImGuiIO& io = ImGui::GetIO();
    if (io.KeyCtrl || io.KeyAlt || io.KeyShift || is_taken(key)) return false;
    if (!is_pressed(key, repeat)) return false;
    claim(key);
    return true;
}

bool FocusRing::is_taken(Key key) const { return std::ranges::count(taken_, key) > 0; }

bool FocusRing::is_stop(ImGuiID control) const {
    return std::ranges::any_of(stops_, [&](const Stop& s) { return s.control == control; });
}

/// To the next stop, or the first where nothing has the keyboard.
void FocusRing::step(bool back, Actions& out) {
    if (stops_.empty()) return;
    const ImGuiID from = typed_into_ != 0 ? typed_into_ : focus_.control;
    const auto here =
        std::ranges::find_if(stops_, [&](const Stop& s) { return s.control == from; });
    const std::size_t count = stops_.size();
    const bool none = here == stops_.end();
    const auto n = static_cast<std::size_t>(here - stops_.begin());
    const std::size_t next = none ? (back ? count - 1 : 0) : (n + (back ? count - 1 : 1)) % count;
    const Stop& stop = stops_[next];
    bring_into_view(stop.window, stop.low, stop.high);
    out.push_back(FocusControl{stop.control});
}

void FocusRing::finish(Actions& out) {
    if (focus_.typing && !is_stop(focus_.typing->control)) out.push_back(TypeInto{std::nullopt});
    if (hands_.list || hands_.overlay) return;
    const ImGuiIO& io = ImGui::GetIO();
    const bool tab = !io.KeyCtrl && !io.KeyAlt && is_pressed(Key::tab, true);
    if (tab && !is_taken(Key::tab)) return step(io.KeyShift, out);
    if (given_ != 0) return out.push_back(FocusControl{given_});
    if (focus_.control == 0) return;
    if (inside_ && !stops_.empty() && !is_stop(focus_.control))
        return out.push_back(FocusControl{stops_.front().control});
    const bool escape = !hands_.typing && take(Key::escape);
    if (escape || any_click() || !is_stop(focus_.control)) out.push_back(FocusControl{0});
}

bool focus_stop(const Frame& frame, ImGuiID control, ImVec2 low, ImVec2 high) {
    return frame.focus != nullptr && frame.focus->stop(frame, control, low, high);
}

bool focus_stop(const Frame& frame) {
    return focus_stop(frame, last_item_id(), ImGui::GetItemRectMin(), ImGui::GetItemRectMax());
}

bool take_key(const Frame& frame, Key key, bool repeat) {
    return frame.focus != nullptr && frame.focus->take(key, repeat);
}

int arrow_steps(const Frame& frame) { return steps_of(frame, Key::down, Key::up); }

int list_steps(const Frame& frame) { return steps_of(frame, Key::up, Key::down); }

bool pressed_by_key(const Frame& frame, ImVec2 low, ImVec2 high) {
    return focus_stop(frame, last_item_id(), low, high) &&
           (take_key(frame, Key::enter) || take_key(frame, Key::space));
}

bool pressed_by_key(const Frame& frame) {
    return pressed_by_key(frame, ImGui::GetItemRectMin(), ImGui::GetItemRectMax());
}

bool link_pressed_by_key(const Frame& frame, ImVec2 low, ImVec2 high) {
    if (frame.focus == nullptr) return false;
    const ImGuiID id =
        ImGui::GetID(reinterpret_cast<void*>(static_cast<std::intptr_t>(frame.focus->count())));
    return focus_stop(frame, id, low, high) &&
           (take_key(frame, Key::enter) || take_key(frame, Key::space));
}

bool text_stop(const Frame& frame) {
    if (pressed_by_key(frame)) ImGui::SetKeyboardFocusHere(-1);
    if (!ImGui::IsItemActive()) return false;
    if (frame.focus != nullptr) frame.focus->typed_into(last_item_id());
    const bool tab = is_pressed(Key::tab);
    if (tab) release_item();
    return tab;
}

}  // namespace attn::ui
