#include "app/gl/window.h"

#include <epoxy/gl.h>
// after epoxy
#include <GLFW/glfw3.h>
#include <backends/imgui_impl_glfw.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <mutex>

#include "app/gl/system.h"

namespace attn::gl {
namespace {

// wake() is called by other threads, also by those of signals and jobs that outlive the window. glfwPostEmptyEvent() uses
// the display that glfwTerminate() frees, so the two must not run at the same time.
std::mutex waking;
bool can_wake = false;  // from the end of open() to the destructor

void allow_waking(bool allowed) {
    const std::scoped_lock lock(waking);
    can_wake = allowed;
}

std::string glfw_text() {
    const char* text = nullptr;
    glfwGetError(&text);
    return text != nullptr ? text : "GLFW gives no reason";
}

Failure no_display() {
    const std::string why = is_display_named() ? glfw_text() : "DISPLAY is not set";
    return failed(
        fmt::format("the window needs a display, but {}; start attnscope on a desktop, or draw "
                    "pictures without one: attnscope render --all -o out/",
                    why));
}

/// What of the primary monitor is free for windows.
std::optional<Size> free_screen() {
    GLFWmonitor* monitor = glfwGetPrimaryMonitor();
    if (monitor == nullptr) return std::nullopt;
    Size size;
    glfwGetMonitorWorkarea(monitor, nullptr, nullptr, &size.width, &size.height);
    return size;
}

/// In steps of 0.25, at least 1.
double stepped(float scale) {
    return std::max(1.0, std::round(static_cast<double>(scale) * 4.0) / 4.0);
}

double screen_scale() {
    float scale = 1.0F;
    if (GLFWmonitor* monitor = glfwGetPrimaryMonitor())
        glfwGetMonitorContentScale(monitor, &scale, nullptr);
    return stepped(scale);
}

Size smaller(Size a, Size b) { return {std::min(a.width, b.width), std::min(a.height, b.height)}; }

Size scaled(Size size, double scale) {
    return {static_cast<int>(size.width * scale), static_cast<int>(size.height * scale)};
}

GLFWwindow* create(const std::string& title, Size size, int major, int minor) {
    glfwWindowHint(GLFW_CONTEXT_VERSION_MAJOR, major);
    glfwWindowHint(GLFW_CONTEXT_VERSION_MINOR, minor);
    glfwWindowHint(GLFW_OPENGL_PROFILE, GLFW_OPENGL_CORE_PROFILE);
    glfwWindowHint(GLFW_OPENGL_FORWARD_COMPAT, wants_forward_context() ? GLFW_TRUE : GLFW_FALSE);
    glfwWindowHintString(GLFW_X11_CLASS_NAME, title.c_str());
    glfwWindowHintString(GLFW_X11_INSTANCE_NAME, title.c_str());
    return glfwCreateWindow(size.width, size.height, title.c_str(), nullptr, nullptr);
}

}  // namespace

Result<std::unique_ptr<Window>> Window::open(const WindowOptions& options) {
    if (glfwInit() != GLFW_TRUE) return no_display();
    std::unique_ptr<Window> self(new Window);
    Size size = scaled(options.size, screen_scale());
    if (const auto screen = free_screen()) size = smaller(size, *screen);
    if (options.on_size) options.on_size(size, screen_scale());
    self->window_ = create(options.title, size, 4, 3);
    if (self->window_ == nullptr) self->window_ = create(options.title, size, 3, 3);
    if (self->window_ == nullptr)
        return failed(
            fmt::format("the window needs OpenGL 3.3 or later, but there is none here ({}); "
                        "install a graphics driver, on Debian libgl1-mesa-dri",
                        glfw_text()));
    const Size least = smaller(options.least, size);
    glfwSetWindowSizeLimits(self->window_, least.width, least.height, GLFW_DONT_CARE,
                            GLFW_DONT_CARE);
    glfwMakeContextCurrent(self->window_);
    glfwSwapInterval(1);
    self->imgui_ = std::make_unique<ImguiRenderer>(options.atlas ? options.atlas() : nullptr);
    ImGui_ImplGlfw_InitForOpenGL(self->window_, true);
    self->events_ = std::make_unique<WindowEvents>(self->window_);
    allow_waking(true);
    return self;
}

Window::~Window() {
    allow_waking(false);
    events_.reset();
    if (imgui_) ImGui_ImplGlfw_Shutdown();
    imgui_.reset();
    if (window_ != nullptr) glfwDestroyWindow(window_);
    glfwTerminate();
}

double Window::content_scale() const {
    float scale = 1.0F;
    glfwGetWindowContentScale(window_, &scale, nullptr);
    return stepped(scale);
}

Size Window::size() const {
    Size size;
    glfwGetFramebufferSize(window_, &size.width, &size.height);
    return size;
}

bool Window::take_close() {
    const bool asked = glfwWindowShouldClose(window_) == GLFW_TRUE;
    glfwSetWindowShouldClose(window_, GLFW_FALSE);
    return asked;
}

void Window::wait_events(double timeout_s) {
    if (timeout_s > 0.0)
        glfwWaitEventsTimeout(timeout_s);
    else
        glfwPollEvents();
}

void Window::wake() {
    const std::scoped_lock lock(waking);
    if (can_wake) glfwPostEmptyEvent();
}

void Window::begin_frame() {
    events_->hand_on_keys();
    imgui_->begin_frame();
    ImGui_ImplGlfw_NewFrame();
    if (!pointer_moved()) ImGui::GetIO().MousePos = {-FLT_MAX, -FLT_MAX};
}

/// One that rests where the window opened points at nothing.
bool Window::pointer_moved() {
    constexpr double kFar = 2.0;  // px
    if (!first_pointer_) return true;
    double x = 0.0, y = 0.0;
    glfwGetCursorPos(window_, &x, &y);
    if (first_pointer_->x < 0.0) first_pointer_ = Place{x, y};
    const bool pressed = glfwGetMouseButton(window_, GLFW_MOUSE_BUTTON_LEFT) == GLFW_PRESS ||
                         glfwGetMouseButton(window_, GLFW_MOUSE_BUTTON_RIGHT) == GLFW_PRESS;
    if (pressed || std::hypot(x - first_pointer_->x, y - first_pointer_->y) > kFar)
        first_pointer_.reset();
    return !first_pointer_;
}

void Window::draw(Rgb background) { imgui_->draw(size(), background); }

Pixels Window::read() const { return read_pixels(size()); }

void Window::swap() { glfwSwapBuffers(window_); }

}  // namespace attn::gl
