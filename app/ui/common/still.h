#pragma once

#include <string_view>

#include "app/ui/common/frame.h"

namespace attn::ui {

// ImGui's own widgets are in no figure. Called after such a widget, each of these draws it over the
// last item's place in a figure, and nothing on screen.

/// Words on a plate.
void still_button(const Frame& frame, view::Color ink, std::string_view words);
/// What is typed, or the hint in its place.
void still_field(const Frame& frame, const view::Font& font, std::string_view text,
                 std::string_view hint = {});
/// The choice, and the arrow that opens the list.
void still_combo(const Frame& frame, std::string_view text);

}  // namespace attn::ui
