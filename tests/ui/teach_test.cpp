// What a class and a first-year student find on the screen: each screen of a lecture has what its answer stands on, and
// each of docs/questions.md is answered within four actions from the first screen.

#include <cstdlib>
#include <iostream>
#include <set>

#include <fmt/format.h>

#include "app/common/document/document.h"
#include "app/common/document/edits.h"
#include "app/common/document/model_text.h"
#include "app/common/vocabulary.h"
#include "app/common/workspace.h"
#include "app/files/axes.h"
#include "app/files/open.h"
#include "app/window/lecture.h"
#include "app/window/lecture_actions.h"
#include "app/window/questions.h"
#include "app/workspaces/cost/actions.h"
#include "app/workspaces/saturation/actions.h"
#include "attn_tree.h"
#include "core/io/file.h"
#include "core/io/npy.h"
#include "tests/support/results.h"
#include "tests/ui/app.h"
#include "tests/ui/text_spy.h"
#include "tests/view/large_sample.h"

using namespace attn;
using namespace attn::test;

namespace {

std::string without_spaces(std::string text) {
    std::erase_if(text, [](char c) { return c == ' ' || c == '\n'; });
    return text;
}

/// The window over a state, and every text on it in the order in which it was drawn.
class Seen {
  public:
    explicit Seen(const view::AppState& state) : ui_(kAppSize) {
        ui_.show([this, state](const ui::Frame& frame, view::Actions& out) {
            TextSpy spy(frame.painter);
            ui::draw_window(state, {frame.fonts, frame.theme, frame.scale, spy, spy, true}, out);
            texts_ = std::move(spy.texts);
        });
        ui_.frames(4);
        for (const SeenText& each : texts_) text_ += each.text + '\n';
    }
    bool has(const std::string& text) const {
        return without_spaces(text_).find(without_spaces(text)) != std::string::npos;
    }
    const std::string& text() const { return text_; }
    /// What a click on these words asks for; they may be cut short on the screen.
    view::Actions click(const std::string& text) {
        const auto found = std::ranges::find_if(texts_, [&](const SeenText& each) {
            const std::size_t cut = each.text.find("…");
            return each.text == text ||
                   (cut != each.text.npos && cut > 0 && text.starts_with(each.text.substr(0, cut)));
        });
        REQUIRE_MESSAGE(found != texts_.end(), "not on the screen: " << text);
        return ui_.click({(found->low.x + found->high.x) / 2, (found->low.y + found->high.y) / 2});
    }

