#include "app/window/tour.h"
#include "app/common/document/document.h"
#include "app/files/open.h"
#include "tests/view/view_test.h"

using namespace attn::view;

namespace {

/// Models too, from assets/models.
void answer_with_models(AppState& state) {
    static const Opener open = attn::files::opener(state.backends);
    answer_all(state, open);
}

AppState on_tour() {
    AppState state = initial_state();
    apply(state, StartTour{"attention"});
    return state;
}

constexpr Index kSoftmaxPage = 3;

/// On that page, whose pages before it are done.
AppState on_tour_page(Index page) {
    AppState state = on_tour();
    while (state.tour.page < page) {
        answer_with_models(state);
        acted(state, {Predict{0}, ShowTourAction{}});
        state.tour.done = true, state.message = {};
        apply(state, GoToTourPage{state.tour.page + 1});
    }
    answer_with_models(state);
    return state;
}

std::string fault(const std::string& page) {
    const auto tour =
        tour_from_json(R"({"title":"A","minutes":1,"pages":[)" + page + "]}", "a.json");
    REQUIRE(!tour);
    return tour.error().text();
}

const std::string kAsking =
    R"({"title":"P","text":"t","ask":"Go to V.","done":[{"at":"/step/stage","is":"v"}],)";

}  // namespace

TEST_CASE("tour: every page asks for what is not there yet, and what it shows does it") {
    for (const auto& tour : list_tours()) {
        AppState state = initial_state();
        apply(state, StartTour{tour->key});
        for (std::size_t page = 0; page < tour->pages.size(); ++page) {
            CAPTURE(tour->pages[page].title);
            apply(state, GoToTourPage{static_cast<Index>(page)});
            answer_with_models(state);
            CHECK(!state.tour.done);
            const auto before = build_tour_view(state);
            REQUIRE(before);
            CHECK(state.tour.page == static_cast<Index>(page));
            CHECK(before->reveal.empty());
            CHECK(before->ask.empty());
            CHECK(before->waits == "Predict first");
            CHECK_FALSE(has(before->text, "–"));
            CHECK_FALSE(tour->pages[page].question.empty());
            apply(state, ShowTourAction{});
            CHECK(!state.tour.done);
            apply(state, Predict{tour->pages[page].answer});
            answer_with_models(state);
            CHECK(!state.tour.done);
            if (tour->pages[page].ask.empty()) continue;
            CHECK(build_tour_view(state)->waits == "Try it first");
            apply(state, ShowTourAction{});
            answer_with_models(state);
            CHECK(state.tour.done);
            CHECK(tour_waits(state).empty());
            const auto after = build_tour_view(state);
            CHECK(!after->reveal.empty());
            CHECK_FALSE(has(after->reveal, "–"));
            CHECK(state.message.severity != Severity::error);
        }
    }
}

TEST_CASE("tour: Next shows the answer of every page, what it asks for, and goes on") {
    for (const auto& tour : list_tours()) {
        AppState state = initial_state();
        apply(state, StartTour{tour->key});
        for (Index page = 0; page + 1 < std::ssize(tour->pages); ++page) {
            CAPTURE(page);
            answer_with_models(state);
            const bool task = !tour->pages[static_cast<std::size_t>(page)].ask.empty();
            for (int n = 0; n < (task ? 2 : 1); ++n) {
                REQUIRE(state.tour.page == page);
                CHECK(build_tour_view(state)->reveal.empty());
                apply(state, GoToTourPage{page + 1});
                answer_with_models(state);
            }
            REQUIRE(state.tour.page == page);
            const auto view = build_tour_view(state);
            CHECK(view->verdict.starts_with("The answer: "));
            CHECK(!view->reveal.empty());
            CHECK_FALSE(has(view->reveal, "–"));
            apply(state, GoToTourPage{page + 1});
            CHECK(state.tour.page == page + 1);
        }
    }
}

