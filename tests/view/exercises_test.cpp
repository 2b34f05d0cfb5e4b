#include <fmt/format.h>

#include <set>

#include "app/common/exercise/exercise.h"

#include "app/common/exercise/text.h"
#include "app/workspaces/exercises/actions.h"
#include "app/workspaces/exercises/view.h"
#include "core/tex.h"
#include "tests/view/view_test.h"

using namespace attn::view;

namespace {

Exercise made(const ExerciseSheet& sheet, std::uint64_t seed) {
    const auto exercise = make_exercise(sheet, seed);
    REQUIRE_MESSAGE(exercise.has_value(), (exercise ? std::string() : exercise.error().text()));
    return *exercise;
}
Exercise made(std::string_view key, std::uint64_t seed) {
    const ExerciseSheet* const sheet = find_exercise_sheet(key);
    REQUIRE(sheet);
    return made(*sheet, seed);
}

/// What `write` makes of each entry of the answer.
template <class Write>
std::vector<std::string> entries(const ExerciseQuestion& question, Write write) {
    std::vector<std::string> all;
    for (const double entry : question.answer.entries) all.push_back(write(entry));
    return all;
}
std::vector<std::string> answers(const ExerciseQuestion& question) {
    return entries(question, [&](double entry) {
        return question.choices.empty() ? question.written(entry)
                                        : std::to_string(static_cast<int>(entry));
    });
}
bool accepts(const ExerciseQuestion& question, const std::vector<std::string>& given) {
    return check_answer(question, given).right;
}

/// A sheet of one question.
std::string sheet_json(const std::string& question, const std::string& more = "") {
    return R"({"title": "T", "draw": [{"name": "a", "from": [1, 2]}], )" + more +
           R"("questions": [{"text": ["x"], "hint": "h", "solution": ["s"], )" + question + "}]}";
}
ExerciseQuestion question_of(const std::string& json) {
    const auto sheet = exercise_sheet_from_json(sheet_json(json), "t.json");
    REQUIRE_MESSAGE(sheet.has_value(), (sheet ? std::string() : sheet.error().text()));
    return made(*sheet, 1).questions[0];
}

AppState exercises_state(const Actions& actions = {}) { return in_workspace("exercises", actions); }

}  // namespace

TEST_CASE("a tie is rounded away from 0, as by hand") {
    CHECK(fixed_number(-0.0625, 3) == "−0.063");
    CHECK(fixed_number(0.125, 2) == "0.13");
    CHECK(fixed_number(0.015, 2) == "0.02");
    CHECK(fixed_number(-0.0004, 3) == "0.000");
}

TEST_CASE("every sheet and seed: the written answer is right; zeros and other signs are not") {
    REQUIRE(exercise_sheets());
    CHECK(exercise_sheets()->size() >= 15);
    for (const ExerciseSheet& sheet : *exercise_sheets())
        for (std::uint64_t seed = 0; seed < 20; ++seed)
            for (const ExerciseQuestion& question : made(sheet, seed).questions) {
                INFO("sheet.key ", sheet.key, ", seed ", seed, ", question.label ", question.label);
                CHECK(accepts(question, answers(question)));
                CHECK_FALSE(accepts(question, entries(question, [](double) { return ""; })));
                if (!question.choices.empty()) {
                    for (std::size_t n = 0; n < question.choices.size(); ++n)
                        CHECK(accepts(question, {std::to_string(n)}) ==
                              (question.answer.entries[0] == static_cast<double>(n)));
                    continue;
                }
                const auto changed = [&](auto change) {
                    return accepts(question, entries(question, [&](double entry) {
                                       return exact(double{change(entry)});
                                   }));
                };
                CHECK_FALSE(changed([](double) { return 0.0; }));
                CHECK_FALSE(changed([&](double entry) {
                    return std::isfinite(entry) ? entry + 1.01 * question.allowed(entry) : 0.0;
                }));
                if (std::isnan(question.answer.entries[0])) continue;
                CHECK_FALSE(changed([](double entry) { return -entry; }));
                CHECK(
                    changed([&](double entry) { return entry - 0.99 * question.allowed(entry); }));
            }
}

