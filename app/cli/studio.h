#pragma once

#include <string>

#include "app/common/action.h"
#include "app/figures/figure.h"
#include "app/gl/pixels.h"
#include "core/result.h"

namespace attn::view {
struct AppState;
}  // namespace attn::view

namespace attn::cli {

/// The size and the kind of a studio's pictures.
struct StudioJob {
    gl::Size size;
    figures::Format format = figures::Format::png;
    bool chrome = true;  // the whole window, not the canvas alone; as PNG it is OpenGL's picture
    bool titles = true;  // of an SVG
};

/// Draws what the window would show, without a window: its picture, or a figure. The command line must not see the panels, so
/// main composes a studio from ui and gl and hands it down.
class Studio {
  public:
    virtual ~Studio() = default;
    /// One frame, drawn to its end. What the panels ask for, such as what their room is.
    virtual view::Actions draw(const view::AppState& state) = 0;
    /// The bytes of the file: what the last frame showed of `state`.
    virtual Result<std::string> picture(const view::AppState& state) = 0;
    /// What stands beside a figure of a fixed width, in place of a heading in it; "": nothing.
    virtual std::string caption(const view::AppState&) { return {}; }
};

}  // namespace attn::cli
