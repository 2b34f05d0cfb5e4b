#include "app/common/draw/word_field.h"

#include "app/common/document/actions.h"
#include "tests/ui/null_ui.h"

using namespace attn;
using namespace attn::test;
using view::Key;

namespace {

const std::vector<view::VocabularyClass> kVocabulary{{"animal", {"animal", "ant", "bird"}},
                                                     {"other", {"the", "tired", "angry"}}};

/// One field that has the keyboard; its text follows the actions.
struct WordField {
    std::string text;
    int entered = 0;
    bool typing = true;  // as seen after the last frame
    NullUi ui;

    WordField() {
        ui.show_in_window([this](const ui::Frame& frame, view::Actions&) {
            view::Actions out;
            if (!ImGui::IsAnyItemActive()) ImGui::SetKeyboardFocusHere();
            ui::model_text_field("##field", text, 300.0F, kVocabulary, frame, out);
            typing = ImGui::IsItemActive();
            for (const view::Action& action : out) {
                if (const auto* typed = action.as<view::TypeText>()) text = typed->text;
                if (action.is<view::EndGesture>()) ++entered;
            }
        });
        ui.frames(3);
    }
};

}  // namespace

TEST_CASE("Tab completes the word at the caret, and typing goes on after it") {
    WordField field;
    field.ui.type("the ani");
    field.ui.press(Key::tab);
    CHECK(field.text == "the animal");
    CHECK(field.typing);
    field.ui.type(" bi");
    field.ui.press(Key::tab);
    CHECK(field.text == "the animal bird");
    CHECK(field.entered == 0);
}

TEST_CASE("Down and Up choose another word, and another letter begins with the first") {
    WordField field;
    field.ui.type("a");  // angry, animal, ant
    field.ui.press(Key::down);
    field.ui.press(Key::down);
    field.ui.press(Key::up);
    field.ui.press(Key::tab);
    CHECK(field.text == "animal");
    field.ui.type(" an");
    field.ui.press(Key::up);  // the last
    field.ui.press(Key::tab);
    CHECK(field.text == "animal ant");
    field.ui.type(" a");
    field.ui.press(Key::down);
    field.ui.type("n");
    field.ui.press(Key::tab);
    CHECK(field.text == "animal ant angry");
}

TEST_CASE("Escape closes the list until the next word, and keeps the text") {
    WordField field;
    field.ui.type("a");
    field.ui.press(Key::escape);
    CHECK(field.text == "a");
    CHECK(field.typing);
    field.ui.type("n");
    field.ui.press(Key::tab);  // leaves the field
    CHECK(field.text == "an");
    field.ui.frames(3);
    field.ui.press(Key::end);
    field.ui.type(" b");
    field.ui.press(Key::tab);
    CHECK(field.text == "an bird");
}

TEST_CASE("a click on a word completes it, and the field keeps the keyboard") {
    WordField field;
    field.ui.type("a");
    field.ui.frames(2);
    field.ui.click({40.0F, 8.0F + ImGui::GetFrameHeight() + 8.0F + 1.5F * 26.0F});
    CHECK(field.text == "animal");
    CHECK(field.typing);
    field.ui.type("s");
    CHECK(field.text == "animals");
}

TEST_CASE("a mistyped word is replaced; a word that the caret is inside of is not") {
    WordField field;
    field.ui.type("tierd");
    field.ui.press(Key::tab);
    CHECK(field.text == "tired");
    field.ui.type(" a");
    field.ui.press(Key::left);
    field.ui.press(Key::tab);  // the caret stands before the a
    CHECK(field.text == "tired a");
}

TEST_CASE("Enter finishes typing and takes no word") {
    WordField field;
    field.ui.type("ani");
    field.ui.press(Key::enter);
    CHECK(field.text == "ani");
    CHECK(field.entered == 1);
}
