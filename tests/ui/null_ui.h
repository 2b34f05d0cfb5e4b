#pragma once

#include <doctest/doctest.h>
#include <imgui.h>

#include <functional>
#include <set>
#include <string>

#include "app/common/action.h"
#include "app/common/draw/frame.h"
#include "app/common/draw/imgui_compat.h"
#include "app/common/draw/imgui_painter.h"

namespace attn::test {

/// ImGui without a window: a screen of its own, fonts, and hands that move mouse and keys.
class NullUi {
  public:
    using Draw = std::function<void(const ui::Frame&, view::Actions&)>;

    explicit NullUi(ImVec2 size = {1600.0F, 1000.0F}, float scale = 1.0F);
    ~NullUi();
    NullUi(const NullUi&) = delete;
    NullUi& operator=(const NullUi&) = delete;

    /// What draws every frame, as the whole screen (or within one full-screen window).
    void show(Draw draw) { draw_ = std::move(draw); }
    void show_in_window(Draw draw);

    /// One frame: what the panel said.
    view::Actions frame();
    view::Actions frames(int count);

    view::Actions move_to(ImVec2 at);
    view::Actions click(ImVec2 at);
    /// The left button goes down, or up, where the pointer is.
    view::Actions hold(bool down);
    view::Actions double_click(ImVec2 at);
    view::Actions drag(ImVec2 from, ImVec2 to);
    /// Turns the wheel where the pointer is; up is positive.
    view::Actions wheel(float notches);
    view::Actions press(view::Key key, bool ctrl = false, bool shift = false);
    view::Actions type(const std::string& text);
    /// The key and the letters of `text` come in one frame, as on a slow machine.
    view::Actions press_and_type(view::Key key, const std::string& text);

    const ui::Frame& style() const { return frame_; }
    /// Vertices of the last frame: that something was drawn at all.
    int drawn() const { return ImGui::GetDrawData()->TotalVtxCount; }

  private:
    void set_mouse(ImVec2 at);
    void set_button(bool down);
    void set_wheel(float notches);
    void set_key(view::Key key, bool down);
    void set_modifiers(bool ctrl, bool shift);

    ImGuiContext* context_;
    ui::Fonts fonts_;
    std::set<std::uint64_t> painted_;  // keys of pictures, each painted once as on a real screen
    ui::Texture texture_;
    ui::ImguiPainter painter_{fonts_, texture_};
    ui::Frame frame_;
    Draw draw_;
};

/// The last action of one kind; nullptr when there is none.
template <class T>
const T* last(const view::Actions& actions) {
    for (auto action = actions.rbegin(); action != actions.rend(); ++action)
        if (const T* found = action->as<T>()) return found;
    return nullptr;
}

/// The same, which must be there.
template <class T>
T action_of(const view::Actions& actions) {
    const T* const found = last<T>(actions);
    REQUIRE(found);
    return *found;
}

}  // namespace attn::test
