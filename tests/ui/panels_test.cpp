#include "app/common/document/document.h"
#include "app/common/draw/inspector.h"
#include "app/common/draw/widgets.h"
#include "app/common/figure_size.h"
#include "app/window/rail.h"
#include "app/workspaces/step/draw/canvas.h"
#include "core/scores/score.h"
#include "core/stages.h"
#include "core/train/task_table.h"
#include "tests/ui/app.h"
#include "tests/view/probe_workspace.h"

using namespace attn;
using namespace attn::test;
using view::Key, view::step_look;

namespace {

std::vector<view::RibbonItem> sample_ribbon() {
    std::vector<view::RibbonItem> items;
    for (const Stage stage : {Stage::x, Stage::q, Stage::k, Stage::scores})
        items.push_back({stage, std::string(info(stage).symbol), "3 × 4", "formula", Role::input,
                         view::Progress::ahead});
    return items;
}

}  // namespace

TEST_CASE("a click on the ribbon goes to that stage") {
    NullUi ui({800.0F, 72.0F});
    ui.show_in_window([](const ui::Frame& frame, view::Actions& out) {
        ui::draw_ribbon(sample_ribbon(), frame, out);
    });
    ui.frames(2);
    std::vector<Stage> met;
    for (float x = 18.0F; x < 400.0F; x += 6.0F) {
        const view::Actions actions = ui.click({x, 36.0F});
        if (const auto* go = last<view::GoToStage>(actions)) met.push_back(go->stage);
    }
    CHECK(std::ranges::is_sorted(met));
    CHECK(met.front() == Stage::x);
    CHECK(met.back() == Stage::scores);
}

TEST_CASE("a linked number lights its cell under the pointer and selects it on a click") {
    view::InspectorView view;
    view.empty = false;
    view.title = "scores[cat, sat]";
    view.value = "1.23";
    const view::CellRef source{Stage::q, 1, 0};
    view.lines = {{"", {{std::string(60, '8'), Role::query, false, source}}}};
    std::optional<view::CellRef> hovered;
    NullUi ui({800.0F, 600.0F});
    ui.show_in_window([&](const ui::Frame& frame, view::Actions& out) {
        hovered = ui::draw_inspector(view, frame, out).cell;
    });
    ui.frames(2);
    view::Actions clicked;
    for (float y = 60.0F; y < 140.0F && !hovered; y += 4.0F) clicked = ui.click({200.0F, y});
    CHECK(hovered == source);
    const auto* selected = last<view::SelectCell>(clicked);
    REQUIRE(selected);
    CHECK(selected->cell == source);
}

TEST_CASE("keys step, undo and open the overlays") {
    App app;
    CHECK(last<view::StepBy>(app.ui.press(Key::right)));
    app.ui.press(Key::s);
    CHECK(last<view::Undo>(app.ui.press(Key::z, true)));
    CHECK(app.pressed(Key::f1).show_help);
    CHECK(!app.pressed(Key::escape).show_help);
    app.ui.press(Key::f1);
    CHECK(app.pressed(Key::f1, true).show_about);
    CHECK(!app.state.show_help);
    app.ui.press(Key::digit2);  // not while a page lies over the window
    CHECK(app.state.workspace == "step");
    CHECK(!app.pressed(Key::escape).show_about);
    CHECK(app.pressed(Key::digit2).workspace == "saturation");
}

TEST_CASE("1 and 2 change the workspace while an editable cell is selected") {
    App app;
    app.act({view::SelectCell{{Stage::x, 0, 0}}});
    CHECK(app.pressed(Key::digit2).workspace == "saturation");
    CHECK(app.pressed(Key::digit1).workspace == "step");
    CHECK(!step_look(app.state).editing);
    CHECK(step_look(app.pressed(Key::enter)).editing);
}

TEST_CASE("a digit after a double click on a computed number stays, and says so again") {
    App app;
    app.act({view::ExplainSource{{Stage::v, 0, 0}}});
    CHECK(last<view::ExplainSource>(app.ui.type("2")));
    CHECK(app.pressed(Key::digit2).workspace == "step");
    CHECK(app.pressed(Key::right).workspace == "step");
    CHECK(app.pressed(Key::digit2).workspace == "saturation");
}

