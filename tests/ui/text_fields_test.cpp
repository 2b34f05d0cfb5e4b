#include "app/common/draw/text_fields.h"

#include <imgui_internal.h>

#include "tests/ui/null_ui.h"

using namespace attn;
using namespace attn::test;
using view::Key;

namespace {

/// One field; while `shown` it takes the keyboard.
struct Field {
    bool shown = true, lines = false;
    std::string text;
    NullUi ui;

    Field() {
        ui.show_in_window([this](const ui::Frame&, view::Actions&) {
            if (!shown) return;
            if (!ImGui::IsAnyItemActive()) ImGui::SetKeyboardFocusHere();
            if (lines)
                ui::text_box("##field", text, {200.0F, 80.0F});
            else
                ui::text_field("##field", text);
        });
        ui.frames(3);
    }
    /// The field leaves the screen and comes back with another text.
    void reopen_with(std::string other) {
        shown = false;
        ui.frames(2);
        text = std::move(other);
        shown = true;
        ui.frames(3);
    }
    void undo(int times) {
        for (int n = 0; n < times; ++n) ui.press(Key::z, true);
    }
};

const std::string kLong = "forty letters, so that the text grows on";

}  // namespace

TEST_CASE("undo in a field does not reach back to a text that has been replaced since") {
    for (const bool lines : {false, true}) {
        CAPTURE(lines);
        Field field;
        field.lines = lines;
        for (int turn = 0; turn < 3; ++turn) {
            field.ui.type(kLong);
            REQUIRE(field.text == kLong);
            field.reopen_with("");
            field.undo(20);  // deleted letters that were not there, and wrote before the text
            CHECK(field.text.empty());
            field.ui.type("b");
            CHECK(field.text == "b");
            field.reopen_with("");
        }
    }
}

TEST_CASE("undo in a field goes back letter by letter, also after the keyboard was elsewhere") {
    Field field;
    field.ui.type("a");
    field.ui.type("b");
    field.reopen_with(field.text);
    field.undo(1);
    CHECK(field.text == "a");
}