TEST_CASE("a seed gives one sheet, and others give others") {
    const auto given = [](std::uint64_t seed) { return made("causal-row", seed).values.at("S"); };
    CHECK(given(7) == given(7));
    CHECK(given(7) == SmallMatrix{3, 3, given(7).entries});
    std::vector<SmallMatrix> all;
    for (std::uint64_t seed = 0; seed < 20; ++seed)
        if (std::ranges::count(all, given(seed)) == 0) all.push_back(given(seed));
    CHECK(all.size() >= 19);
}

TEST_CASE("known answers: the exercise of the texts, Q = I and K = V = [[1, 1], [1, 0]]") {
    for (std::uint64_t seed = 0; seed < 2000; ++seed) {
        const Exercise exercise = made("identity-queries", seed);
        if (!(exercise.values.at("K") == SmallMatrix{2, 2, {1, 1, 1, 0}})) continue;
        CHECK(accepts(exercise.questions[1], {"0.5", "1/2", "0.7311", "0.2689"}));
        CHECK(accepts(exercise.questions[2], {"1", ".5", "1", "0.73"}));
        CHECK_FALSE(accepts(exercise.questions[1], {"0.5", "0.5", "0.5", "0.5"}));
        return;
    }
    FAIL("no seed draws it");
}

TEST_CASE("entries: ties and rounding, what is no number, NaN and infinity") {
    const ExerciseQuestion half = question_of(R"("answer": "0.125")");
    for (const char* text : {"0.12", "0.13", "1/8", " 0.125 ", ".125", "2^-3", "1.25·10^-1"})
        CHECK(accepts(half, {text}));
    for (const char* text : {"0.11", "0.14", "−0.125", "0", "nan", "1/0"})
        CHECK_FALSE(accepts(half, {text}));
    const ExerciseQuestion many = question_of(R"("answer": "1000000 * [1, 2]", "significant": 3)");
    CHECK(accepts(many, {"1,000,000", "2.01e6"}));
    CHECK_FALSE(accepts(many, {"1,000,000", "2.03e6"}));
    const ExerciseQuestion odd = question_of(R"("answer": "[nan, inf, 0]")");
    CHECK(accepts(odd, {"nan", "∞", "0"}));
    CHECK_FALSE(accepts(odd, {"0", "∞", "0"}));
    CHECK_FALSE(accepts(odd, {"nan", "-inf", "0"}));
    const auto description = [&](const std::vector<std::string>& given) {
        return check_answer(odd, given).text;
    };
    CHECK(description({"", "", " "}) == "All entries are empty.");
    CHECK(description({"nan", "", "0"}) == "Empty entries: 1 of 3.");
    CHECK(description({"nan", "x", ""}) == "\"x\" is not a number.");
    CHECK(description({"nan", "1", "1"}) == "Right entries: 1 of 3.");
    CHECK(description({"nan", "inf", "0"}) == "Right.");
}

