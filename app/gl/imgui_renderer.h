#pragma once

#include "app/gl/pixels.h"

namespace attn::gl {

/// Dear ImGui's context and its OpenGL 3 backend, for the GL context that is current from the
/// constructor to the destructor. It writes no ini file.
class ImguiRenderer {
  public:
    ImguiRenderer();
    ~ImguiRenderer();
    ImguiRenderer(const ImguiRenderer&) = delete;
    ImguiRenderer& operator=(const ImguiRenderer&) = delete;

    /// The fonts in ImGui's atlas are others now. Between two frames only.
    void fonts_changed();
    /// Before ImGui::NewFrame().
    void begin_frame();
    /// Ends ImGui's frame and draws it over `background`.
    void draw(Size size, Rgb background);
};

}  // namespace attn::gl
