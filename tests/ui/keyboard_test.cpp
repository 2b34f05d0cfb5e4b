#include "app/common/actions.h"
#include "app/common/document/document.h"
#include "app/common/draw/widgets.h"
#include "core/trace.h"
#include "tests/ui/app.h"

using namespace attn;
using namespace attn::test;
using view::Key, view::step_look;

namespace {

const ImVec2 kSentence{900.0F, 24.0F};
const ImVec2 kLargeScreen{2560.0F, 1440.0F};  // whose bar has room for the presets

/// Beyond the stages the list of presets comes first.
void open_presets(App& app) {
    for (float x = 800.0F; x < 2400.0F && !ui::is_list_open(); x += 16.0F) app.ui.click({x, 24.0F});
    REQUIRE(ui::is_list_open());
}

struct List {
    int chosen = 1;
    std::vector<std::string> names{"one", "two", "three", "four"};
    Panel panel{[this](const ui::Frame& frame, view::Actions& out) {
        const ui::Options options{names, chosen, names[chosen]};
        if (const auto row = ui::combo(frame, "##list", options, 160.0F, {"list", ""}, out))
            chosen = *row;
    }};
};

}  // namespace

TEST_CASE("an open list has the keyboard: arrows step nothing, Escape closes it and nothing else") {
    App app(kLargeScreen);
    const view::CellRef chosen{Stage::x, 1, 1};
    view::apply(app.state, view::SelectCell{chosen});
    open_presets(app);
    app.ui.press(Key::right);
    CHECK(app.pressed(Key::down).stage == Stage::x);
    CHECK(app.pressed(Key::s).now == 0);
    app.ui.press(Key::escape);
    CHECK_FALSE(ui::is_list_open());
    CHECK(app.state.selected == chosen);
    CHECK(app.pressed(Key::escape).selected == chosen);  // nothing is open: nothing happens
}

TEST_CASE("arrow keys and Enter choose in an open list") {
    App app(kLargeScreen);
    const std::string before = app.state.document().name;
    open_presets(app);
    app.ui.press(Key::end);
    REQUIRE(app.state.focus.row == std::ssize(app.state.presets) - 1);
    app.ui.press(Key::enter);
    CHECK_FALSE(ui::is_list_open());
    INFO(app.state.message.text);
    CHECK(app.state.document().name == app.state.presets.back().key);
    CHECK(app.state.document().name != before);
    CHECK_FALSE(step_look(app.state).editing);
}

TEST_CASE("an arrow on the closed list of presets opens it: none is loaded by surprise") {
    App app(kAppSizes[0]);  // whose bar has no room for the presets
    app.act({view::ShowModel{true}});
    const std::string before = app.state.document().name;
    app.ui.press(Key::tab);
    for (const Key arrow : {Key::right, Key::down}) {
        app.ui.press(arrow);
        CHECK(ui::is_list_open());
        CHECK(app.state.now == 0);
        CHECK(app.state.document().name == before);
        app.ui.press(Key::escape);
        CHECK_FALSE(ui::is_list_open());
    }
    app.ui.press(Key::right);
    app.ui.press(Key::end);
    app.ui.press(Key::enter);
    CHECK(app.state.document().name == app.state.presets.back().key);
}

TEST_CASE("a list is opened, gone through and chosen from by keys alone") {
    List list;
    list.panel.ui.press(Key::tab);
    list.panel.ui.press(Key::enter);
    REQUIRE(ui::is_list_open());
    list.panel.ui.press(Key::down);
    list.panel.ui.press(Key::down);
    CHECK(list.chosen == 1);
    list.panel.ui.press(Key::enter);
    CHECK(list.chosen == 3);
    CHECK_FALSE(ui::is_list_open());
    list.panel.ui.press(Key::up);
    CHECK(list.chosen == 2);
    list.panel.ui.press(Key::space);
    list.panel.ui.press(Key::home);
    list.panel.ui.press(Key::escape);
    CHECK(list.chosen == 2);
    CHECK(list.panel.state.focus.control != 0);
}

TEST_CASE("a click in an open list chooses") {
    List list;
    const ImVec2 at{(list.panel.low.x + list.panel.high.x) / 2, list.panel.high.y - 10.0F};
    list.panel.ui.click(at);
    REQUIRE(ui::is_list_open());
    const ImGuiWindow* window = ImGui::GetTopMostPopupModal();
    CHECK(window == nullptr);
    list.panel.ui.click({at.x, list.panel.high.y + ImGui::GetStyle().WindowPadding.y + 4.0F});
    CHECK(list.chosen == 0);
    CHECK_FALSE(ui::is_list_open());
}

