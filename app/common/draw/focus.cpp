#include "app/common/draw/focus.h"

#include <algorithm>

#include "app/common/draw/draw.h"
#include "app/common/draw/imgui_compat.h"

namespace attn::ui {
namespace {

using view::Key;

// Design units.
constexpr float kFocusRing = 2.0F;
constexpr float kRingGap = 2.0F;

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
void FocusRing::step(bool back, view::Actions& out) {
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
    out.push_back(view::FocusControl{stop.control});
}

void FocusRing::finish(view::Actions& out) {
    if (focus_.typing && !is_stop(focus_.typing->control))
        out.push_back(view::TypeInto{std::nullopt});
    if (hands_.list || hands_.overlay) return;
    const ImGuiIO& io = ImGui::GetIO();
    const bool tab = !io.KeyCtrl && !io.KeyAlt && is_pressed(Key::tab, true);
    if (tab && !is_taken(Key::tab)) return step(io.KeyShift, out);
    if (focus_.control == 0) return;
    if (inside_ && !stops_.empty() && !is_stop(focus_.control))
        return out.push_back(view::FocusControl{stops_.front().control});
    const bool escape = !hands_.typing && take(Key::escape);
    if (escape || any_click() || !is_stop(focus_.control)) out.push_back(view::FocusControl{0});
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