TEST_CASE("the usual mistakes are named, and no answer is given away") {
    const auto mistake = [](std::string_view key, std::size_t n, const auto& entry_of) {
        const Exercise exercise = made(key, 7);
        const SmallMatrix& answer = exercise.questions[n].answer;
        std::vector<std::string> given;
        for (Index i = 0; i < answer.rows; ++i)
            for (Index j = 0; j < answer.columns; ++j)
                given.push_back(exact(double{entry_of(answer, i, j)}));
        return likely_mistake(exercise, n, given);
    };
    using Matrix = SmallMatrix;
    const auto right = [](const Matrix& a, Index i, Index j) { return a(i, j); };
    CHECK(mistake("causal-row", 0, right) == "");
    CHECK(mistake("softmax-gradient", 2, [](const Matrix& a, Index i, Index j) {
              return j == 1 ? -a(i, j) : a(i, j);
          }) == "Entry 2: the sign is wrong.");
    CHECK(mistake("causal-row", 0, [](const Matrix& a, Index i, Index j) { return a(j, i); }) ==
          "Rows and columns are swapped.");
    CHECK(mistake("stored-weights", 1, [](const Matrix& a, Index i, Index j) {
              return 1024.0 * a(i, j);
          }) == "1024 times too large.");
    CHECK(mistake("stored-weights", 1, [](const Matrix& a, Index i, Index j) {
              return a(i, j) / 2.0;
          }) == "2 times too small.");
    CHECK(mistake("softmax-row", 3, [](const Matrix& a, Index i, Index j) {
              return a(i, j) > 0.3 ? a(i, j) + 0.01 : a(i, j);
          }).ends_with("nearly right. Round only at the end."));
    CHECK(mistake("causal-row", 0, [](const Matrix& a, Index i, Index j) {
              return i == 2 ? 1.0 / 7.0 + 0.09 * static_cast<double>(j) : a(i, j);
          }).starts_with("Row 3"));
    const Exercise temperature = made("temperature", 7);
    CHECK(likely_mistake(temperature, 1, answers(temperature.questions[0])) ==
          "This is the answer to question 1.");
    // Entries that are empty, unreadable or not finite name no mistake, nor do choices.
    CHECK(likely_mistake(temperature, 0, std::vector<std::string>{"1", "", "0"}) == "");
    CHECK(likely_mistake(temperature, 0, std::vector<std::string>{"1", "x", "0"}) == "");
    CHECK(likely_mistake(temperature, 0, std::vector<std::string>{"nan", "0", "0"}) == "");
    CHECK(likely_mistake(temperature, 4, std::vector<std::string>{"7"}) == "");
    REQUIRE(exercise_sheets());
    for (const ExerciseSheet& sheet : *exercise_sheets())
        for (std::uint64_t seed = 0; seed < 10; ++seed) {
            const Exercise exercise = made(sheet, seed);
            for (std::size_t n = 0; n < exercise.questions.size(); ++n) {
                const auto& question = exercise.questions[n];
                CHECK(likely_mistake(exercise, n, answers(question)) == "");
                const std::string all_zero =
                    likely_mistake(exercise, n, entries(question, [](double) { return "0"; }));
                CHECK_FALSE(has(all_zero, "sign"));
            }
        }
}

TEST_CASE("texts of sheets: values, formats, choices, formulas and matrices") {
    const NamedMatrices names{{"n", {1, 1, {-1500.0}}}, {"A", {1, 2, {0.5, -0.25}}}};
    const std::pair<const char*, const char*> kTexts[] = {
        {"n = @{n}", "n = −1500"},      {"@{n * n}", "2,250,000"},
        {"@{1/3:4}", "0.3333"},         {"@{n:p}", "(−1500)"},
        {"@{1234567:s3}", "1,230,000"}, {"@{-1 / 3:ps2}", "(−0.33)"},
        {"@{?1: a | b b | c}", "b b"},  {"@{-0.001:2}", "0.00"},
        {"@{inf} @{nan}", "∞ NaN"},     {"@{0.5:s3} @{1e-7:s2}", "0.5 1·10⁻⁷"},
    };
    for (const auto& [text, filled] : kTexts) {
        CAPTURE(text);
        const auto made = filled_text(text, names);
        REQUIRE(made);
        CHECK(*made == filled);
    }
    const auto pieces = exercise_paragraph("So $x^{@{n}}$, and @{A:1}.", names);
    REQUIRE(pieces);
    REQUIRE(pieces->size() == 6);
    CHECK((*pieces)[1].text == "x^{-1500}");
    CHECK((*pieces)[2].glued);
    CHECK((*pieces)[4].matrix == std::vector<std::vector<std::string>>{{"0.5", "−0.3"}});
    CHECK((*pieces)[5].text == ".");
    for (const char* wrong : {"@{n", "$x", "$\\frac$", "@{n:x}", "@{z}", "@{?5: a | b}", "$@{A}$"})
        CHECK_FALSE(exercise_paragraph(wrong, names));
}

