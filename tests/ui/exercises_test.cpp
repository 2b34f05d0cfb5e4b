#include "app/workspaces/exercises/actions.h"
#include "app/workspaces/exercises/view.h"
#include "tests/ui/app.h"

using namespace attn;
using attn::test::App;
using view::Key;

namespace {

struct Exercises : App {
    explicit Exercises(const std::string& sheet, std::uint64_t seed, ImVec2 size = test::kAppSize)
        : App("exercises", size) {
        act({view::SetExercise{sheet, seed}});
    }
    view::ExercisesView shown() const { return view::build_exercises_view(state); }

    /// What is answered, written as a person types it.
    std::string answer(std::size_t question, std::size_t blank) const {
        const view::ExerciseQuestion of = shown().exercise.questions[question];
        const double entry = of.answer.entries[blank];
        if (!of.choices.empty()) return std::to_string(static_cast<int>(entry));
        std::string text = of.written(entry);
        if (text.starts_with("−")) text.replace(0, 3, "-");
        return text;
    }
    /// The first blank is clicked; from there Tab goes from blank to blank to Check, which leads on once all is right.
    void solve(ImVec2 size) {
        REQUIRE(test::click_until<view::TypeInto>(
            ui, {left() + 16.0F, 60.0F}, {size.x - 40.0F, size.y - 120.0F}, {30.0F, 9.0F}));
        const auto count = std::ssize(shown().questions);
        for (Index question = 0; question < count; ++question) {
            CHECK(shown().question == question);
            fill(static_cast<std::size_t>(question));
            // A choice is checked by choosing it.
            if (!shown().questions[question].checked)
                CHECK(test::last<view::CheckAnswer>(ui.press(Key::enter)));
            if (question + 1 < count) CHECK(test::last<view::ShowQuestion>(ui.press(Key::enter)));
            ui.frames(2);
        }
    }
    /// From the first blank to the button Check.
    void fill(std::size_t question) {
        const view::ExercisesView view = shown();
        const std::size_t choices = view.exercise.questions[question].choices.size();
        const std::size_t blanks = view.questions[question].entries.size();
        for (std::size_t n = 0; n < std::max(choices, blanks); ++n) {
            if (choices == 0) {
                if (!state.focus.typing) ui.press(Key::enter);
                ui.frames(2);
                ui.type(answer(question, n));
            } else if (answer(question, 0) == std::to_string(n)) {
                ui.press(Key::enter);
            }
            ui.press(Key::tab);
        }
    }
};

}  // namespace

TEST_CASE("the five exercises of the texts are solved with Tab, Enter and typed numbers") {
    for (const char* sheet :
         {"identity-queries", "weights-memory", "equal-projections", "row-entropy", "scaling"})
        for (const ImVec2 size : {ImVec2{1600.0F, 1000.0F}, ImVec2{1280.0F, 720.0F}}) {
            CAPTURE(sheet);
            Exercises app(sheet, 11, size);
            app.solve(size);
            for (const auto& question : app.shown().questions) {
                REQUIRE(question.checked);
                CHECK_MESSAGE(question.checked->right, question.checked->text);
            }
        }
}

TEST_CASE("a blank is clicked and typed into; Check says what is wrong, and what is right") {
    Exercises app("weights-memory", 3);
    const ImVec2 low{app.left() + 16.0F, 60.0F};
    const ImVec2 high{1560.0F, 640.0F};
    const ImVec2 step{40.0F, 9.0F};
    const auto typed = [&](const std::string& text) {
        REQUIRE(test::click_until<view::TypeInto>(app.ui, low, high, step));
        app.ui.frames(2);
        app.ui.type(text);
        const auto entered = app.ui.press(Key::enter);
        const auto stated = test::action_of<view::EnterAnswer>(entered);
        CHECK(stated.question == 0);
        CHECK(stated.text == text);
        REQUIRE(test::click_until<view::CheckAnswer>(app.ui, low, high, step));
        return app.shown().questions[0].checked->text;
    };
    CHECK(typed("0") == "Wrong.");
    CHECK(test::click_until<view::ShowExerciseHint>(app.ui, low, high, step));
    CHECK(app.shown().questions[0].hint);
    CHECK(test::click_until<view::ShowSolution>(app.ui, low, high, step));
    CHECK(app.shown().questions[0].solution);
    CHECK(typed(app.answer(0, 0)) == "Right.");
    const Index shown = app.shown().question;
    app.ui.press(Key::right);
    CHECK(app.shown().question == shown + 1);
    app.ui.press(Key::left);
    CHECK(app.shown().question == shown);
    app.ui.press(Key::r);
    CHECK(app.shown().exercise.seed == 4);
    CHECK(app.shown().questions[0].entries[0].empty());
}

TEST_CASE("every sheet is drawn at every size, with hints and solutions") {
    REQUIRE(view::exercise_sheets());
    for (const ImVec2 size : test::kAppSizes)
        for (const auto& sheet : *view::exercise_sheets()) {
            Exercises app(sheet.key, 5, size);
            for (Index n = 0; n < std::ssize(app.shown().questions); ++n)
                app.act({view::ShowExerciseHint{n, true}, view::ShowSolution{n, true},
                         view::CheckAnswer{n}},
                        0);
            app.ui.frames(2);
            CHECK(app.ui.drawn() > 500);
        }
}

TEST_CASE("a card is clicked, or reached by Tab: its sheet; All sheets leads back") {
    for (const ImVec2 size : test::kAppSizes) {
        App app("exercises", size);
        const ImVec2 low{app.left() + 30.0F, 120.0F}, high{size.x - 60.0F, size.y - 60.0F};
        REQUIRE(test::click_until<view::SetExercise>(app.ui, low, high, {60.0F, 20.0F}));
        const view::ExercisesView sheet = view::build_exercises_view(app.state);
        CHECK_FALSE(sheet.choosing);
        app.act({view::ShowSheets{true}});
        CHECK(view::build_exercises_view(app.state).choosing);
    }
    bool reached = false;  // after the stops of the rail
    for (int tabs = 1; tabs < 24 && !reached; ++tabs) {
        App app("exercises", {1600.0F, 1000.0F});
        for (int n = 0; n < tabs; ++n) app.ui.press(Key::tab);
        reached = test::last<view::SetExercise>(app.ui.press(Key::enter)) != nullptr;
    }
    CHECK(reached);
}
