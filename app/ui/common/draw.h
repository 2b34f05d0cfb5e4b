#pragma once

#include <imgui.h>

#include <string>
#include <string_view>

#include "app/ui/common/frame.h"

namespace attn::ui {

// Drawing words and rectangles at exact places, in pixels.

ImU32 to_u32(view::Color color, double alpha = 1.0);
ImVec4 to_vec4(view::Color color);

ImVec2 text_size(const Font& font, std::string_view text);
/// Top left at `at`.
void draw_text(ImDrawList& list, const Font& font, ImVec2 at, ImU32 color, std::string_view text);

enum class Align { left, center, right };
/// One line inside a box: vertically in the middle.
void draw_text_in(ImDrawList& list, const Font& font, ImVec2 low, ImVec2 high, Align align,
                  ImU32 color, std::string_view text);

/// `text`, or as much of it as fits in `width` followed by "…".
std::string fit_text(const Font& font, std::string_view text, float width);

/// `text`, or its beginning and end around a "…" when it has more than `most` characters.
std::string middle_ellipsis(std::string_view text, std::size_t most);

/// Text turned about its left middle, which stands at `at`; up is negative.
void draw_rotated_text(ImDrawList& list, const Font& font, ImVec2 at, float degrees, ImU32 color,
                       const std::string& text);

/// An arrow "→" with a thin shaft.
void draw_arrow(ImDrawList& list, ImVec2 from, ImVec2 to, ImU32 color, float thickness);

/// A tooltip on the last item: a heading and, beneath it, muted lines. Either may be empty.
void tooltip(const Frame& frame, const std::string& heading, const std::string& words = {});

}  // namespace attn::ui