  private:
    NullUi ui_;
    SeenTexts texts_;
    std::string text_;
};

/// Numbers with a decimal point, a % or a thousands' comma: "40.6", "8,192".
std::vector<std::string> numbers_in(const std::string& text) {
    std::vector<std::string> numbers;
    const std::string kInside = "0123456789.,";
    for (std::size_t at = text.find_first_of("0123456789"); at != text.npos;
         at = text.find_first_of("0123456789", at)) {
        const std::size_t end = std::min(text.find_first_not_of(kInside, at), text.size());
        std::string number = text.substr(at, end - at);
        while (number.ends_with('.') || number.ends_with(',')) number.pop_back();
        if (number.find_first_of(".,") != number.npos) numbers.push_back(number);
        at = end;
    }
    return numbers;
}

/// As it stands, or as a cell shows it: "40.6" of a percentage as .41 or .406, "6.5007" as 6.50.
bool shows(const Seen& seen, const std::string& number) {
    if (seen.has(number)) return true;
    for (const double unit : {1.0, 100.0})
        for (const int decimals : {2, 3}) {
            const double value = std::stod(number) / unit;
            std::string cell = fmt::format("{:.{}f}", value, decimals);
            if (cell.starts_with("0.")) cell.erase(0, 1);
            if (seen.has(cell)) return true;
        }
    return false;
}

bool dumps() { return std::getenv("ATTN_DUMP") != nullptr; }

/// A row of docs/questions.md: | 1 | question | `action` `action` | where: “words” “words” |
struct Question {
    std::string asked;
    std::vector<std::string> actions, answers;
};

std::vector<std::string> between(const std::string& text, const std::string& open,
                                 const std::string& close) {
    std::vector<std::string> parts;
    for (std::size_t at = text.find(open); at != text.npos; at = text.find(open, at)) {
        const std::size_t from = at + open.size();
        const std::size_t end = text.find(close, from);
        REQUIRE(end != text.npos);
        parts.push_back(text.substr(from, end - from));
        at = end + close.size();
    }
    return parts;
}

std::vector<Question> questions() {
    std::vector<Question> all;
    std::istringstream lines(read_text_file(ATTN_SOURCE_ASSETS "/../docs/questions.md").value());
    for (std::string line; std::getline(lines, line);) {
        if (!line.starts_with("| ") || line.find_first_of("0123456789") != 2) continue;
        const std::vector<std::string> cells = between(line, " ", " |");
        REQUIRE(cells.size() == 4);
        all.push_back({cells[1], between(cells[2], "`", "`"), between(cells[3], "“", "”")});
    }
    return all;
}

/// Models too, from assets/models.
void answer_with_models(view::AppState& state) {
    static const view::Opener open = files::opener(state.backends, state.workspaces);
    view::answer_all(state, open);
}

/// The command of that key, which can be done.
view::Action by_key(const view::AppState& state, const std::string& key) {
    for (const view::Command& command : view::commands(state))
        if (command.enabled && (to_string(command.chord) == key || to_string(command.also) == key))
            return command.action;
    FAIL("no command has the key " << key);
    return view::ShowPalette{false};
}

/// A key, "Ctrl+K words" for the first command that is found, "type words" into what is open, "click words" of the screen.
void act(view::AppState& state, const std::string& action) {
    CAPTURE(action);
    const std::string text = action.substr(action.find(' ') + 1);
    if (action.starts_with("Ctrl+K ")) {
        const auto found = view::find_commands(state, text);
        REQUIRE_FALSE(found.empty());
        REQUIRE(found.front().enabled);
        view::apply(state, found.front().action);
    } else if (action.starts_with("type ")) {
        view::apply(state, state.glossary.shown       ? view::Action(view::SetGlossaryQuery{text})
                           : is_toy(state.document()) ? view::Action(view::SetSentence{text})
                                                      : view::Action(view::TypeText{text}));
    } else if (action.starts_with("click ")) {
        const view::Actions asked = Seen(state).click(text);
        CHECK_FALSE(asked.empty());
        for (const view::Action& each : asked) view::apply(state, each);
    } else {
        view::apply(state, by_key(state, action));
    }
    answer_with_models(state);
}

/// As cli::append_first_screen().
view::AppState first_screen() {
    view::AppState state = view::initial_state();
    view::apply(state, view::OpenFile{"pronouns"});
    answer_with_models(state);
    const auto place = view::answer_place(state.document());
    REQUIRE(place);
    const view::CellRef answer{Stage::weights, place->query, place->key};
    state =
        view::after(std::move(state),
                    {view::ShowHead{place->head, {}, place->layer}, view::GoToStage{Stage::weights},
                     view::SelectCell{answer}, view::ShowStartButtons{true}, view::FadeMessage{}});
    answer_with_models(state);
    return state;
}

}  // namespace

TEST_CASE("lecture: what each answer stands on is on its screen, and so is every number in it") {
    for (const view::Lecture& lecture : view::lectures().value()) {
        view::AppState state = view::initial_state();
        view::apply(state, view::StartLecture{lecture.key});
        for (std::size_t n = 0; n < lecture.screens.size(); ++n) {
            const view::LectureScreen& screen = lecture.screens[n];
            view::apply(state, view::GoToScreen{static_cast<Index>(n)});
            answer_with_models(state);
            const Seen seen(state);
            CAPTURE(screen.title);
            if (dumps()) std::cout << "==== " << n << ' ' << screen.title << '\n' << seen.text();
            CHECK(seen.has(screen.line));
            for (const std::string& text : screen.seen) CHECK_MESSAGE(seen.has(text), text);
            const std::string answer = view::filled(state, screen.answer);
            for (const std::string& number : numbers_in(answer))
                CHECK_MESSAGE(shows(seen, number), number);
        }
    }
}

TEST_CASE("twenty questions are answered within four actions from the first screen, in its words") {
    const std::vector<Question> all = questions();
    CHECK(all.size() == 20);
    for (const Question& question : all) {
        CAPTURE(question.asked);
        CHECK(question.asked.ends_with('?'));
        CHECK(question.actions.size() <= 4);
        CHECK_FALSE(question.answers.empty());
        view::AppState state = first_screen();
        for (const std::string& action : question.actions) act(state, action);
        const Seen seen(state);
        if (dumps()) std::cout << "==== " << question.asked << '\n' << seen.text();
        for (const std::string& text : question.answers) CHECK_MESSAGE(seen.has(text), text);
    }
}

