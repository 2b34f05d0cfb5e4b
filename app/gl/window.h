#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "app/gl/imgui_renderer.h"
#include "app/gl/pixels.h"
#include "app/gl/window_events.h"
#include "core/result.h"

namespace attn::gl {

struct WindowOptions {
    std::string title;      // also the X11 class
    Size size{1600, 1000};  // at 100 %; smaller where the monitor is smaller
    Size least{1280, 720};  // it cannot be made smaller than this
    /// Called with the window's likely size and content scale before OpenGL starts, which takes a while: what is begun here
    /// in a thread goes on beside it.
    std::function<void(Size size, double content_scale)> on_size = {};
    /// Called when OpenGL is there: the fonts of Dear ImGui's context; none or null: it has an atlas of its own.
    std::function<std::shared_ptr<ImFontAtlas>()> atlas = {};
};

/// The window, its GL context (current from open() to the destructor) and Dear ImGui in it.
class Window {
  public:
    /// OpenGL 4.3 core, or 3.3 where there is no 4.3. The sentence of an error says what to do.
    static Result<std::unique_ptr<Window>> open(const WindowOptions& options);
    ~Window();

    /// How much larger than at 96 dpi things should be, in steps of 0.25, at least 1.
    double content_scale() const;
    Size size() const;
    bool take_close();
    WindowEvents& events() { return *events_; }
    ImguiRenderer& imgui() { return *imgui_; }

    /// Handles what came in; sleeps until something comes, at most `timeout_s`.
    void wait_events(double timeout_s);
    /// Ends the sleep of wait_events(). From any thread, also where there is no window any more.
    static void wake();

    void begin_frame();
    /// Ends ImGui's frame and draws it over `background`.
    void draw(Rgb background);
    /// What was drawn since begin_frame(): before swap().
    Pixels read() const;
    void swap();

  private:
    struct Place {
        double x, y;
    };
    Window() = default;
    bool pointer_moved();

    GLFWwindow* window_ = nullptr;
    std::unique_ptr<ImguiRenderer> imgui_;
    std::unique_ptr<WindowEvents> events_;
    std::optional<Place> first_pointer_ = Place{-1.0, -1.0};  // none: it has moved since
};

}  // namespace attn::gl
