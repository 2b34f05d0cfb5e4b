#pragma once

#include <optional>

#include "app/common/action.h"
#include "app/common/draw/built_fonts.h"
#include "app/common/draw/imgui_painter.h"
#include "app/gl/imgui_renderer.h"
#include "app/gl/textures.h"

namespace attn::view {
struct AppState;
}  // namespace attn::view

namespace attn {

/// What a first launch begins with: text of one size however high the window is, in the steps that the keys take.
double default_scale(int height, double device_scale);

/// Where ui meets gl: the panels over one ImGui renderer.
class Screen {
  public:
    /// `built`: the fonts that the renderer's context has already; without an atlas: it has none.
    explicit Screen(gl::ImguiRenderer& renderer, const ui::BuiltFonts& built = {});

    /// Fonts, style and colours of the state in a window `height` pixels high; between two frames.
    void prepare(const view::AppState& state, int height, double device_scale);
    /// The panels of one frame, after the backends began theirs: what the person did.
    view::Actions build(const view::AppState& state);
    /// After the frame was drawn.
    void end_frame() { textures_.end_frame(); }
    /// "", or why the fonts are not the ones that were expected.
    const std::string& font_warning() const { return fonts_.warning; }

  private:
    std::uint64_t texture_of(const view::Picture& picture, bool smooth);

    gl::ImguiRenderer& renderer_;
    gl::TextureCache textures_;
    ui::Fonts fonts_;
    ui::Texture texture_;
    ui::ImguiPainter painter_{fonts_, texture_};
    double scale_ = 0.0;  // of the fonts
    std::optional<view::ThemeName> theme_;
};

/// What a frame of `state` is cleared to.
gl::Rgb background(const view::AppState& state);

}  // namespace attn
