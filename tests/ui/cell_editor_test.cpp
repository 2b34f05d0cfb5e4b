#include "app/common/document/document.h"
#include "app/workspaces/step/draw/canvas.h"
#include "core/call.h"
#include "core/trace.h"
#include "tests/figures/recorder.h"
#include "tests/ui/app.h"
#include "tests/ui/sample.h"

using namespace attn;
using namespace attn::test;
using view::Key, view::step_look;

namespace {

/// The field over one cell.
struct Editor {
    ImVec2 low{200.0F, 100.0F}, size;
    view::CellEdit editing{{Stage::x, 0, 0}, "-0.125"};
    NullUi ui;

    explicit Editor(ImVec2 cell) : size(cell) {
        ui.show_in_window([this](const ui::Frame& frame, view::Actions& out) {
            ui::draw_cell_editor(editing, low, size, frame, out);
        });
        ui.frames(4);
    }
    ImRect place() const {
        for (const ImGuiWindow* window : ImGui::GetCurrentContext()->Windows)
            if (window->Active &&
                std::string(window->Name).find("cell editor") != std::string::npos)
                return window->Rect();
        return {};
    }
};

/// How strong the words of a flash are drawn, 0…255; 0 where they are not.
int flash_strength(const view::StepView& view) {
    test::Recorder recorder;
    NullUi ui;
    ui.show_in_window([&](const ui::Frame& frame, view::Actions& out) {
        recorder.calls.clear();
        ui::draw_canvas(view, {}, {frame.fonts, frame.theme, frame.scale, recorder, recorder}, out);
    });
    ui.frames(2);
    const test::Call* const text = recorder.find_text("1 → 3");
    return text ? text->color.a : 0;
}

}  // namespace

TEST_CASE("a cell is typed into in its own place; a small one about its middle, wide enough") {
    const Editor spacious({120.0F, 90.0F});
    CHECK(spacious.place().Min.x == 200.0F);
    CHECK(spacious.place().Min.y == 100.0F);
    CHECK(spacious.place().GetWidth() == 120.0F);
    CHECK(spacious.place().GetHeight() == 90.0F);
    Editor small({20.0F, 14.0F});
    const ImRect place = small.place();
    const float text = small.ui.style().text_width(small.ui.style().fonts.digits_small, "-0.125");
    CHECK(place.GetWidth() > text);
    CHECK(place.GetWidth() < text + 40.0F);
    CHECK(std::abs(place.GetCenter().x - 210.0F) <= 1.0F);
    CHECK(std::abs(place.GetCenter().y - 107.0F) <= 1.0F);
}

TEST_CASE("the field opens with everything selected: a letter replaces the number") {
    Editor editor({120.0F, 90.0F});
    CHECK(action_of<view::DraftCell>(editor.ui.type("7")).text == "7");
}

TEST_CASE("Enter on what is no number keeps the field open, and the next letter replaces it") {
    App app;
    app.act({view::GoToStage{Stage::x}, view::BeginCellEdit{{Stage::x, 1, 1}}}, 3);
    app.ui.type("1.2.3");
    REQUIRE(step_look(app.pressed(Key::enter)).editing);
    CHECK(app.state.message.severity == view::Severity::error);
    app.ui.frames(2);
    app.ui.type("4");
    CHECK(step_look(app.state).editing->draft == "4");
    CHECK_FALSE(step_look(app.pressed(Key::enter)).editing);
    CHECK(app.state.document().inputs->x(0, 0, 1, 1) == 4.0F);
}

TEST_CASE("Tab and Shift+Tab go through the cells of a row, each with everything selected") {
    App app;
    app.act({view::GoToStage{Stage::x}, view::BeginCellEdit{{Stage::x, 1, 1}}}, 3);
    for (const char* letter : {"5", "6"}) {
        app.ui.type(letter);
        app.ui.press(Key::tab);
        app.ui.frames(2);
    }
    CHECK(app.state.document().inputs->x(0, 0, 1, 1) == 5.0F);
    CHECK(app.state.document().inputs->x(0, 0, 1, 2) == 6.0F);
    REQUIRE(step_look(app.state).editing);
    CHECK(step_look(app.state).editing->cell == view::CellRef{Stage::x, 1, 3});
    app.ui.press(Key::tab, false, true);
    app.ui.frames(2);
    REQUIRE(step_look(app.state).editing);
    CHECK(step_look(app.state).editing->cell == view::CellRef{Stage::x, 1, 2});
    CHECK(app.state.focus.control == 0);
    CHECK_FALSE(step_look(app.pressed(Key::escape)).editing);
    CHECK(app.state.document().inputs->x(0, 0, 1, 2) == 6.0F);
}

TEST_CASE("old → new stands at the cell, fades, and is gone") {
    view::StepView view = test::sample_scores();
    CHECK(flash_strength(view) == 0);
    view.flash = view::FlashView{{Stage::q, 1, 1}, "1 → 3", 1.0};
    CHECK(flash_strength(view) == 255);
    view.flash->left = 0.5;
    CHECK(flash_strength(view) == 255);
    view.flash->left = 0.2;
    const int late = flash_strength(view);
    view.flash->left = 0.02;
    CHECK(late < 200);
    CHECK(flash_strength(view) < late / 4);
}
