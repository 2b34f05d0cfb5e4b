#pragma once

#include <string>
#include <string_view>

#include "app/common/draw/frame.h"

namespace attn::ui {

/// ImGui's own text fields are in no figure, and set no script that is not simple. Called after such a field, this draws
/// it over the last item's place in a figure, and on screen where its text is laid out: what is typed, or the hint.
void still_field(const Frame& frame, const view::Font& font, std::string_view text,
                 std::string_view hint = {});

/// ImGui's own text fields make U+FFFD of every character above U+FFFF, or two halves where it is typed, and count it as
/// longer than that: zeros follow. `typed` as it was typed, `before` beside what was changed of it.
std::string keep_characters(std::string_view before, std::string_view typed);

}  // namespace attn::ui
