#pragma once

#include <doctest/doctest.h>
#include <imgui_internal.h>

#include <optional>
#include <string>

#include "app/common/actions.h"
#include "app/common/draw/focus.h"
#include "app/common/state.h"
#include "app/window/draw/panels.h"
#include "app/window/draw/window.h"
#include "app/window/requests.h"
#include "app/workspaces/step/actions.h"
#include "tests/ui/null_ui.h"

namespace attn::test {

inline const ImVec2 kAppSize{1600.0F, 1000.0F};
/// Windows in which every workspace is drawn: of a laptop, of a large screen, of the smallest.
inline const ImVec2 kAppSizes[] = {{1280.0F, 720.0F}, {2560.0F, 1440.0F}, {640.0F, 400.0F}};

/// The child window of that name, drawn in the last frame; nullptr when there is none.
inline const ImGuiWindow* child(const char* name) {
    for (const ImGuiWindow* window : ImGui::GetCurrentContext()->Windows)
        if (window->Active &&
            std::string(window->Name).find(std::string("/") + name + "_") != std::string::npos)
            return window;
    return nullptr;
}

/// Whatever `gesture` does at the points of a lattice.
template <class Gesture>
view::Actions over(ImVec2 low, ImVec2 high, ImVec2 step, const Gesture& gesture) {
    view::Actions all;
    for (float y = low.y; y < high.y; y += step.y)
        for (float x = low.x; x < high.x; x += step.x)
            for (view::Action& action : gesture(ImVec2{x, y})) all.push_back(std::move(action));
    return all;
}
inline view::Actions clicks_over(NullUi& ui, ImVec2 low, ImVec2 high, ImVec2 step) {
    return over(low, high, step, [&](ImVec2 at) { return ui.click(at); });
}
/// Clicks at points of a lattice until an action of that type comes.
template <class A>
std::optional<A> click_until(NullUi& ui, ImVec2 low, ImVec2 high, ImVec2 step) {
    for (float y = low.y; y < high.y; y += step.y)
        for (float x = low.x; x < high.x; x += step.x) {
            const view::Actions actions = ui.click({x, y});
            if (const A* found = last<A>(actions)) return *found;
        }
    return std::nullopt;
}

/// The whole window over a state that the actions change.
struct App {
    view::AppState state = view::initial_state();
    NullUi ui;

    explicit App(ImVec2 size = kAppSize, float scale = 1.0F) : ui(size, scale) {
        ui.show([this](const ui::Frame& frame, view::Actions& out) {
            ui::draw_window(state, frame, out);
            for (const view::Action& action : out) view::apply(state, action);
        });
        ui.frames(2);
    }
    /// In a workspace.
    explicit App(const char* workspace, ImVec2 size = kAppSize) : App(size) {
        act({view::SetWorkspace{workspace}}, 3);
    }
    /// Where the workspace begins, beside the rail.
    float left() const { return ui::rail_width(ui.style()); }
    void set(view::AppState shown, int frames = 3) {
        state = std::move(shown);
        ui.frames(frames);
    }
    void act(const view::Actions& actions, int frames = 2) {
        for (const view::Action& action : actions) view::apply(state, action);
        ui.frames(frames);
    }
    /// Carries the requests of the state out too.
    void draw_frames(const view::Actions& actions = {}, int frames = 2) {
        for (const view::Action& action : actions) view::apply(state, action);
        view::answer_all(state);
        ui.frames(frames);
    }
    /// The state after a key.
    const view::AppState& pressed(view::Key key, bool ctrl = false, bool shift = false) {
        ui.press(key, ctrl, shift);
        return state;
    }
};

/// One panel that the keyboard reaches, over what of the state is of the moment.
struct Panel {
    view::AppState state = view::initial_state();
    NullUi ui{ImVec2{800.0F, 200.0F}};
    ImVec2 low, high;  // of the last item

    explicit Panel(NullUi::Draw draw) {
        ui.show_in_window([this, draw](const ui::Frame& bare, view::Actions& out) {
            ui::FocusRing ring(state.focus, {.list = ui::is_list_open(),
                                             .typing = state.focus.typing.has_value()});
            ui::Frame frame = bare;
            frame.focus = &ring;
            draw(frame, out);
            low = ImGui::GetItemRectMin();
            high = ImGui::GetItemRectMax();
            ring.finish(out);
            for (const view::Action& action : out) follow(action);
        });
        ui.frames(2);
    }
    void follow(const view::Action& action) {
        if (action.is<view::FocusControl>() || action.is<view::TypeInto>() ||
            action.is<view::MoveInList>())
            view::apply(state, action);
    }
};

}  // namespace attn::test
