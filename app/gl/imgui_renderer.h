#pragma once

#include <memory>

#include "app/gl/pixels.h"

struct ImFontAtlas;

namespace attn::gl {

/// Dear ImGui's context and its OpenGL 3 backend, for the GL context that is current from the
/// constructor to the destructor. It writes no ini file.
class ImguiRenderer {
  public:
    /// `atlas`: fonts that are there already; null: the context has an atlas of its own.
    explicit ImguiRenderer(std::shared_ptr<ImFontAtlas> atlas = nullptr);
    ~ImguiRenderer();
    ImguiRenderer(const ImguiRenderer&) = delete;
    ImguiRenderer& operator=(const ImguiRenderer&) = delete;

    /// The fonts in ImGui's atlas are others now. Between two frames only.
    void fonts_changed();
    /// Before ImGui::NewFrame().
    void begin_frame();
    /// Ends ImGui's frame and draws it over `background`.
    void draw(Size size, Rgb background);

  private:
    std::shared_ptr<ImFontAtlas> atlas_;
};

}  // namespace attn::gl
