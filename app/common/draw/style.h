#pragma once

#include "app/common/theme.h"

namespace attn::ui {

/// Sets what every ImGui context of ours needs, once: no .ini file, no blinking cursor.
void configure_imgui();
/// Sizes on the 8-px grid and the theme's colours, into ImGui's style. After a change of either.
void apply_style(const view::Theme& theme, float scale);

}  // namespace attn::ui
