#pragma once

#include <string_view>

#include "app/common/draw/frame.h"

namespace attn::ui {

/// ImGui's own text fields are in no figure. Called after such a field, this draws it over the last
/// item's place in a figure, and nothing on screen: what is typed, or the hint in its place.
void still_field(const Frame& frame, const view::Font& font, std::string_view text,
                 std::string_view hint = {});

}  // namespace attn::ui