TEST_CASE("a digit goes to the first of its group and waits for a letter; within it only waits") {
    App app;
    CHECK(app.pressed(Key::digit2).workspace == "saturation");
    CHECK(app.pressed(Key::n).workspace == "numerics");
    CHECK(app.pressed(Key::digit2).workspace == "numerics");
    CHECK(app.pressed(Key::g).workspace == "gradients");
    app.ui.press(Key::digit2);
    CHECK(app.pressed(Key::escape).workspace == "gradients");  // ends the waiting
    CHECK(app.pressed(Key::n).workspace == "gradients");
    app.ui.press(Key::digit1);
    app.ui.press(Key::k);  // no letter of the group
    CHECK(last<view::SetScaling>(app.ui.press(Key::s)));
}

TEST_CASE("the palette finds a command, Enter runs it, Escape closes it") {
    App app;
    REQUIRE(app.pressed(Key::k, true).show_palette);
    app.ui.frames(3);
    app.ui.type("light");
    CHECK(app.state.palette_query == "light");
    CHECK(app.pressed(Key::enter).theme == view::ThemeName::light);
    CHECK(!app.state.show_palette);
    app.ui.press(Key::k, true);
    CHECK(!app.pressed(Key::escape).show_palette);
}

TEST_CASE(
    "a prompt lists what lies there: the arrows choose, Enter enters a folder or opens a file") {
    App app;
    const auto lists = [&](const std::string& path) {
        view::Folder folder{
            path, "", {{"sub", true}, {"model", true, true}, {"a.npz"}, {"a.json"}}};
        app.act({view::ShowFolder{std::move(folder)}, view::ChoosePath{-1}}, 3);
    };
    app.act({view::ShowPrompt{view::PromptKind::open}});
    lists("");
    app.ui.press(Key::down);  // ../
    app.ui.press(Key::down);
    const view::Actions entered = app.ui.press(Key::enter);
    CHECK(action_of<view::DraftPrompt>(entered).path == "sub/");
    CHECK_FALSE(last<view::OpenFile>(entered));
    lists("sub/");
    app.ui.frames(2);
    app.ui.type("a");  // typed on, in place of none of it
    CHECK(app.state.prompt->path == "sub/a");
    CHECK(action_of<view::OpenFile>(app.ui.press(Key::enter)).path == "sub/a");  // as it is typed
    app.act({view::ShowPrompt{view::PromptKind::open, "sub/a"}});
    lists("sub/");
    app.ui.press(Key::down);
    CHECK(action_of<view::OpenFile>(app.ui.press(Key::enter)).path == "sub/a.npz");
    app.ui.press(Key::escape);
    app.act({view::ShowPrompt{view::PromptKind::save, "sub/a"}});
    lists("sub/");
    app.ui.press(Key::up);
    app.ui.press(Key::down);
    const view::Actions taken = app.ui.press(Key::enter);
    CHECK(action_of<view::DraftPrompt>(taken).path == "sub/a.json");
    CHECK_FALSE(last<view::SaveSession>(taken));  // by another Enter
}

TEST_CASE("a question about work that is not saved has the keyboard alone") {
    App app;
    app.act({view::OfferQuit{}});
    REQUIRE(app.state.quit_asked);
    CHECK_FALSE(last<view::SetScaling>(app.ui.press(Key::s)));
    CHECK(action_of<view::AnswerQuit>(app.ui.press(Key::d)).answer == view::QuitAnswer::discard);
    app.act(
        {view::AnswerQuit{view::QuitAnswer::stay}, view::OfferRecovery{view::Recovery{"p", "w"}}});
    REQUIRE(app.state.recovery_shown);
    CHECK_FALSE(last<view::SetScaling>(app.ui.press(Key::s)));
    CHECK(last<view::AnswerRecovery>(app.ui.press(Key::escape)));
    CHECK(last<view::SetScaling>(app.ui.press(Key::s)));
}

