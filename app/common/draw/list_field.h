#pragma once

#include <optional>
#include <string>

#include "app/common/actions.h"
#include "app/common/draw/frame.h"
#include "app/common/draw/widgets.h"

namespace attn::ui {

/// A list of numbers as text, which a click opens to be typed; as wide as the text, within limits. Flows. Returns what
/// was typed.
std::optional<std::string> list_field(const Frame& frame, const char* id, const char* label,
                                      const std::string& text, const Tip& tip, view::Actions& out);

}  // namespace attn::ui
