#pragma once

#include <deque>
#include <memory>
#include <string>
#include <variant>
#include <vector>

struct GLFWwindow;

namespace attn::gl {

/// Stands between a GLFW window and the callbacks that were there first (Dear ImGui's): notices that
/// something happened, and hands on at most one pressed key in a frame and one change of each key,
/// because ImGui 1.86 sees only the last one and a frame carries out one command.
class WindowEvents {
  public:
    /// Takes over the window's callbacks and its user pointer.
    explicit WindowEvents(GLFWwindow* window);
    ~WindowEvents();

    /// Whether anything came since the last call, or keys still wait to be handed on.
    bool take_news();
    /// Paths of files that were dropped on the window since the last call.
    std::vector<std::string> take_dropped();
    /// Before a frame: hands on the keys and characters that it can tell apart.
    void hand_on_keys();

  private:
    struct KeyEvent {
        int key, scancode, action, mods;
    };
    using Typed = std::variant<KeyEvent, unsigned int>;  // or a character
    struct Callbacks;
    template <auto Slot, class... Args>
    static void forward(GLFWwindow* window, Args... args);

    GLFWwindow* window_;
    std::unique_ptr<Callbacks> before_;
    std::deque<Typed> typed_;
    std::vector<std::string> dropped_;
    bool news_ = true;
};

}  // namespace attn::gl