TEST_CASE("tour: a page is done by whoever does it, and its numbers are the document's") {
    AppState state = on_tour_page(kSoftmaxPage);
    apply(state, GoToStage{Stage::weights});
    apply(state,
          SelectCell{{Stage::weights, 2, 1}});  // done before it is predicted: nothing is said yet
    CHECK(build_tour_view(state)->reveal.empty());
    apply(state, Predict{0});
    const auto view = build_tour_view(state);
    CHECK(view->reveal.starts_with("sat gives 40.6 % to cat, 18.0 % to The"));
    CHECK(view->verdict == "Your prediction: \"a quarter\". Right: \"two fifths\".");
    apply(state, SelectCell{{Stage::weights, 0, 0}});
    CHECK(!build_tour_view(acted(state, {Predict{1}}))->reveal.empty());  // it was done
    CHECK(state.tour.chosen == 0);
}

TEST_CASE("tour: what else was changed does not count as the edit that is asked for") {
    const auto tour = on_tour().tour.tour;
    const auto& pages = tour->pages;
    const auto page = std::ranges::find(pages, "Values are averaged", &TourPage::title);
    REQUIRE(page != pages.end());
    const AppState there = on_tour_page(page - pages.begin());
    const auto edited = [&](Param param) {
        AppState state = there;
        acted(state, {Predict{0}, SetCell{{param, 0, 0}, 2.0F}, GoToStage{Stage::weights}});
        return state.tour.done;
    };
    CHECK(edited(Param::w_v));
    CHECK(!edited(Param::w_q));
}

TEST_CASE("tour: it is put away and resumed, also by a session") {
    AppState state = on_tour_page(kSoftmaxPage);
    CHECK(!build_tour_view(acted(state, {EndTour{}})));
    AppState read = reopened_alike(state, {state.backends, state.workspaces});
    for (AppState* const each : {&state, &read}) {
        apply(*each, StartTour{"attention"});
        CHECK(build_tour_view(*each)->place == "Attention, step by step · 4 of 20");
    }
    const auto last = static_cast<Index>(state.tour.tour->pages.size()) - 1;
    state = on_tour_page(last);
    CHECK(acted(state, {Predict{0}, GoToTourPage{last + 5}}).tour.page == last);
    CHECK(has(build_tour_view(state)->text, state.document().title + " is open now"));
    apply(state, EndTour{});
    CHECK(!state.tour.tour);  // it was seen to its end
    apply(state, StartTour{"atention"});
    CHECK(state.message.text == "There is no tour 'atention': choose one of attention.");
}

TEST_CASE("tour: what no page asks for is said; numbers that are quoted") {
    AppState state = initial_state();
    CHECK(acted(state, {Predict{0}}).message.text == "This page has nothing to predict.");
    CHECK(acted(state, {GoToTourPage{1}}).message.text == "No tour is open. Shift+F1 starts one.");
    CHECK(acted(state, {EndTour{}}).message.text == "No tour is open.");
    state = on_tour();
    CHECK(!acted(state, {Predict{4}}).tour.chosen);
    state = after(on_tour(), {GoToStage{Stage::weights}});
    CHECK(filled(state, "{weights:0,0} of {scores:0,0}") == "57.7 % of 2.11");
    CHECK(filled(state, "{w_q:0,9}, {none:0,0}, {weights}, {weights:1") == "–, –, –, {weights:1");
}

TEST_CASE("tour: a file that is wrong") {
    CHECK(fault(R"({"title":"P"})") == "a.json page 0 has no 'text'");
    CHECK(fault(R"({"title":"P","text":"t","choices":["a"],"answer":1})")
              .starts_with("a.json page 0 has 'answer'"));
    CHECK(fault(R"({"title":"P","text":"t","ask":"a"})") ==
          "a.json page 0 has some of 'ask', 'done' and 'show': expected all or none");
    CHECK(fault(kAsking + R"("show":[{"action":"jump"}]})") ==
          "a.json page 0 'show': the journal line has the unknown action 'jump'");
    CHECK(has(fault(R"({"title":"P","text":"t","done":[{"at":"step","is":1}]})"), "JSON pointer"));
    CHECK(has(fault(R"({"title":"P","text":"t","done":[{"at":"/step"}]})"), "has no 'is'"));
    CHECK(tour_from_json("[]", "a.json").error().text().find("a.json") == 0);
}
