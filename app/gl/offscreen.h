#pragma once

#include <cstdint>
#include <memory>

#include "app/gl/pixels.h"
#include "core/result.h"

namespace attn::gl {

/// hardware_first: a graphics card where EGL finds one, whatever else it offers.
enum class Renderer : std::uint8_t { any, hardware_first };

/// An OpenGL context without window, display server or graphics card, and a framebuffer to draw in.
/// It is current from open() to the destructor, on the thread that opened it.
class Offscreen {
  public:
    /// OpenGL 4.3 core, or 3.3 where there is no 4.3. Fails when EGL offers neither.
    static Result<std::unique_ptr<Offscreen>> open(Size size, Renderer renderer = Renderer::any);
    ~Offscreen();
    Offscreen(const Offscreen&) = delete;
    Offscreen& operator=(const Offscreen&) = delete;

    Size size() const { return size_; }
    /// What was drawn, once all of it is.
    Pixels read() const;

  private:
    Offscreen(void* display, void* context) : display_(display), context_(context) {}
    static Result<std::unique_ptr<Offscreen>> open_on(void* display, Size size);
    Result<void> make_framebuffer(Size size);

    void*
        display_;  // EGLDisplay and EGLContext, which are these pointers; a window and its context on Windows
    void* context_;
    Size size_;
    std::uint32_t framebuffer_ = 0;
    std::uint32_t colors_ = 0;
};

/// Waits until everything that was asked of the current context is drawn: for honest timing.
void finish();

}  // namespace attn::gl
