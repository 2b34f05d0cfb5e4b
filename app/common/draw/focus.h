#pragma once

#include <imgui.h>

#include <vector>

#include "app/common/draw/frame.h"
#include "app/common/keys.h"

struct ImGuiWindow;

namespace attn::view {
struct Focus;
}

namespace attn::ui {

/// What else may have the keyboard at the beginning of a frame.
struct Hands {
    bool list = false;     // an open list
    bool overlay = false;  // help, palette
    bool typing = false;   // a text field
};

/// The controls of one frame in the order in which they are drawn, and the one of them that has the
/// keyboard: Tab and Shift+Tab go through them, the focused one is drawn with a ring around it and
/// takes the keys that it understands. Lives as long as the frame; what stays is Focus.
class FocusRing {
  public:
    FocusRing(const Focus& focus, Hands hands) : focus_(focus), hands_(hands) {}

    /// A control is drawn: whether it has the keyboard.
    bool stop(const Frame& frame, ImGuiID control, ImVec2 low, ImVec2 high);
    /// The text field that is typed into: Tab goes on from it.
    void typed_into(ImGuiID control) { typed_into_ = control; }

    /// What was drawn before is no stop while this frame's rest is: a popover is open, whose stops come now.
    void keep_inside() {
        stops_.clear();
        inside_ = true;
    }
    /// Stops so far: numbers those that have no control of the toolkit's own.
    int count() const { return static_cast<int>(stops_.size()); }

    /// Pressed in this frame without Ctrl, Alt or Shift; then nobody else sees it.
    bool take(Key key, bool repeat = false);
    /// Nobody else sees that key in this frame.
    void claim(Key key) { taken_.push_back(key); }
    bool is_taken(Key key) const;

    const Focus& focus() const { return focus_; }
    const Hands& hands() const { return hands_; }

    /// That control has the keyboard from now on, until a click elsewhere or Escape.
    void give(ImGuiID control) { given_ = control; }

    /// After everything was drawn: Tab, Escape, a click, a control that is gone.
    void finish(Actions& out);

  private:
    struct Stop {
        ImGuiID control;
        ImVec2 low, high;
        ImGuiWindow* window;
    };
    bool is_stop(ImGuiID control) const;
    void step(bool back, Actions& out);

    const Focus& focus_;
    Hands hands_;
    ImGuiID typed_into_ = 0;
    ImGuiID given_ = 0;
    bool inside_ = false;  // Tab stays among the stops of a popover
    std::vector<Stop> stops_;
    std::vector<Key> taken_;
};

/// The same for the panels, which may be drawn without a ring.
bool focus_stop(const Frame& frame, ImGuiID control, ImVec2 low, ImVec2 high);
/// The last item.
bool focus_stop(const Frame& frame);
bool take_key(const Frame& frame, Key key, bool repeat = false);
/// −1 for ← and ↓, 1 for → and ↑, else 0.
int arrow_steps(const Frame& frame);
/// The same in a list, where ↓ is the next.
int list_steps(const Frame& frame);
/// The last item is a control: true when it has the keyboard and Enter or Space was pressed.
bool pressed_by_key(const Frame& frame);
bool pressed_by_key(const Frame& frame, ImVec2 low, ImVec2 high);
/// A link: text that is no control. True when it has the keyboard and Enter or Space was pressed.
bool link_pressed_by_key(const Frame& frame, ImVec2 low, ImVec2 high);
/// The last item is a text field: Enter on it begins the typing, Tab ends it. True when Tab ended it.
bool text_stop(const Frame& frame);

}  // namespace attn::ui