TEST_CASE("Ctrl+K finds each question by its words, and Enter shows its answer from any state") {
    const std::vector<view::Question> all = view::questions().value();
    CHECK(all.size() == 26);
    const auto first_of = [](const view::AppState& state, std::string_view query) {
        const auto found = view::find_commands(state, query);
        REQUIRE_FALSE(found.empty());
        return found.front();
    };
    // The page of questions and the palette have the same ones.
    std::size_t listed = 0;
    for (const Question& question : questions())
        listed += std::ranges::count(all, question.asked, &view::Question::question);
    CHECK(listed == 20);
    view::AppState state = first_screen();
    for (const view::Question& question : all) {
        CAPTURE(question.question);
        const view::Command command = first_of(state, question.question);
        CHECK(command.text == question.question);
        // From the state that the question before left.
        for (const view::Action& each : view::chosen(command)) view::apply(state, each);
        answer_with_models(state);
        const Seen seen(state);
        if (dumps()) std::cout << "==== " << question.question << '\n' << seen.text();
        for (const std::string& text : question.seen) CHECK_MESSAGE(seen.has(text), text);
        const std::string answer = view::filled(state, question.answer);
        if (!answer.empty()) CHECK(state.message.text == answer);
        // The answer is below the headline, unless the glossary covers it.
        if (!answer.empty() && !state.glossary.shown) CHECK_MESSAGE(seen.has(answer), answer);
        CHECK(answer.find("–") == answer.npos);
        view::apply(state, view::ShowGlossary{false});
    }
    using Typed = std::pair<std::string, std::string>;
    for (const auto& [typed, key] :
         {Typed{"why divide", "why-scale"}, Typed{"next word", "next-word"},
          Typed{"how do models learn", "learning"}, Typed{"where does it fail", "my-sentences"}}) {
        CAPTURE(typed);
        const auto found = view::find_commands(state, typed);
        const auto is_it = [&](const view::Command& command) {
            const auto* const asked = command.action.as<view::AskQuestion>();
            return asked != nullptr && asked->key == key;
        };
        const auto place = std::ranges::find_if(found, is_it) - found.begin();
        CHECK(place < 3);
    }
    CHECK(view::find_commands(state, "xyzzy").empty());
    view::apply(state, view::AskQuestion{"no-such"});
    CHECK(state.message.text == "Question 'no-such' is unknown.");
}

TEST_CASE("a question shows its screen as at a first launch, whatever was chosen there before") {
    view::AppState state = first_screen();
    const auto ask = [&](const char* key) {
        view::apply(state, view::AskQuestion{key});
        answer_with_models(state);
    };
    act(state, "2 S");
    view::apply(state, view::SetSaturationLogits{{1.0, 1.0, 1.0, 1.0, 1.0}});
    ask("why-scale");
    CHECK(Seen(state).has("times smaller"));
    view::apply(state, view::SetWorkspace{"cost"});
    view::apply(state, view::SetCostPreset{"llama3-8b"});
    view::apply(state, view::SelectCost{view::CostItem::kv_cache});
    ask("memory");
    CHECK(Seen(state).has("Storing the weights takes 8 GiB"));
    // Another action takes the answer away.
    view::apply(state, view::SetCostPreset{"gpt2"});
    CHECK_FALSE(Seen(state).has("A number for each pair of tokens in each head."));
}

TEST_CASE("Find knows the words of a beginner") {
    const view::AppState state = first_screen();
    using Typed = std::pair<std::string, std::string>;
    for (const auto& [typed, key] :
         {Typed{"equal scores", "equal-scores"}, Typed{"uniform", "equal-scores"},
          Typed{"128k", "square"}, Typed{"square of the length", "square"},
          Typed{"encoder decoder", "cross"}, Typed{"cross", "cross"},
          Typed{"grouped", "grouped"}}) {
        CAPTURE(typed);
        const auto found = view::find_commands(state, typed);
        CHECK(std::ranges::any_of(found, [&](const view::Command& command) {
            const auto* const question = command.action.as<view::AskQuestion>();
            return question != nullptr && question->key == key;
        }));
    }
    const auto all = view::find_commands(state, "question");
    CHECK(std::ranges::count_if(all, [](const view::Command& command) {
              return command.action.as<view::AskQuestion>() != nullptr;
          }) == std::ssize(view::questions().value()));
}

TEST_CASE("a file of questions: errors name the question and what was expected") {
    const auto fault = [](std::string_view text) {
        return sentence_in(view::questions_from_json(text, "q.json"));
    };
    CHECK(view::has(
        fault(
            R"({"starts":{},"questions":[{"key":"a","question":"b?","answer":"c","start":"d"}]})"),
        "'a' has 'start' = \"d\": expected one of 'starts'"));
    CHECK(view::has(fault(R"({"starts":{"d":[{"action":"no_such"}]},"questions":[]})"), "no_such"));
    CHECK(view::has(fault(R"({"starts":{},"questions":[]})"), "expected a list of at least one"));
    CHECK(
        view::has(fault(R"({"starts":{"d":[]},"questions":[{"question":"b?"}]})"), "has no 'key'"));
}

