#include "app/gl/system.h"

#include <dlfcn.h>

#include <cstdlib>

#include <imgui.h>

namespace attn::gl {

bool is_display_named() {
    return std::getenv("DISPLAY") != nullptr || std::getenv("WAYLAND_DISPLAY") != nullptr;
}

bool wants_forward_context() { return false; }

void keep_gl_loaded() {
#if IMGUI_VERSION_NUM >= 19200
    for (const char* name : {"libOpenGL.so.0", "libGL.so.1"})  // those that it looks for
        ::dlopen(name, RTLD_LAZY | RTLD_LOCAL | RTLD_NODELETE);
#endif
}

}  // namespace attn::gl
