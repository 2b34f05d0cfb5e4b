#pragma once

#include "app/common/draw/frame.h"

namespace attn::ui {

/// A panel over a dimmed window. Between begin and end the panel is the current window.
/// True when the person clicked beside it.
bool begin_overlay(const char* id, float width, float height, const Frame& frame);
void end_overlay();
/// ↑ ↓ and the page keys scroll the current window.
void scroll_by_keys(const Frame& frame);

}  // namespace attn::ui