TEST_CASE("the palette has the whole vocabulary of a trained model, by class") {
    const view::AppState state = first_screen();
    std::set<std::string> known;
    for (const view::VocabularyClass& each : view::vocabulary_of(state))
        known.insert(each.entries.begin(), each.entries.end());
    CHECK(known.size() == 69);  // and [?]
    const auto found = view::find_commands(state, "words animal fox");
    REQUIRE_FALSE(found.empty());
    CHECK(view::has(found.front().text, "Words of pronouns, animal: animal, dog, cat, "));
    CHECK(view::vocabulary_of(view::initial_state()).empty());
}

TEST_CASE("an unknown word is named under the headline of Step and of Whole model") {
    view::AppState state = first_screen();
    const std::string first = "the animal didn't cross the street because it was too ";
    for (const char* word : {"tierd", "zebra"}) {
        view::apply(state, view::TypeText{first + word});
        answer_with_models(state);
        const std::string note = view::unknown_tokens_text(state);
        CHECK(note.starts_with(fmt::format("not in the vocabulary, so read as [?]: '{}'", word)));
        CHECK(view::has(note, "(nearest: tired") == (word == std::string("tierd")));
        for (const char* workspace : {"step", "model"}) {
            CAPTURE(workspace);
            view::apply(state, view::SetWorkspace{workspace});
            answer_with_models(state);
            CHECK(Seen(state).has("Not in the vocabulary, so read as [?]: '"));
        }
    }
    view::apply(state, view::TypeText{first + "tired"});
    answer_with_models(state);
    CHECK(view::unknown_tokens_text(state).empty());
    CHECK_FALSE(Seen(state).has("ot in the vocabulary, so"));
}

TEST_CASE("a sentence that is typed letter by letter keeps the answer selected") {
    view::AppState state = first_screen();
    const std::string typed = "the dog ate the apple because it was hungry";
    for (std::size_t n = 1; n <= typed.size(); ++n) {
        view::apply(state, view::TypeText{typed.substr(0, n)});
        answer_with_models(state);
    }
    const auto place = view::answer_place(state.document(), state.head);
    REQUIRE(place);
    CHECK(place->query == 6);
    CHECK(state.selected == view::CellRef{Stage::weights, place->query, place->key});
}

TEST_CASE("a preset of an earlier version opens the model that replaces it") {
    view::AppState state =
        view::after(view::initial_state(), {view::LoadPreset{"the-animal-didnt-cross"}});
    answer_with_models(state);
    CHECK(state.document().name == "pronouns");
    CHECK(view::answer_place(state.document()));
}

TEST_CASE("Next of a tour never refuses: it shows the answer, then the next page") {
    view::AppState state = view::after(view::initial_state(), {view::StartTour{""}});
    Seen seen(state);
    CHECK(seen.has("1 of 20 · Predict first"));
    const auto actions = seen.click("Next  →");
    REQUIRE(last<view::GoToTourPage>(actions) != nullptr);
    view::acted(state, actions);
    CHECK(state.tour.page == 0);
    for (int n = 0; n < 2 && state.tour.page == 0; ++n)
        view::acted(state, Seen(state).click("Next  →"));
    CHECK(state.tour.page == 1);
}

TEST_CASE("presenting shows no doors") {
    view::AppState state = view::after(
        view::initial_state(), {view::GoToStage{Stage::weights}, view::ShowStartButtons{true}});
    CHECK(Seen(state).has("Open my model"));
    view::apply(state, view::SetPresenter{true});
    CHECK_FALSE(Seen(state).has("Open my model"));
    view::apply(state, view::SetPresenter{false});
    CHECK(Seen(state).has("Open my model"));
}

TEST_CASE("a workspace that has nothing to show of a large matrix leads back to the sentence") {
    view::AppState state =
        view::after(view::initial_state(), {view::SetCausalMask{view::CausalChoice::top_left}});
    const auto sentence = state.shared_document();
    state = view::opened_in(std::move(state), {.tokens = 131072});
    for (const char* workspace : {"heads", "kinds", "masks", "gradients"}) {
        CAPTURE(workspace);
        view::AppState there = view::after(state, {view::SetWorkspace{workspace}});
        view::acted(there, Seen(there).click("Back to “The cat sat down”"));
        CHECK(there.shared_document() == sentence);
        CHECK(there.workspace == std::string_view(workspace));
    }
    view::AppState alone = view::after(state, {view::SetWorkspace{"masks"}});
    alone.history = {alone.history[alone.now]};  // as a window begins on a large matrix
    alone.now = 0;
    view::acted(alone, Seen(alone).click("Open “The cat sat down”"));
    CHECK(is_toy(alone.document()));
    CHECK_FALSE(view::undo_hint(alone));
}