TEST_CASE("Tab goes through every control of the window and around, Shift+Tab back") {
    for (const char* workspace : {"step", "saturation"}) {
        App app;
        app.act({view::SetWorkspace{workspace}});
        std::vector<std::uint32_t> order;
        std::set<std::uint32_t> met;
        for (int n = 0; n < 100; ++n) {
            app.ui.press(Key::tab);
            const std::uint32_t control = app.state.focus.control;
            REQUIRE(control != 0);
            if (!met.insert(control).second) break;
            order.push_back(control);
        }
        CHECK(order.size() >= 8);
        CHECK(order.size() < 60);
        CHECK(app.state.focus.control == order.front());
        CHECK(app.pressed(Key::tab, false, true).focus.control == order.back());
    }
}

TEST_CASE("a click and Escape give up the ring; that Escape does nothing else") {
    App app;
    view::apply(app.state, view::SelectCell{{Stage::x, 0, 0}});
    REQUIRE(app.pressed(Key::tab).focus.control != 0);
    CHECK(app.pressed(Key::escape).focus.control == 0);
    CHECK(app.state.selected);
    app.ui.press(Key::tab);
    app.ui.click({900.0F, 940.0F});
    CHECK(app.state.focus.control == 0);
}

TEST_CASE("the ring is drawn") {
    App app;
    const int before = app.ui.drawn();
    app.ui.press(Key::tab);
    CHECK(app.ui.drawn() > before);
}

TEST_CASE("Enter and Space press what is focused, and Space does not also play") {
    bool on = false;
    int presses = 0;
    Panel panel([&](const ui::Frame& frame, view::Actions&) {
        if (const auto next = ui::toggle(frame, "toggle", "toggle", on, {"toggle", ""})) on = *next;
        if (ui::button(frame, "button", "button", {"button", ""})) ++presses;
    });
    panel.ui.press(Key::tab);
    panel.ui.press(Key::space);
    CHECK(on);
    panel.ui.press(Key::enter);
    CHECK_FALSE(on);
    panel.ui.press(Key::tab);
    panel.ui.press(Key::space);
    CHECK(presses == 1);

    App app;
    for (int n = 0; n < 4; ++n) app.ui.press(Key::tab);  // the name, the section, Step, Masks
    CHECK_FALSE(step_look(app.pressed(Key::space)).playing);
    CHECK(app.state.workspace == "masks");
}

TEST_CASE("the arrow keys change a focused choice and leave the stage alone") {
    int chosen = 0;
    Panel panel([&](const ui::Frame& frame, view::Actions&) {
        if (const auto next = ui::choice(frame, "choice", {"a", "b", "c"}, chosen, {"choice", ""}))
            chosen = *next;
    });
    panel.ui.press(Key::tab);
    panel.ui.press(Key::right);
    panel.ui.press(Key::down);
    CHECK(chosen == 2);
    panel.ui.press(Key::right);
    CHECK(chosen == 2);
    panel.ui.press(Key::left);
    CHECK(chosen == 1);
}

TEST_CASE("Escape in the sentence field reverts it and gives up the keyboard, nothing else") {
    App app;
    view::apply(app.state, view::SelectCell{{Stage::x, 0, 0}});
    const std::string sentence = app.state.sentence_draft;
    app.ui.click(kSentence);
    app.ui.type("zz");
    REQUIRE(app.state.sentence_draft != sentence);
    CHECK(app.pressed(Key::escape).sentence_draft == sentence);
    CHECK(app.state.selected);
    CHECK_FALSE(ImGui::IsAnyItemActive());
    CHECK(app.pressed(Key::right).stage == Stage::q);
}

TEST_CASE("Tab leaves the sentence field for the next control") {
    App app;
    app.ui.click(kSentence);
    app.ui.type("z");
    app.ui.press(Key::tab);
    CHECK_FALSE(ImGui::IsAnyItemActive());
    const std::uint32_t after = app.state.focus.control;
    REQUIRE(after != 0);
    app.ui.press(Key::tab, false, true);
    app.ui.press(Key::enter);
    app.ui.frames(2);
    CHECK(ImGui::IsAnyItemActive());
    CHECK(last<view::DraftSentence>(app.ui.type("y")));
}

TEST_CASE("there is no tooltip while a cell is typed into or a list is open") {
    const auto is_shown = [] {
        const ImGuiWindow* window = ImGui::FindWindowByName("##Tooltip_00");
        return window != nullptr && window->Active;
    };
    App app(kLargeScreen);
    app.ui.move_to({60.0F, 96.0F});
    app.ui.frames(3);
    CHECK(is_shown());
    app.act({view::BeginCellEdit{{Stage::x, 1, 1}}}, 4);
    CHECK_FALSE(is_shown());
    app.ui.press(Key::escape);
    open_presets(app);
    app.ui.frames(3);
    CHECK_FALSE(is_shown());
}

TEST_CASE("a cell that is typed into keeps its number when a stage is clicked") {
    App app;
    app.act({view::BeginCellEdit{{Stage::x, 1, 1}}}, 3);
    app.ui.type("2.5");
    app.ui.click({app.left() + 290.0F, 24.0F});
    CHECK(app.state.stage == Stage::weights);
    CHECK(app.state.document().inputs->x(0, 0, 1, 1) == 2.5F);
}
