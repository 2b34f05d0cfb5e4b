#include "app/workspaces/step/draw/controls.h"
#include "app/common/document/call_actions.h"
#include "app/common/document/document.h"
#include "core/trace.h"
#include "tests/ui/app.h"
#include "tests/ui/text_spy.h"

using namespace attn;
using namespace attn::test;
using view::Key, view::step_look;

namespace {

/// The row alone, in a panel of that size.
struct Row {
    view::AppState state = view::initial_state();
    NullUi ui;
    SeenTexts texts;
    ui::ModelButton model;
    ImVec2 end{0.0F, 0.0F};  // of all that was drawn

    explicit Row(ImVec2 size, float scale = 1.0F) : ui(size, scale) {
        ui.show_in_window([this](const ui::Frame& bare, view::Actions& out) {
            ui::FocusRing ring(state.focus, {});
            TextSpy spy(bare.painter);
            ui::Frame frame = spied(bare, spy);
            frame.focus = &ring;
            const ImVec2 low = ImGui::GetCursorScreenPos();
            ImGui::BeginChild("controls", {0.0F, frame.px(40.0F)});
            model = draw_controls(build_step_view(state).controls, frame, out);
            end = ImGui::GetCurrentWindow()->DC.CursorMaxPos;
            ImGui::EndChild();
            texts = spy.texts;
            end.y -= low.y;
            for (const view::Action& action : out) view::apply(state, action);
        });
    }
    /// Where the field of the head begins; −1 where it is in the popover.
    float head_at() const {
        const SeenText* const head = find_text(texts, "head");
        return head != nullptr ? head->low.x : -1.0F;
    }
};

const ImGuiWindow* popover() {
    const ImGuiWindow* window = ImGui::FindWindowByName("model");
    return window != nullptr && window->Active ? window : nullptr;
}

ImVec2 model_button(App& app) {
    for (float x = 1590.0F; x > 800.0F; x -= 8.0F) {
        app.ui.click({x, 20.0F});
        if (step_look(app.state).model_open) return {x, 20.0F};
    }
    FAIL("no button opens the model");
    return {};
}

}  // namespace

TEST_CASE("the controls are one row at every width: what does not fit is in the popover") {
    for (const float width : {640.0F, 800.0F, 1000.0F, 1200.0F, 1600.0F, 2560.0F})
        for (const float scale : {1.0F, 1.5F, 2.0F}) {
            INFO("width ", width, ", scale ", scale);
            Row row({width, 300.0F}, scale);
            view::apply(row.state, view::SetHeads{8});
            row.ui.frames(2);
            CHECK(row.end.y <= 40.0F * scale);
            CHECK(row.model.button.high.x <= width);
            CHECK(row.model.button.high.x >= width - 40.0F * scale);
            if (width / scale >= 1200.0F) CHECK(row.model.left_out == 0);
            if (width / scale <= 800.0F) CHECK(row.model.left_out != 0);
        }
}

TEST_CASE("changing heads, widths, scaling or temperature moves no control of the row") {
    Row row({1500.0F, 300.0F});
    row.ui.frames(2);
    const ImVec2 before = row.model.button.low;
    for (const view::Action& action : view::Actions{
             view::SetKeyWidth{64}, view::SetKeyWidth{7}, view::SetScaling{false},
             view::SetTemperature{12.5}, view::SetModelWidth{64}, view::SetSeed{123456789}}) {
        view::apply(row.state, action);
        row.ui.frames(2);
        CHECK(row.model.button.low.x == before.x);
    }
}

TEST_CASE("no number of the scaling or of τ moves a control, or makes one come or go") {
    for (const bool operands : {false, true})
        for (const float width : {700.0F, 900.0F, 1100.0F, 1500.0F}) {
            CAPTURE(width);
            Row row({width, 300.0F});
            view::play(row.state, {view::SetHeads{2}, view::SetScaleOperands{operands}});
            row.ui.frames(2);
            const float head = row.head_at();
            const unsigned left_out = row.model.left_out;
            for (const view::Action& action :
                 view::Actions{view::SetKeyWidth{2}, view::SetKeyWidth{64}, view::SetKeyWidth{127},
                               view::SetTemperature{0.05}, view::SetTemperature{99.95}}) {
                view::apply(row.state, action);
                row.ui.frames(2);
                CHECK(row.head_at() == head);
                CHECK(row.model.left_out == left_out);
            }
        }
}

TEST_CASE("the popover opens by a click and D, closes by Escape, a click elsewhere, the button") {
    App app;
    view::apply(app.state, view::SelectCell{{Stage::x, 1, 1}});
    const ImVec2 button = model_button(app);
    REQUIRE(popover());
    CHECK_FALSE(step_look(app.pressed(Key::escape)).model_open);
    CHECK(app.state.selected);
    app.ui.press(Key::d);
    REQUIRE(popover());
    app.ui.click({500.0F, 960.0F});
    CHECK_FALSE(step_look(app.state).model_open);
    app.ui.click(button);
    REQUIRE(popover());
    app.ui.click(button);
    CHECK_FALSE(step_look(app.state).model_open);
    CHECK(popover() == nullptr);
}

TEST_CASE("a click within the popover changes the model and leaves it open") {
    App app;
    app.act({view::ShowModel{true}});
    const auto before = app.state.selected;
    const ImGuiWindow* window = popover();
    REQUIRE(window);
    const ImVec2 at{window->Pos.x + 240.0F, window->Pos.y + 16.0F + 26.0F + 14.0F};
    app.ui.click(at);
    CHECK(app.state.document().d_model > 4);
    CHECK(step_look(app.state).model_open);
    CHECK(app.state.selected == before);
}

