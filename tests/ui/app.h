#pragma once

#include "app/common/draw/focus.h"
#include "app/window/draw/window.h"
#include "tests/ui/null_ui.h"

namespace attn::test {

/// The whole window over a state that the actions change.
struct App {
    view::AppState state = view::initial_state();
    NullUi ui;

    explicit App(ImVec2 size = {1600.0F, 1000.0F}) : ui(size) {
        ui.show([this](const ui::Frame& frame, view::Actions& out) {
            ui::draw_window(state, frame, out);
            for (const view::Action& action : out) view::apply(state, action);
        });
        ui.frames(2);
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