TEST_CASE("a sheet that is wrong is refused by what is wrong") {
    const std::pair<std::string, const char*> kWrong[] = {
        {"{}", "has no 'title'"},
        {sheet_json(R"("answer": "1", "hue": 2)"), "hue"},
        {sheet_json(R"("label": "x")"), "has no 'answer'"},
        {sheet_json(R"("answer": "1", "decimals": 12)"), "decimals"},
        {sheet_json(R"("answer": "1")", R"("compute": ["b: 1"], )"), "expected \"name = formula\""},
        {R"({"title": "T", "draw": [{"name": "a", "from": []}], "questions": []})", "empty 'from'"},
    };
    for (const auto& [source, why] : kWrong) {
        const auto sheet = exercise_sheet_from_json(source, "t.json");
        REQUIRE_FALSE(sheet);
        CHECK(has(sheet.error().text(), why));
    }
    const std::pair<std::string, const char*> kUnmakeable[] = {
        {sheet_json(R"("answer": "b")"), "which is not a known name"},
        {sheet_json(R"("answer": "3", "choices": ["x", "y"])"), "expected a choice, 0 to 1"},
        {sheet_json(R"("answer": "1", "label": "\\huh")"), "huh"},
        {sheet_json(R"("answer": "1")", R"("require": ["a > 5"], )"), "met no 'require'"},
    };
    for (const auto& [source, why] : kUnmakeable) {
        const auto sheet = exercise_sheet_from_json(source, "t.json");
        REQUIRE(sheet);
        const auto exercise = make_exercise(*sheet, 1);
        REQUIRE_FALSE(exercise);
        CHECK(has(exercise.error().text(), why));
    }
}

TEST_CASE("Exercises: entries are undone and kept, a change ends a check, a seed empties all") {
    const AppState filled =
        exercises_state({SetExercise{"softmax-row", 3}, EnterAnswer{2, 0, 0, "x"}, CheckAnswer{2},
                         ShowExerciseHint{0, true}, ShowSolution{1, true}});
    CHECK(filled.message.text == "Question 3: \"x\" is not a number.");
    const ExercisesView view = build_exercises_view(filled);
    CHECK(view.exercise.title == "One softmax row by hand");
    CHECK(std::ranges::count(view.cards, true, &ExercisesView::Card::chosen) == 1);
    CHECK_FALSE(view.choosing);
    CHECK(view.questions[2].entries == std::vector<std::string>{"x"});
    REQUIRE(view.questions[2].checked);
    CHECK(view.questions[0].hint);
    CHECK_FALSE(view.questions[1].hint);
    CHECK(view.questions[1].solution);
    CHECK(build_exercises_view(reopened_alike(filled)).questions[2].checked);

    const std::string sum =
        view.exercise.questions[2].written(view.exercise.questions[2].answer.entries[0]);
    const AppState right = after(filled, {EnterAnswer{2, 0, 0, sum}});
    CHECK_FALSE(build_exercises_view(right).questions[2].checked);
    CHECK(build_exercises_view(after(right, {CheckAnswer{2}})).status ==
          "1 of 4 questions answered right");
    CHECK(exercises_controls(after(right, {Undo{}})).entries.at("2.0.0") == "x");
    CHECK(exercises_controls(after(right, {Undo{}, Undo{}})).entries.empty());
    CHECK(exercises_controls(after(right, {SetExercise{"softmax-row", 4}})).entries.empty());
    CHECK(exercises_controls(after(right, {SetExercise{"softmax-row", 4}, Undo{}}))
              .entries.at("2.0.0") == sum);
    CHECK(exercises_look(after(right, {SetExercise{"softmax-row", 4}})).hints.empty());
}

