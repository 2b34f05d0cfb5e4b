#pragma once

namespace attn::gl {

/// Whether the environment names a display server, where a window needs that.
bool is_display_named();

/// Whether OpenGL 3.3 is there only without what it deprecates.
bool wants_forward_context();

/// From 1.92 on Dear ImGui's loader closes the library of OpenGL at the end of a renderer, and the next one calls its functions
/// at the same places: so it stays loaded.
void keep_gl_loaded();

}  // namespace attn::gl
