#include "app/common/draw/text_fields.h"
#include "app/common/draw/draw.h"
#include "app/common/draw/still.h"

#include <utility>

#include "tests/ui/null_ui.h"
#include "tests/ui/text_spy.h"

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

TEST_CASE("undo in a field does not reach back to a text that a callback has replaced") {
    bool replace = false;
    std::string text;
    NullUi ui;
    ui.show_in_window([&](const ui::Frame&, view::Actions&) {
        if (!ImGui::IsAnyItemActive()) ImGui::SetKeyboardFocusHere();
        const auto shorten = [](ImGuiInputTextCallbackData* data) {
            if (std::exchange(*static_cast<bool*>(data->UserData), false)) {
                data->DeleteChars(0, data->BufTextLen);
                data->InsertChars(0, "it");
            }
            return 0;
        };
        ui::text_field("##field", text,
                       {"", ImGuiInputTextFlags_CallbackAlways, shorten, &replace});
    });
    ui.frames(3);
    ui.type(kLong);
    replace = true;
    ui.frames(2);
    REQUIRE(text == "it");
    for (int n = 0; n < 20; ++n) ui.press(Key::z, true);
    CHECK(text == "it");
    ui.type("s");
    CHECK(text == "its");
}

TEST_CASE("a sentence wider than its field shows its first and last words at rest") {
    const std::string sentence = "the animal didn't cross the street because it was too tired";
    const NullUi ui;
    const ui::Frame& frame = ui.style();
    const view::Font& font = frame.fonts.body;
    const float whole = frame.text_width(font, sentence);
    CHECK(ui::fit_ends(frame, font, sentence, whole + 1.0F) == sentence);
    for (const float width : {whole - 2.0F, 0.7F * whole, 0.4F * whole}) {
        CAPTURE(width);
        const std::string shown = ui::fit_ends(frame, font, sentence, width);
        CHECK(frame.text_width(font, shown) <= width);
        CHECK(shown.starts_with("the "));
        CHECK(shown.ends_with(" tired"));
        CHECK(shown.find(" … ") != shown.npos);
        for (std::size_t from = 0; from < shown.size();) {  // whole words
            const std::size_t to = std::min(shown.find(' ', from), shown.size());
            const std::string word = shown.substr(from, to - from);
            CHECK((word == "…" || (" " + sentence + " ").find(" " + word + " ") != word.npos));
            from = to + 1;
        }
    }
    CHECK(ui::fit_ends(frame, font, "", 10.0F).empty());
    CHECK(frame.text_width(font, ui::fit_ends(frame, font, std::string(500, 'x'), 60.0F)) <= 60.0F);
}
