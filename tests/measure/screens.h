#pragma once

#include <memory>
#include <optional>

#include "app/gl/pixels.h"
#include "core/result.h"
#include "tests/measure/cases.h"
#include "tests/measure/tracer.h"

namespace attn::test {

/// The window laid out without pixels: ImGui's null backend with the real fonts. Of the scene that it shows
/// it takes size, scale and theme.
Log laid_out(const view::AppState& state, const Case& at);

/// The tooltip of that window while the pointer rests there.
std::optional<Rect> tooltip_at(const view::AppState& state, const Case& at, view::Point pointer);

/// The window drawn by OpenGL off screen, and read back. Needs EGL.
class Camera {
  public:
    static Result<std::unique_ptr<Camera>> open(gl::Size size);
    virtual ~Camera() = default;

    struct Shot {
        Log log;
        gl::Pixels pixels;
        view::Color at(int x, int y) const;  // clamped to the window
    };
    virtual Shot take(const view::AppState& state) = 0;
};

}  // namespace attn::test
