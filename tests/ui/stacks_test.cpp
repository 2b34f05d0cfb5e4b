// Of a model of two stacks one row of the bar switches what is shown, in every workspace of the document.
#include "app/common/actions.h"
#include "app/common/document/document.h"
#include "app/files/open.h"
#include "core/backend.h"
#include "tests/support/small_models.h"
#include "tests/ui/app.h"
#include "tests/ui/text_spy.h"

using namespace attn;
using namespace attn::test;

namespace {

constexpr float kBarFooter = 72.0F;

/// The window over T5's encoder; what its bar says is where it stands.
struct OverStacks : App {
    SeenTexts texts;
    view::Opener open = files::opener(backends());

    OverStacks(const char* workspace, ImVec2 size, const view::OpenFile& file) : App(size) {
        ui.show([this](const ui::Frame& frame, view::Actions& out) {
            TextSpy spy(frame.painter);
            ui::draw_window(state, spied(frame, spy), out);
            texts = spy.texts;
            for (const view::Action& action : out) view::apply(state, action);
        });
        answered({file});
        answered({view::SetWorkspace{workspace}});
    }
    void answered(const view::Actions& actions = {}) {
        for (const view::Action& action : actions) view::apply(state, action);
        view::answer_all(state, open);
        ui.frames(3);
    }
    /// nullptr: the bar does not have it.
    const SeenText* in_bar(const std::string& text) const {
        const auto found = std::ranges::find_if(texts, [&](const SeenText& each) {
            return each.text == text && each.low.y < kBarFooter;
        });
        return found == texts.end() ? nullptr : &*found;
    }
    void click_in_bar(const std::string& text) {
        const SeenText* const at = in_bar(text);
        REQUIRE(at);
        ui.click({(at->low.x + at->high.x) / 2, (at->low.y + at->high.y) / 2});
        answered();
    }
};

view::OpenFile t5() { return {golden_model("t5").string(), "1 44 20 20 5 9 33 2"}; }

}  // namespace

TEST_CASE("the same row switches T5's attentions in every workspace of the document") {
    for (const char* workspace : {"step", "heads", "large", "masks", "compare", "generate"}) {
        CAPTURE(workspace);
        OverStacks app(workspace, {1280.0F, 720.0F}, t5());
        for (const char* group : {"decoder", "cross", "encoder"}) {
            CAPTURE(group);
            app.click_in_bar(group);
            CHECK(view::group_of(app.state.document()) == group);
            CHECK(app.state.workspace == std::string(workspace));
        }
    }
}

TEST_CASE("a field beside the row has what the decoder has written, where that is read") {
    for (const char* workspace : {"step", "heads"}) {
        CAPTURE(workspace);
        OverStacks app(workspace, {1600.0F, 1000.0F}, t5());
        CHECK_FALSE(app.in_bar("7 30"));
        app.answered({view::ShowGroup{"decoder"}});
        app.answered({view::TypeBeside{"7 30"}});
        REQUIRE(app.in_bar("7 30"));
        app.click_in_bar("7 30");
        app.ui.type("7 30 12 ");
        app.ui.press(view::Key::enter);
        app.answered();
        CHECK(app.state.document().tokens.size() > 3);
    }
}

TEST_CASE("Generate over T5's encoder says why it shows an example; a button shows the decoder") {
    OverStacks app("generate", {1280.0F, 720.0F}, t5());
    app.click_in_bar("show the decoder");
    CHECK(view::group_of(app.state.document()) == "decoder");
    CHECK_FALSE(app.in_bar("show the decoder"));
}

TEST_CASE("Ctrl+K asks for the decoder's text") {
    OverStacks app("step", {1280.0F, 720.0F}, t5());
    app.answered({view::ShowGroup{"decoder"}});
    const auto commands = view::commands(app.state);
    const auto command = std::ranges::find(commands, "Decoder text…", &view::Command::text);
    REQUIRE(command != commands.end());
    view::apply(app.state, command->action);
    app.ui.frames(2);
    app.ui.type("7 30");
    app.ui.press(view::Key::enter);
    app.answered();
    CHECK(view::model_of(app.state.document())->second_input == "7 30");
    CHECK(app.state.document().tokens.size() == 3);
    CHECK_FALSE(app.state.prompt);
}