TEST_CASE("Exercises show one question; a check gives the reason") {
    AppState state = exercises_state({SetExercise{"causal-row", 7}});
    CHECK(build_exercises_view(state).question == 0);
    state = after(state, {ShowQuestion{2}});
    CHECK(build_exercises_view(state).question == 2);
    CHECK(build_exercises_view(reopened_alike(state)).question == 2);
    CHECK(build_exercises_view(after(state, {SetExercise{"causal-row", 8}})).question == 2);
    CHECK(build_exercises_view(after(state, {SetExercise{"softmax-row", 8}})).question == 0);
    CHECK(has(after(state, {ShowQuestion{9}}).message.text, "uestion 9: expected 0 to 2"));
    CHECK(build_exercises_view(after(state, {ShowQuestion{9}})).question == 2);
    // An answered question is shown, also by a journal without show_question.
    CHECK(build_exercises_view(after(state, {EnterAnswer{1, 0, 0, "2"}})).question == 1);

    const Exercise sheet = made("causal-row", 7);
    const auto because = [&](Index n, const std::string& text) {
        const auto view =
            build_exercises_view(after(state, {EnterAnswer{n, 0, 0, text}, CheckAnswer{n}}));
        return view.questions[static_cast<std::size_t>(n)].because;
    };
    const std::string right = answers(sheet.questions[2])[0];
    CHECK(because(2, right).size() == sheet.questions[2].solution.size());
    CHECK(because(2, right == "0" ? "1" : "0").front().front().text ==
          sheet.questions[2].hint.front().text);
    CHECK(because(1, "").empty());
    const std::string wrong = exact(-sheet.questions[1].answer.entries[0]);
    AppState filled = after(state, {EnterAnswer{1, 0, 0, wrong}});
    const auto rest = answers(sheet.questions[1]);
    for (Index i = 1; i < 3; ++i) filled = after(filled, {EnterAnswer{1, i, 0, rest[i]}});
    const auto view = build_exercises_view(after(filled, {CheckAnswer{1}}));
    REQUIRE(view.questions[1].because.size() == 1);
    std::string sentence;
    for (const ExercisePiece& piece : view.questions[1].because.front())
        sentence += piece.text + " ";
    CHECK(sentence == "Entry 1: the sign is wrong. ");
}

TEST_CASE("Exercises: what is not there is refused by name") {
    const AppState state = exercises_state();
    CHECK(has(after(state, {SetExercise{"cellar", 1}}).message.text, "no sheet 'cellar'"));
    CHECK(has(after(state, {CheckAnswer{99}}).message.text, "uestion 99: expected 0 to"));
    CHECK(has(after(state, {ShowSolution{-1, true}}).message.text, "uestion -1: expected 0 to"));
    CHECK(has(after(state, {EnterAnswer{0, 9, 0, "1"}}).message.text, "no blank in row 9"));
}

TEST_CASE("Exercises open on the cards of all sheets; what was solved stays marked") {
    const AppState opened = exercises_state();
    ExercisesView view = build_exercises_view(opened);
    CHECK(view.choosing);
    CHECK(view.cards.size() == exercise_sheets()->size());
    const std::string of_all = fmt::format(" of {} sheets solved", exercise_sheets()->size());
    CHECK(view.status == "0" + of_all);
    for (const ExercisesView::Card& card : view.cards) {
        CAPTURE(card.key);
        CHECK(tex::parse(card.formula));
        CHECK_FALSE(card.learn.empty());
        CHECK(card.question.ends_with('?'));
        CHECK(std::ranges::count(card.question, ' ') < 12);
        CHECK_FALSE(card.about.empty());
        CHECK(card.effort.ends_with(" min"));
    }
    // The cards of a chapter follow each other, and a chapter has more than one.
    std::vector<std::string> chapters;
    for (const ExercisesView::Card& card : view.cards)
        if (chapters.empty() || chapters.back() != card.chapter) chapters.push_back(card.chapter);
    CHECK(chapters.size() >= 5);
    CHECK(2 * chapters.size() <= view.cards.size());
    CHECK(std::set(chapters.begin(), chapters.end()).size() == chapters.size());
    AppState state = after(opened, {SetExercise{"softmax-row", 3}});
    CHECK_FALSE(build_exercises_view(state).choosing);
    const Exercise sheet = made("softmax-row", 3);
    for (Index n = 0; n < std::ssize(sheet.questions); ++n) {
        const auto written = answers(sheet.questions[n]);
        for (Index k = 0; k < std::ssize(written); ++k)
            state = after(state, {EnterAnswer{n, 0, k, written[k]}});
        state = after(state, {CheckAnswer{n}});
    }
    state = after(state, {SetExercise{"softmax-row", 4}, ShowSheets{true}});
    CHECK(build_exercises_view(state).status == "1" + of_all);
    CHECK(build_exercises_view(reopened_alike(state)).status == "1" + of_all);
    CHECK_FALSE(build_exercises_view(after(state, {SetExercise{"softmax-row", 4}})).choosing);
}
