#pragma once

#include <string>
#include <vector>

struct GLFWwindow;  // there is none

namespace attn::gl {

/// What page.js heard of the browser. Keys, characters and the pointer go straight to Dear ImGui, which hands them on one
/// after another.
class WindowEvents {
  public:
    /// Whether anything came since the last call.
    bool take_news();
    /// Paths of files that were dropped or chosen since the last call, or states as text.
    std::vector<std::string> take_dropped();
};

}  // namespace attn::gl

/// A path that was dropped, or a state as text: the window opens it.
extern "C" void attn_dropped(const char* path);