namespace {

/// The targets of clicks on the rail, from top to bottom, without the entries at its bottom.
std::vector<std::string> on_rail(const view::AppState& state, ImVec2 size = {1600.0F, 1000.0F}) {
    NullUi ui(size);
    ui.show(
        [&](const ui::Frame& frame, view::Actions& out) { ui::draw_window(state, frame, out); });
    ui.frames(2);
    std::vector<std::string> all;
    for (float y = 4.0F; y < size.y * 0.7F; y += 8.0F) {
        const view::Actions clicked = ui.click({40.0F, y});
        std::string to;
        if (const auto* go = last<view::SetWorkspace>(clicked)) to = go->workspace;
        if (last<view::ShowAllTools>(clicked) != nullptr) to = "all tools";
        if (!to.empty() && (all.empty() || all.back() != to)) all.push_back(to);
    }
    return all;
}

}  // namespace

TEST_CASE("the rail has sections; a newcomer sees three, and the workspaces of the open one") {
    using Names = std::vector<std::string>;
    view::AppState state = view::initial_state();
    for (const ImVec2 size : {ImVec2{1600.0F, 1000.0F}, ImVec2{1280.0F, 720.0F}}) {
        CAPTURE(size.x);
        view::apply(state, view::SetWorkspace{"step"});
        view::apply(state, view::ShowAllTools{false});
        // A section goes to its first workspace.
        CHECK(on_rail(state, size) ==
              Names{"step", "masks", "positions", "lookup", "saturation", "model", "all tools"});
        view::apply(state, view::ShowAllTools{true});
        view::apply(state, view::SetWorkspace{"learn"});
        CHECK(on_rail(state, size) == Names{"step", "saturation", "gradients", "learn", "numerics",
                                            "model", "kinds", "verify"});
        view::apply(state, view::ShowAllTools{false});
        view::apply(state, view::SetWorkspace{"cost"});
        CHECK(on_rail(state, size) ==
              Names{"step", "saturation", "model", "verify", "cost", "all tools"});
        view::apply(state, view::SetWorkspace{"exercises"});
        CHECK(on_rail(state, size) == Names{"step", "saturation", "model", "all tools"});
    }
}

TEST_CASE("the program's name leads to Step and its first buttons, over the same document") {
    view::AppState state = view::initial_state();
    view::apply(state, view::SetWorkspace{"saturation"});
    const auto document = state.history[state.now].document;
    NullUi ui({1600.0F, 1000.0F});
    ui.show(
        [&](const ui::Frame& frame, view::Actions& out) { ui::draw_window(state, frame, out); });
    ui.frames(2);
    for (const view::Action& action : ui.click({60.0F, 24.0F})) view::apply(state, action);
    CHECK(state.workspace == "step");
    CHECK(step_look(state).start_buttons);
    CHECK(state.history[state.now].document == document);
}

TEST_CASE("a workspace that is registered stands on the rail and is drawn") {
    view::AppState state = view::initial_state();
    state.workspaces = test::workspaces_with_probe();
    view::AppState checks = state;
    view::apply(checks, view::SetWorkspace{"verify"});
    const auto shown = on_rail(checks);
    CHECK(std::ranges::count(shown, "probe") == 1);
    const ui::WorkspacePanel probe{
        test::kProbeWorkspace.key,
        [](const view::AppState&, const ui::WorkArea&, const ui::Frame&, view::Actions& out) {
            out.push_back(view::SetSeed{99});
            return std::string();
        }};
    std::vector<const ui::WorkspacePanel*> panels(ui::workspace_panels().begin(),
                                                  ui::workspace_panels().end());
    panels.push_back(&probe);
    NullUi ui;
    ui.show([&](const ui::Frame& frame, view::Actions& out) {
        ui::draw_window(state, frame, out, panels);
        for (const view::Action& action : out) view::apply(state, action);
    });
    ui.frames(2);
    CHECK(state.document().seed == 1);
    ui.press(Key::digit5);
    CHECK(action_of<view::SetWorkspace>(ui.press(test::kProbeWorkspace.letter)).workspace ==
          "probe");
    ui.frames(1);
    CHECK(state.document().seed == 99);
    CHECK(last<view::SetWorkspace>(ui.press(Key::digit1)));
}

