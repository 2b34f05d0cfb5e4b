#pragma once

#include <imgui.h>

#include <functional>
#include <string>

#include "app/common/draw/frame.h"
#include "app/common/draw/widgets.h"

namespace attn::ui {

/// What opens a popover.
struct PopoverButton {
    ImVec2 low, high;
    ImGuiID control = 0;
    bool pressed = false;
};
PopoverButton popover_button(const Frame& frame, const char* id, const std::string& text,
                             const Tip& tip);

/// The height that the contents of a popover under that button may have without scrolling.
float popover_space(const PopoverButton& button, const Frame& frame);
/// A panel of controls under its button; `draw` fills `size` from the point that it is given on. True when it is left: by
/// Escape, which gives the keyboard back to the button, or by a click elsewhere.
bool draw_popover(const char* id, const PopoverButton& button, ImVec2 size, const Frame& frame,
                  Actions& out, const std::function<void(ImVec2 low)>& draw);

}  // namespace attn::ui
