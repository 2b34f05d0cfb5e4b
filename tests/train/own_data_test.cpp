// Own data: lines that are refused, the model that they make, and which lines made an answer.

#include <doctest/doctest.h>

#include <cmath>
#include <string>

#include "core/train/course.h"
#include "core/train/language.h"
#include "core/train/own_data.h"
#include "core/train/task_table.h"
#include "tests/support/results.h"

using namespace attn;
using namespace attn::train;

namespace {

std::string fault_of(std::string_view text) { return sentence_in(read_own_data(text)); }

/// Only the last line has "wide".
constexpr const char* kPronouns =
    "the dog crossed the road because it was tired | dog\n"
    "the cat crossed the river because it was tired | cat\n"
    "the dog crossed the river because it was hungry | dog\n"
    "\n# a remark\n"
    "the cat crossed the road because it was hungry | cat\n"
    "the bird crossed the road because it was tired | bird\n"
    "the bird crossed the river because it was hungry | bird\n"
    "the dog crossed the bridge because it was tired | dog\n"
    "the cat crossed the bridge because it was hungry | cat\n"
    "the bird crossed the bridge because it was wide | bridge";

Moment trained(const Spec& spec, Index steps) {
    Course course = must(Course::make(spec));
    while (course.advance(steps)) {
    }
    return course.keep();
}
std::string word(const Spec& spec, const OwnPrediction& prediction) {
    return spec.language->vocabulary()[prediction.token];
}
std::string answer_terms(const Spec& spec, const OwnAnswer& answer) {
    std::string text;
    for (const OwnPrediction& each : answer.predictions) text += word(spec, each) + " ";
    return text;
}

}  // namespace

TEST_CASE("own data: the first line decides the kind, and each line is a text of a language") {
    const OwnData pronouns = must(read_own_data(kPronouns));
    CHECK(pronouns.kind == OwnKind::pronouns);
    REQUIRE(pronouns.lines.size() == 9);
    CHECK(pronouns.lines[3].number == 6);
    CHECK(pronouns.lines[3].typed == "the cat crossed the road because it was hungry | cat");
    CHECK(pronouns.lines[3].text == "the cat crossed the road because it/cat was hungry");
    const OwnData pairs = must(read_own_data("a cat = un chat\r\nthe dog=le chien .\n"));
    CHECK(pairs.kind == OwnKind::pairs);
    CHECK(pairs.lines[0].text == "a cat = un chat .");
    CHECK(pairs.lines[1].text == "the dog = le chien .");
    CHECK(must(read_own_data("it is late\nthe sun is warm")).kind == OwnKind::next_word);
    const OwnData twice = must(
        read_own_data("It was near but it slept | bed cat bed\nx it | x").or_else([](const Error&) {
            return read_own_data("It was near bed cat but it slept | bed cat\nx it | x");
        }));
    CHECK(twice.lines[0].text == "It/bed was near bed cat but it/cat slept");
}

