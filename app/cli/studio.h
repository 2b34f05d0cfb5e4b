#pragma once

#include "app/gl/pixels.h"
#include "app/view/actions.h"

namespace attn::cli {

/// Draws what the window would show, without a window. The command line must not see the panels, so
/// main composes a studio from ui and gl and hands it down.
class Studio {
  public:
    virtual ~Studio() = default;
    /// One frame, drawn to its end. What the panels ask for, such as what their room is.
    virtual view::Actions draw(const view::AppState& state) = 0;
    /// The last frame.
    virtual gl::Pixels read() const = 0;
};

}  // namespace attn::cli
