#include "app/gl/system.h"

namespace attn::gl {

bool is_display_named() { return true; }

bool wants_forward_context() { return true; }

void keep_gl_loaded() {}  // the program itself needs the framework OpenGL

}  // namespace attn::gl