TEST_CASE("Tab stays within the open popover, Escape goes back to its button") {
    App app;
    app.act({view::ShowModel{true}});
    std::set<std::uint32_t> met;
    for (int n = 0; n < 60; ++n) {
        REQUIRE(app.pressed(Key::tab).focus.control != 0);
        met.insert(app.state.focus.control);
    }
    // d_model, d_k, d_v, heads; score, soft cap, sinks, q and k, QK-norm; sinusoid, RoPE, ALiBi, offset; window, padding; dropout;
    // seed, re-seed, copy
    CHECK(met.size() == 19);
    CHECK_FALSE(step_look(app.pressed(Key::escape)).model_open);
    const std::uint32_t button = app.state.focus.control;
    REQUIRE(button != 0);
    CHECK_FALSE(met.contains(button));
    CHECK(step_look(app.pressed(Key::enter)).model_open);
    app.ui.frames(2);
    CHECK(met.contains(app.state.focus.control));
}

TEST_CASE("Escape in a number of the popover ends the typing alone") {
    App app;
    app.act({view::ShowModel{true}});
    app.ui.press(Key::tab);  // d_model
    app.ui.type("6");
    REQUIRE(app.state.focus.typing);
    CHECK_FALSE(app.pressed(Key::escape).focus.typing);
    CHECK(step_look(app.state).model_open);
    CHECK(app.state.document().d_model == 4);
    CHECK_FALSE(step_look(app.pressed(Key::escape)).model_open);
}

TEST_CASE("the popover lies within the window at every size, and scrolls in the smallest alone") {
    for (const float scale : {1.0F, 1.5F})
        for (const ImVec2 size : {ImVec2{640.0F, 360.0F}, {1280.0F, 720.0F}, {1600.0F, 1000.0F}}) {
            INFO("size.x ", size.x, ", scale ", scale);
            App app(size, scale);
            app.act({view::SetHeads{16}, view::SetKeyHeads{2}, view::SetSoftCap{1.0},
                     view::SetRope{view::RopeTurn::half}, view::SetDropout{0.5}, view::SetWindow{1},
                     view::SetPadding{3}, view::ShowModel{true}},
                    3);
            const ImGuiWindow* window = popover();
            REQUIRE(window);
            CHECK(window->Pos.x >= 0.0F);
            CHECK(window->Pos.x + window->Size.x <= size.x);
            CHECK(window->Pos.y + window->Size.y <= size.y);
            CHECK(window->ScrollMax.x == 0.0F);
            if (size.x >= 1280.0F) CHECK(window->ScrollMax.y == 0.0F);
        }
}

TEST_CASE("clicks in the popover reach every field of the call") {
    App app;
    app.act({view::SetHeads{4}, view::SetRope{view::RopeTurn::half}, view::SetDropout{0.5},
             view::ShowModel{true}});
    const ImGuiWindow* window = popover();
    REQUIRE(window);
    const ImVec2 low = window->Pos;
    const ImVec2 high{low.x + window->Size.x, low.y + window->Size.y};
    std::set<std::string_view> met;
    const view::AppState first = app.state;
    for (float y = low.y + 12.0F; y < high.y; y += 9.0F)
        for (float x = low.x + 12.0F; x < high.x; x += 12.0F) {
            for (const view::Action& action : app.ui.click({x, y})) met.insert(name_of(action));
            app.set(first, 1);
        }
    for (const std::string_view name :
         {"set_value_width", "set_kv_heads", "set_softcap", "set_sinks", "set_rope_base",
          "set_alibi", "set_query_offset", "set_dropout", "set_dropout_seed", "set_training",
          "set_scale_q_k", "set_sinusoid", "set_padding", "set_window", "copy_query_weights",
          "set_seed"})
        CHECK_MESSAGE(met.contains(name), name);
}

TEST_CASE("by keys alone: Tab to the score, arrow keys choose; Space switches sinks and ALiBi") {
    App app;
    app.act({view::ShowModel{true}});
    for (int n = 0; n < 5; ++n) app.ui.press(Key::tab);
    app.ui.press(Key::down);
    CHECK(app.state.document().spec.score == Score::cosine);
    app.ui.press(Key::tab);  // soft cap
    app.ui.press(Key::space);
    CHECK(app.state.document().spec.softcap == 1.0);
    app.ui.press(Key::tab);  // its slider
    app.ui.press(Key::end);
    CHECK(app.state.document().spec.softcap == 100.0);
    app.ui.press(Key::tab);
    app.ui.press(Key::space);
    CHECK_FALSE(app.state.document().inputs->params[Param::sinks].empty());
    app.ui.press(Key::tab);  // QK-norm
    app.ui.press(Key::tab);  // sinusoid
    app.ui.press(Key::space);
    CHECK_FALSE(app.state.document().sinusoid);
    app.ui.press(Key::tab);  // RoPE
    app.ui.press(Key::down);
    REQUIRE(app.state.document().spec.rope);
    CHECK(app.state.document().spec.rope->pairs == RopePairs::half);
    app.ui.press(Key::tab);  // base
    app.ui.press(Key::tab);
    app.ui.press(Key::space);
    CHECK(app.state.document().spec.alibi);
    CHECK(step_look(app.state).model_open);
}
