// Lectures: what is shown, the keys, what stays, and what the teacher reads beside it.

#include "app/window/lecture.h"
#include "app/common/document/document.h"

#include "app/common/workspace.h"
#include "app/files/axes.h"
#include "app/files/open.h"
#include "app/window/lecture_actions.h"
#include "core/backend.h"
#include "core/io/npy.h"
#include "tests/view/view_test.h"

using namespace attn::view;

namespace {

std::string lecture_fault(const std::string& screens) {
    const auto lecture =
        lecture_from_json(R"({"title":"A","minutes":90,"screens":[)" + screens + "]}", "a.json");
    REQUIRE(!lecture);
    return lecture.error().text();
}

const Opener& open_models() {
    static const Opener open = attn::files::opener(attn::backends());
    return open;
}

const std::string kScreen = R"({"minute":0,"title":"T","line":"L","question":"Q?","answer":"A")";

}  // namespace

TEST_CASE("lecture: every screen opens from any other, in the order of time, without a fault") {
    REQUIRE(lectures());
    for (const Lecture& lecture : *lectures()) {
        CAPTURE(lecture.key);
        AppState state =
            after(initial_state(), {SetTheme{ThemeName::light}, StartLecture{lecture.key}});
        for (std::size_t n = 0; n < lecture.screens.size(); ++n) {
            const LectureScreen& screen = lecture.screens[n];
            CAPTURE(screen.title);
            acted(state, {GoToScreen{static_cast<Index>(n)}});
            answer_all(state, open_models());
            CHECK(state.message.severity != Severity::error);
            CHECK(state.presenter);
            CHECK(state.theme == ThemeName::light);
            REQUIRE(shown_screen(state) == &screen);
            CHECK(screen.line.size() <= 130);
            CHECK(screen.question.ends_with('?'));
            CHECK_FALSE(screen.seen.empty());
            const bool table = state.workspace == "model";  // of known models, where none is open
            CHECK((table || shown_workspace(state).missing_data(state).empty()));
            CHECK(screen.minute < lecture.minutes);
        }
    }
}

TEST_CASE("lecture: the one of 90 minutes has 14 screens or more, from computing to cost") {
    const Lecture* const lecture = find_lecture("attention");
    REQUIRE(lecture);
    CHECK(lecture->minutes == 90);
    CHECK(lecture->screens.size() >= 14);
    std::vector<std::string_view> order;
    AppState state = after(initial_state(), {StartLecture{"attention"}});
    for (std::size_t n = 0; n < lecture->screens.size(); ++n) {
        acted(state, {GoToScreen{static_cast<Index>(n)}});
        if (state.opening) answer_all(state, open_models());
        if (std::ranges::count(order, state.workspace) == 0) order.push_back(state.workspace);
    }
    const auto place = [&](std::string_view key) { return std::ranges::find(order, key); };
    for (const char* key : {"step", "masks", "saturation", "learn", "heads", "cost"})
        REQUIRE(place(key) != order.end());
    CHECK(place("step") < place("masks"));
    CHECK(place("masks") < place("saturation"));
    CHECK(place("saturation") < place("learn"));
    CHECK(place("learn") < place("heads"));
    CHECK(place("heads") < place("cost"));
}

TEST_CASE("lecture: PgDn and PgUp go on and back wherever it is, then are a workspace's again") {
    AppState state = after(initial_state(), {StartLecture{""}});
    CHECK(state.message.text.starts_with(shown_screen(state)->line.substr(0, 10)));
    for (Index n = 1; n < std::ssize(find_lecture("")->screens); ++n) {
        state = pressed(state, plain(Key::page_down));
        CHECK(lecture_look(state).screen == n);
    }
    CHECK(after(state, {GoToScreen{1000}}).workspace == state.workspace);
    state = pressed(state, plain(Key::page_up));
    CHECK(
        screen_place(state).starts_with(std::to_string(std::ssize(find_lecture("")->screens) - 1)));
    acted(state, {EndLecture{}, SetWorkspace{"lookup"}});
    CHECK(shown_screen(state) == nullptr);
    CHECK(after(state, {GoToScreen{0}}).workspace == "lookup");
    state = pressed(state, plain(Key::page_down));
    CHECK_FALSE(lecture_look(state).on);
}

TEST_CASE("lecture: it is put away and resumed, also by a session; undo goes back over a screen") {
    AppState state = after(initial_state(), {StartLecture{"attention"}, GoToScreen{2}});
    const AppState read = reopened_alike(state, {state.backends, state.workspaces});
    CHECK(lecture_look(read).screen == 2);
    CHECK(shown_screen(read) == shown_screen(state));
    acted(state, {EndLecture{}, SetWorkspace{"cost"}, StartLecture{"attention"}});
    CHECK(lecture_look(state).screen == 2);
    AppState typed = after(initial_state(), {SetSentence{"a b c"}, StartLecture{"attention"}});
    while (typed.now > 0 && typed.document().sentence != "a b c") acted(typed, {Undo{}});
    CHECK(typed.document().sentence == "a b c");
    CHECK(has(after(state, {EndLecture{}, StartLecture{"attic"}}).message.text,
              "no lecture 'attic'"));
}

TEST_CASE("lecture: the notes have every screen with minute, question and answer, and no gap") {
    const Lecture& lecture = *find_lecture("attention");
    const std::string notes = lecture_notes(lecture, open_models());
    for (const LectureScreen& screen : lecture.screens) {
        CHECK(has(notes, screen.title));
        CHECK(has(notes, "**Question.** " + screen.question));
    }
    CHECK(has(notes, "## 0:00 · 1. "));
    CHECK_FALSE(has(notes, "{"));
    CHECK_FALSE(has(notes, " – "));
}

TEST_CASE("lecture: a file that is wrong is refused by screen and key") {
    CHECK(has(lecture_fault(""), "has no 'screens'"));
    CHECK(has(lecture_fault(R"({"minute":0})"), "a.json screen 0 has no 'title'"));
    CHECK(has(lecture_fault(kScreen + R"(,"state":3})"), "'state': expected an object"));
    CHECK(has(lecture_fault(kScreen + R"(,"actions":[{"action":"fly"}]})"), "fly"));
    CHECK(has(lecture_fault(kScreen + R"(,"more":1})"), "more"));
    CHECK(has(lecture_fault(kScreen + "}," + replaced(kScreen, ":0", ":-1") + "}"), "minute"));
    CHECK(has(lecture_fault(replaced(kScreen, ":0", ":5") + "}," + kScreen + "}"),
              "earlier than that of the previous screen"));
    CHECK(
        lecture_from_json(R"({"title":"A","minutes":90,"screens":[)" + kScreen + "}]}", "a.json"));
}
