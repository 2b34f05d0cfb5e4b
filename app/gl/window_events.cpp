#include "app/gl/window_events.h"

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>
#include <imgui.h>

#include <algorithm>
#include <utility>

namespace attn::gl {

/// What was called before us.
struct WindowEvents::Callbacks {
    GLFWkeyfun key = nullptr;
    GLFWcharfun character = nullptr;
    GLFWmousebuttonfun button = nullptr;
    GLFWcursorposfun cursor = nullptr;
    GLFWcursorenterfun enter = nullptr;
    GLFWscrollfun scroll = nullptr;
    GLFWwindowfocusfun focus = nullptr;
    GLFWwindowiconifyfun iconify = nullptr;
    GLFWwindowrefreshfun refresh = nullptr;
    GLFWwindowclosefun close = nullptr;
    GLFWframebuffersizefun size = nullptr;
    GLFWwindowcontentscalefun scale = nullptr;
};

namespace {

bool is_modifier(int key) { return key >= GLFW_KEY_LEFT_SHIFT && key <= GLFW_KEY_RIGHT_SUPER; }

/// Dear ImGui's characters have 16 bits: one above is handed on in two halves.
std::vector<unsigned int> parts_of(unsigned int character) {
    if (sizeof(ImWchar) > 2 || character < 0x10000) return {character};
    const unsigned int rest = character - 0x10000;
    return {0xD800 + (rest >> 10U), 0xDC00 + (rest & 0x3FFU)};
}

WindowEvents& events_of(GLFWwindow* window) {
    return *static_cast<WindowEvents*>(glfwGetWindowUserPointer(window));
}

}  // namespace

template <auto Slot, class... Args>
void WindowEvents::forward(GLFWwindow* window, Args... args) {
    WindowEvents& self = events_of(window);
    self.news_ = true;
    if (const auto before = (*self.before_).*Slot) before(window, args...);
}

WindowEvents::WindowEvents(GLFWwindow* window)
    : window_(window), before_(std::make_unique<Callbacks>()) {
    glfwSetWindowUserPointer(window, this);
    before_->key =
        glfwSetKeyCallback(window, [](GLFWwindow* w, int key, int code, int act, int mods) {
            if (act == GLFW_REPEAT)  // Dear ImGui repeats by its own clock
                events_of(w).news_ = true;
            else
                events_of(w).typed_.push_back(KeyEvent{key, code, act, mods});
        });
    before_->character = glfwSetCharCallback(
        window, [](GLFWwindow* w, unsigned int c) { events_of(w).typed_.push_back(c); });
    glfwSetDropCallback(window, [](GLFWwindow* w, int count, const char** paths) {
        WindowEvents& self = events_of(w);
        self.dropped_.insert(self.dropped_.end(), paths, paths + count);
        self.news_ = true;
    });
    using C = Callbacks;
    before_->button = glfwSetMouseButtonCallback(window, forward<&C::button, int, int, int>);
    before_->cursor = glfwSetCursorPosCallback(window, forward<&C::cursor, double, double>);
    before_->enter = glfwSetCursorEnterCallback(window, forward<&C::enter, int>);
    before_->scroll = glfwSetScrollCallback(window, forward<&C::scroll, double, double>);
    before_->focus = glfwSetWindowFocusCallback(window, forward<&C::focus, int>);
    before_->iconify = glfwSetWindowIconifyCallback(window, forward<&C::iconify, int>);
    before_->refresh = glfwSetWindowRefreshCallback(window, forward<&C::refresh>);
    before_->close = glfwSetWindowCloseCallback(window, forward<&C::close>);
    before_->size = glfwSetFramebufferSizeCallback(window, forward<&C::size, int, int>);
    before_->scale = glfwSetWindowContentScaleCallback(window, forward<&C::scale, float, float>);
}

WindowEvents::~WindowEvents() {
    glfwSetKeyCallback(window_, before_->key);
    glfwSetCharCallback(window_, before_->character);
    glfwSetMouseButtonCallback(window_, before_->button);
    glfwSetCursorPosCallback(window_, before_->cursor);
    glfwSetCursorEnterCallback(window_, before_->enter);
    glfwSetScrollCallback(window_, before_->scroll);
    glfwSetWindowFocusCallback(window_, before_->focus);
}

std::vector<std::string> WindowEvents::take_dropped() { return std::exchange(dropped_, {}); }

bool WindowEvents::take_news() { return std::exchange(news_, false) || !typed_.empty(); }

void WindowEvents::hand_on_keys() {
    std::vector<int> changed;
    bool pressed = false;
    for (; !typed_.empty(); typed_.pop_front()) {
        if (const auto* character = std::get_if<unsigned int>(&typed_.front())) {
            if (before_->character)
                for (const unsigned int part : parts_of(*character))
                    before_->character(window_, part);
            continue;
        }
        const auto [key, scancode, action, mods] = std::get<KeyEvent>(typed_.front());
        const bool presses = action == GLFW_PRESS && !is_modifier(key);
        // Ctrl let go right after Q still makes it Ctrl+Q: what a key was pressed with waits.
        if (pressed && (presses || is_modifier(key))) return;
        if (std::ranges::count(changed, key) > 0) return;
        pressed = pressed || presses;
        changed.push_back(key);
        if (before_->key) before_->key(window_, key, scancode, action, mods);
    }
}

}  // namespace attn::gl