TEST_CASE("own data: errors name line and word, and what is expected") {
    CHECK(fault_of("") == "the data has 0 lines; expected 2 to 200, one text each");
    CHECK(fault_of("# a\n a b") == "the data has 1 line; expected 2 to 200, one text each");
    CHECK(fault_of("x it | x\n\nthe dog ran | dog") ==
          "line 3: it has no “it”; expected a sentence with “it”, then | and a noun for each “it”");
    CHECK(fault_of("x it | x\na dog saw it | cat") ==
          "line 2: the noun 'cat' is not in the sentence; expected one of its words");
    CHECK(fault_of("a dog saw it | it\nx it | x") ==
          "line 1: the noun 'it' is not in the sentence; expected one of its words");
    CHECK(fault_of("x it | x\nit saw it x | x") ==
          "line 2: it has 1 word after | for 2 “it”; expected a noun for each");
    CHECK(
        fault_of("x it | x\nit saw x") ==
        "line 2: “it saw x” has another format than line 1; expected a sentence with “it”, then | "
        "and a noun for each “it”");
    CHECK(
        fault_of("a = b\nc d") ==
        "line 2: “c d” has another format than line 1; expected two texts with one = between them");
    CHECK(fault_of("a = b = c\nc = d") == "line 1: it has more than one =; expected one");
    CHECK(fault_of("a = b\n = d") ==
          "line 2: one side of = is empty; expected two texts with one = between them");
    CHECK(fault_of("a b\nword") == "line 2: it has one word; expected two or more");
    CHECK(fault_of("a b\nc and/or d") ==
          "line 2: the word 'and/or' has a character of the format; expected none of / { } | =");
    CHECK(fault_of("a [?]\nc d") ==
          "line 1: the word [?] stands for unknown words; expected another");
    std::string many;
    for (int n = 0; n < 201; ++n) many += "a b\n";
    CHECK(fault_of(many) == "line 201: expected at most 200 lines");
    std::string terms = "a b\nx";
    for (int n = 0; n < 64; ++n) terms += " x";
    CHECK(fault_of(terms) == "line 2: it has 65 words; expected at most 64");
}

TEST_CASE("own data: a step reads every line, and one that is left out changes no other") {
    const Spec spec = must(own_spec(kPronouns));
    CHECK(has_own_data(spec));
    CHECK(spec.batch == 9);
    const Sequences all(spec);
    const Spec less = without_line(spec, 4);
    CHECK(less.batch == 8);
    const Sequences without(less);
    CHECK(without.vocabulary() == all.vocabulary());
    for (const Index step : {0, 7})
        for (Index place = 0; place < 8; ++place)
            CHECK(without.training(step, place) ==
                  all.training(step, place < 4 ? place : place + 1));
    CHECK(must(Trainer::make(spec)).checkpoint()->weights ==
          must(Trainer::make(less)).checkpoint()->weights);
    // A saved run has its lines.
    const Spec read = must(spec_from_json(spec_to_json(spec), "spec"));
    CHECK(read == spec);
    CHECK(read.language->own_text() == kPronouns);
}

TEST_CASE("own data: the model answers each kind of sentence, and names words that it never read") {
    const Spec pronouns = must(own_spec(kPronouns));
    const Moment moment = trained(pronouns, pronouns.steps);
    const OwnAnswer tired =
        must(own_answer(pronouns, *moment, "the dog crossed the road because it was tired"));
    REQUIRE(tired.predictions.size() == 1);
    CHECK(tired.predictions[0].position == 6);
    CHECK(word(pronouns, tired.predictions[0]) == "dog");
    CHECK(tired.probability == tired.predictions[0].probability);
    CHECK(tired.probability > 0.9);
    CHECK(tired.unknown.empty());
    CHECK(probability_of(pronouns, *moment, tired) ==
          doctest::Approx(tired.probability).epsilon(1e-6));
    const OwnAnswer unknown =
        must(own_answer(pronouns, *moment, "the zebra sang and it was zebra"));
    CHECK(unknown.unknown == std::vector<std::string>{"zebra", "sang", "and"});
    CHECK(sentence_in(own_answer(pronouns, *moment, "the dog sleeps")) ==
          "the sentence has no “it”; expected at least one, as in the lines");
    CHECK(sentence_in(own_answer(pronouns, *moment, "")) ==
          "the sentence has no words; expected at least one");

    const Spec pairs =
        must(own_spec("the cat = le chat\nthe house = la maison\na cat = un chat\n"
                      "a house = une maison\nthe dog = le chien\na dog = un chien"));
    const Moment paired = trained(pairs, pairs.steps);
    const OwnAnswer cat = must(own_answer(pairs, *paired, "the house"));
    CHECK(answer_terms(pairs, cat) == "la maison . ");
    CHECK(cat.terms == std::vector<std::string>{"the", "house", "=", "la", "maison"});
    double product = 1.0;
    for (const OwnPrediction& each : cat.predictions) product *= each.probability;
    CHECK(cat.probability == product);
    CHECK(probability_of(pairs, *paired, cat) == doctest::Approx(product).epsilon(1e-5));
    CHECK(must(own_sentence(pairs, " the  dog = ")) == "the dog =");
    CHECK(sentence_in(own_sentence(pairs, "the dog = le")) ==
          "the sentence has words after =; expected the left side alone");

    const Spec texts = must(own_spec("the sun is warm\nthe snow is cold\nthe sea is blue"));
    const Moment read = trained(texts, texts.steps);
    const OwnAnswer next = must(own_answer(texts, *read, "the snow is"));
    CHECK(answer_terms(texts, next) == "cold ");
    CHECK(next.probability > 0.9);
}

