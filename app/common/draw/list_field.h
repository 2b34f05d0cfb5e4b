#pragma once

#include <optional>
#include <string>

#include "app/common/draw/field_controls.h"

namespace attn::ui {

/// A list of numbers as text, which a click opens to be typed; as wide as the text, within limits. Returns what
/// was typed.
std::optional<std::string> list_field(const Frame& frame, const char* id, const char* label,
                                      const std::string& text, const Tip& tip, view::Actions& out,
                                      const PlaceControl& place);

}  // namespace attn::ui