TEST_CASE("letters typed into the palette are words, not commands") {
    App app;
    app.ui.press(Key::k, true);
    app.ui.frames(3);
    CHECK(!last<view::SetScaling>(app.ui.press(Key::s)));
}

TEST_CASE("letters right after Ctrl+K are words of the palette, and the next are put behind") {
    App app;
    app.act({view::ShowPalette{true}}, 0);
    for (const char letter : std::string("light")) {  // one a frame, from the first on
        ImGui::GetIO().AddInputCharacter(static_cast<unsigned char>(letter));
        app.ui.frame();
    }
    app.ui.frames(3);
    CHECK(app.state.palette_query == "light");
}

TEST_CASE("a tooltip leaves a margin at the right edge of the window") {
    NullUi ui;
    const float right = ImGui::GetIO().DisplaySize.x;
    ui.show_in_window([right](const ui::Frame& frame, view::Actions&) {
        ImGui::SetCursorScreenPos({right - 60.0F, 100.0F});
        ui::button(frame, "hint", "Hint", {"A hint that is longer than the room beside it", ""});
    });
    ui.move_to({right - 50.0F, 108.0F});
    ui.frames(3);
    const ImGuiWindow* const tip = ImGui::FindWindowByName("##Tooltip_00");
    REQUIRE(tip);
    REQUIRE(tip->Active);
    CHECK(tip->Pos.x + tip->Size.x <= right - 7.0F);
}

TEST_CASE("what a click shows is not covered by the button's tooltip until the pointer was away") {
    const auto is_shown = [] {
        const ImGuiWindow* window = ImGui::FindWindowByName("##Tooltip_00");
        return window != nullptr && window->Active;
    };
    NullUi ui;
    ui.show_in_window([](const ui::Frame& frame, view::Actions&) {
        ImGui::SetCursorScreenPos({100.0F, 100.0F});
        ui::button(frame, "hint", "Hint", {"A hint", "Key: H"});
    });
    const ImVec2 over{108.0F, 108.0F}, away{600.0F, 600.0F};
    ui.move_to(over);
    ui.frames(3);
    CHECK(is_shown());
    ui.click(over);
    ui.frames(3);
    CHECK_FALSE(is_shown());
    ui.move_to(away);
    ui.frames(3);
    ui.move_to(over);
    ui.frames(3);
    CHECK(is_shown());
}

TEST_CASE("every stage, both workspaces and both overlays draw at every size") {
    for (const ImVec2 size : {ImVec2{1600, 1000}, ImVec2{1280, 720}, ImVec2{640, 400}})
        for (const float scale : {1.0F, 1.5F, 2.0F}) {
            view::AppState state = view::initial_state();
            NullUi ui(size, scale);
            ui.show([&](const ui::Frame& frame, view::Actions& out) {
                ui::draw_window(state, frame, out);
            });
            for (const Stage stage : view::ribbon_stages(state.document())) {
                view::apply(state, view::GoToStage{stage});
                ui.frames(2);
                CHECK(ui.drawn() > 500);
            }
            view::apply(state, view::ShowHelp{true});
            ui.frames(2);
            view::apply(state, view::ShowAbout{true});
            ui.frames(2);
            view::apply(state, view::ShowAbout{false});
            view::apply(state, view::SetWorkspace{"saturation"});
            ui.frames(2);
            CHECK(ui.drawn() > 500);
        }
}

TEST_CASE("a window of any width, down to one pixel, draws every workspace") {
    App app;
    for (const view::WorkspaceInfo* workspace : app.state.workspaces) {
        view::apply(app.state, go_to(*workspace));
        for (float width = 1.0F; width <= 64.0F; ++width) {
            INFO("workspace->key ", workspace->key, ", width ", width);
            ImGui::GetIO().DisplaySize = {width, 200.0F};
            app.ui.frame();
            CHECK(app.state.workspace == workspace->key);
        }
    }
}