TEST_CASE("own data: the line that alone decides an answer comes first") {
    const Spec spec = must(own_spec(kPronouns));
    int reports = 0;
    double last = 0.0;
    RunControl control;
    control.progress = [&](double done) { ++reports, last = done; };
    const LeftOut models = must(leave_out_each(spec, {}, spec.steps, control));
    const Influences found =
        must(influences_of(spec, models, "the dog crossed the bridge because it was wide"));
    CHECK(reports == 10);
    CHECK(last == 1.0);
    REQUIRE(found.lines.size() == 9);
    CHECK(word(spec, found.answer.predictions.at(0)) == "bridge");
    CHECK(found.lines[0].line == 8);  // the only line with "wide"
    CHECK(found.lines[0].change(found.answer.probability) < -0.4);
    for (std::size_t n = 1; n < 9; ++n)
        CHECK(std::abs(found.lines[n].change(found.answer.probability)) <=
              std::abs(found.lines[n - 1].change(found.answer.probability)));
    // The numbers are those of trainings that a person can repeat.
    const Spec without = without_line(spec, 8);
    CHECK(found.lines[0].probability ==
          probability_of(without, *trained(without, spec.steps), found.answer));
    // As trained every line is right; the model that never read the line with "wide" gets it wrong.
    REQUIRE(models.read.size() == 9);
    for (const LineAnswer& each : models.read) CHECK(each.right);
    REQUIRE(models.not_read.size() == 9);
    CHECK(models.not_read[8].expected == std::vector<std::string>{"bridge"});
    CHECK_FALSE(models.not_read[8].right);
    CHECK(word(spec, models.not_read[8].answer.predictions.at(0)) != "bridge");
    CHECK(models.not_read[8].answer.probability ==
          must(own_answer(without, *trained(without, spec.steps),
                          "the bird crossed the bridge because it was wide"))
              .probability);
}

TEST_CASE("own data: the question of a line leaves out the words that answer it") {
    const Spec pairs = must(own_spec("the cat = le chat\na dog = un chien"));
    const LineAnswer second = must(answer_of_line(pairs, *trained(pairs, pairs.steps), 1));
    CHECK(second.expected == std::vector<std::string>{"un", "chien", "."});
    CHECK(second.right);
    CHECK(second.answer.terms == std::vector<std::string>{"a", "dog", "=", "un", "chien"});
    const Spec texts = must(own_spec("the sun is warm\nthe moon is cold"));
    const LineAnswer moon = must(answer_of_line(texts, *trained(texts, texts.steps), 1));
    CHECK(moon.expected == std::vector<std::string>{"cold"});
    CHECK(moon.answer.terms == std::vector<std::string>{"the", "moon", "is"});
    CHECK(moon.right);
    CHECK_FALSE(must(answer_of_line(texts, *trained(texts, 0), 1)).right);
}

TEST_CASE("own data: a stopped search fails") {
    std::stop_source source;
    source.request_stop();
    RunControl control;
    control.stop = source.get_token();
    const Spec spec = must(own_spec(kPronouns));
    CHECK(sentence_in(leave_out_each(spec, {}, 5, control)) == "the training was stopped");
}
