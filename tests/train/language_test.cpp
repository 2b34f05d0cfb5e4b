// Languages: refusals, drawn texts, and the evaluation of a model on held-out texts.

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/io/file.h"
#include "core/io/json.h"
#include "core/train/evaluation.h"
#include "core/train/language.h"
#include "core/train/task_table.h"
#include "core/train/trainer.h"
#include "tests/io/scratch.h"
#include "tests/support/results.h"

using namespace attn;
using namespace attn::train;

namespace {

using LanguagePtr = std::shared_ptr<const Language>;

/// Texts of two genders; articles and adjectives agree with the noun.
constexpr const char* kPhrases = R"({
  "text": "the cat = le chat",
  "classes": {
    "article": [{"en": "the", "m": "le", "f": "la"}, {"en": "a", "m": "un", "f": "une"}],
    "noun": [{"en": "cat", "fr": "chat", "gender": "m"}, {"en": "house", "fr": "maison", "gender": "f"},
             {"en": "dog", "fr": "chien", "gender": "m", "weight": 2}],
    "adjective": [{"en": "red", "m": "rouge", "f": "rouge"}, {"en": "black", "m": "noir", "f": "noire"}],
    "phrase": [{"en": "{d:article.en} {n:noun.en}", "fr": "{d@n.gender} {n.fr}"},
               {"weight": 3, "en": "{d:article.en} {a:adjective.en} {n:noun.en}",
                "fr": "{d@n.gender} {n.fr} {a@n.gender}"}],
    "text": ["{p:phrase.en} = {p.fr}"]
  },
  "answers_from": "=",
  "held_out": [["black cat"], ["house", "a"]]
})";

LanguagePtr language_of(std::string_view text) { return must(Language::parse(text, "l.json")); }
std::string fault_of(std::string_view text) { return sentence_in(Language::parse(text, "l.json")); }
std::string fault_of_classes(std::string_view classes) {
    return fault_of(fmt::format(R"({{"text": "a", "classes": {{{}}}}})", classes));
}

std::string text_of(const Language& language, const std::vector<Index>& tokens) {
    std::vector<std::string> spoken;
    for (const Index token : tokens)
        spoken.push_back(token < 0 ? "-" : language.vocabulary()[token]);
    return fmt::format("{}", fmt::join(spoken, " "));
}
std::string text_of(const Language& language, const DrawnText& drawn) {
    std::vector<Index> tokens;
    for (const DrawnWord& word : drawn) tokens.push_back(word.token);
    return text_of(language, tokens);
}

Spec spec_of(std::string_view task, LanguagePtr language) {
    Spec spec =
        must(spec_from_json(R"({"tokens": 12, "layers": 2, "heads": 2, "d_model": 12, "d_k": 4,
                                        "mlp": true, "batch": 4})",
                            "s"));
    spec.task = task == "marked" ? Task::marked : Task::sentences;
    spec.language.value = std::move(language);
    return spec;
}

/// "it" is either noun; the adjective decides.
constexpr const char* kPronouns = R"({
  "text": "the dog saw the lake because it was tired",
  "classes": {
    "animal": ["dog", "cat", "fox"], "place": ["lake", "road", "hill"],
    "tired": ["tired", "old"], "wide": ["wide", "deep"],
    "text": ["the {animal} saw the {place} because it/{animal} was {tired}",
             "the {animal} saw the {place} because it/{place} was {wide} now"]
  },
  "echo": 0.5,
  "unknown": 0.2,
  "held_out": [["dog", "lake"], ["fox", "hill"]],
  "require": {"texts": 40, "answers": 0.9, "attention": {"layer": 1, "weight": 0.4, "share": 0.1},
              "alignment": {"layer": 0, "share": 0.2},
              "examples": [{"text": "the dog saw the lake because it was tired", "word": "it",
                            "answer": "dog", "layer": 1, "weight": 0.3}]}
})";

}  // namespace

TEST_CASE("a language's texts agree, and every text of its classes is drawn") {
    const LanguagePtr language = language_of(kPhrases);
    CHECK(language->longest() == 7);
    CHECK(language->vocabulary().front() == kUnknownWord);
    CHECK(language->vocabulary().size() == 1 + 1 + 2 + 3 + 2 + 4 + 3 + 3);
    const std::map<std::string, std::string> french{
        {"cat", "chat"}, {"dog", "chien"}, {"house", "maison"}};
    std::set<std::string> seen;
    std::map<std::string, int> nouns;
    for (std::uint64_t n = 0; n < 4000; ++n) {
        const std::string text = text_of(*language, language->draw(n, Language::Part::training));
        seen.insert(text);
        const auto spoken = [&](std::string_view list) {
            for (const auto& [en, fr] : french)
                if (list.find(fr) != list.npos) return en;
            return std::string();
        };
        const std::string noun = spoken(text.substr(text.find('=')));
        ++nouns[noun];
        CHECK(text.substr(0, text.find('=')).find(" " + noun + " ") != std::string::npos);
        const bool female = noun == "house";
        CHECK((text.find("= la ") != std::string::npos ||
               text.find("= une ") != std::string::npos) == female);
        if (text.find(" black ") != std::string::npos)
            CHECK(text.ends_with(female ? " noire" : " noir"));
        CHECK(text.find("black cat") == std::string::npos);
        CHECK(!(text.starts_with("a ") && female));
    }
    // 2 articles x 3 nouns x (no adjective, red, black) less those that are held out: 2 black cats, 3 texts of "a … house"
    CHECK(seen.size() == 18 - 5);
    CHECK(nouns["dog"] > 1.3 * nouns["cat"]);
    CHECK(seen.contains("the black house = la maison noire"));
}

TEST_CASE("held-out texts have a held-out combination, and training never reads one") {
    for (const char* text : {kPhrases, kPronouns}) {
        const LanguagePtr language = language_of(text);
        const Spec spec = spec_of(text == kPronouns ? "marked" : "sentences", language);
        const Sequences sequences(spec);
        const auto is_out = [&](const Example& example) {
            const std::string spoken = " " + text_of(*language, example.tokens) + " ";
            const auto has = [&](std::string_view word) {
                return spoken.find(fmt::format(" {} ", word)) != std::string::npos;
            };
            return text == kPronouns ? (has("dog") && has("lake")) || (has("fox") && has("hill"))
                                     : has("black cat") || (has("a") && has("house"));
        };
        for (Index n = 0; n < 300; ++n) {
            CHECK(!is_out(sequences.training(n, 1)));
            CHECK(is_out(sequences.held_out(static_cast<std::uint64_t>(n)).example));
        }
    }
}

TEST_CASE("answers: marked words, echoes and next words") {
    const LanguagePtr pronouns = language_of(kPronouns);
    const Sequences marked(spec_of("marked", pronouns));
    double echoed = 0, others = 0, hidden = 0, spoken = 0;
    for (Index n = 0; n < 2000; ++n) {
        const Example example = marked.training(n, 0);
        const std::string text = text_of(*pronouns, example.tokens);
        for (std::size_t p = 0; p < example.tokens.size(); ++p) {
            ++spoken;
            hidden += example.tokens[p] == 0 ? 1 : 0;
            if (p == 6) continue;
            ++others;
            echoed += example.targets[p] == kNoTarget ? 0 : 1;
            if (example.targets[p] != kNoTarget) CHECK(example.targets[p] == example.tokens[p]);
        }
        CHECK(pronouns->vocabulary()[example.tokens[6]] == "it");
        // The adjective decides; a hidden noun is read as unknown.
        const std::string last = pronouns->vocabulary()[example.tokens[8]];
        if (last == "tired" || last == "old") CHECK(example.targets[6] == example.tokens[1]);
        if (last == "wide" || last == "deep") CHECK(example.targets[6] == example.tokens[4]);
    }
    CHECK(echoed / others == doctest::Approx(0.5).epsilon(0.05));
    CHECK(hidden / spoken ==
          doctest::Approx(0.2 * 8.5 / 9.5).epsilon(0.08));  // never the marked word

    const LanguagePtr phrases = language_of(kPhrases);
    const Sequences next(spec_of("sentences", phrases));
    const Example typed = must(next.typed("the cat = le chat"));
    CHECK(text_of(*phrases, typed.targets) == "- - le chat -");
    CHECK(text_of(*phrases, next.held_out(0).example.targets).starts_with("- - "));
    CHECK(must(next.typed("the zebra = le")).tokens[1] == 0);
    CHECK(next.fixed() == must(next.typed(phrases->text())));
}

TEST_CASE("the marked answers of a text are found from its words alone") {
    const auto recipe =
        must(parse_json(must(read_text_file(ATTN_MODELS "/pronouns.json")), "pronouns"));
    const auto language = must(Language::parse(recipe.at("language").dump(), "pronouns"));
    int answers = 0;
    for (std::uint64_t stream = 0; stream < 400; ++stream) {
        const DrawnText text = language->draw(stream, Language::Part::training);
        std::vector<Index> tokens;
        for (const DrawnWord& word : text) tokens.push_back(word.token);
        const auto found = language->answers_of(tokens);
        REQUIRE(found);
        REQUIRE(found->size() == text.size());
        for (std::size_t n = 0; n < text.size(); ++n) {
            CHECK((*found)[n] == text[n].answer);
            answers += text[n].answer >= 0 ? 1 : 0;
        }
        tokens.push_back(tokens.front());
        CHECK_FALSE(language->answers_of(tokens));  // no template gives this one
    }
    CHECK(answers >= 400);
    CHECK_FALSE(language->answers_of({}));
}

TEST_CASE("an answer's keys are the words of its variable") {
    const LanguagePtr phrases = language_of(kPhrases);
    const Sequences next(spec_of("sentences", phrases));
    for (std::uint64_t n = 0; n < 100; ++n) {
        const HeldOut text = next.held_out(n);
        const std::string spoken = text_of(*phrases, text.example.tokens);
        for (const HeldOutAnswer& answer : text.answers) {
            CHECK(answer.counts);
            REQUIRE(answer.keys.size() == 1);  // the English word of the same meaning
            const std::string en = phrases->vocabulary()[text.example.tokens[answer.keys.front()]];
            const std::string fr = phrases->vocabulary()[text.example.targets[answer.position]];
            const std::map<std::string, std::set<std::string>> known{
                {"the", {"le", "la"}},       {"a", {"un", "une"}},  {"cat", {"chat"}},
                {"dog", {"chien"}},          {"house", {"maison"}}, {"red", {"rouge"}},
                {"black", {"noir", "noire"}}};
            CHECK(known.at(en).contains(fr));
        }
    }
    const Sequences marked(spec_of("marked", language_of(kPronouns)));
    for (std::uint64_t n = 0; n < 100; ++n) {
        const HeldOut text = marked.held_out(n);
        REQUIRE(text.answers.size() == 1);
        CHECK(text.answers[0].position == 6);
        REQUIRE(text.answers[0].keys.size() == 1);
        CHECK(text.example.tokens[text.answers[0].keys[0]] == text.example.targets[6]);
    }
}

TEST_CASE("an evaluation counts what a probe of each held-out text shows") {
    const LanguagePtr language = language_of(kPronouns);
    Spec spec = spec_of("marked", language);
    spec.steps = 60;
    spec.batch = 16;
    spec.learning_rate = 0.01;
    Trainer trainer = must(Trainer::make(spec));
    for (Index n = 0; n < spec.steps; ++n) trainer.step();
    const Moment moment = trainer.checkpoint();
    const Evaluation made = must(evaluate(spec, *moment));
    const Sequences sequences(spec);
    double right = 0, attended = 0, aligned[2] = {0, 0};
    for (std::uint64_t n = 0; n < 40; ++n) {
        const HeldOut text = sequences.held_out(n);
        const Probe shown = probe(spec, *moment, text.example);
        right += shown.answers[6] == text.example.targets[6] ? 1 : 0;
        const Index key = text.answers[0].keys[0];
        const auto weight = [&](Index layer, Index head, Index j) {
            return shown.weights[layer](0, head, 6, j);
        };
        attended += std::max(weight(1, 0, key), weight(1, 1, key)) >= 0.4F ? 1 : 0;
        for (Index h = 0; h < 2; ++h) {
            Index largest = 0;
            for (Index j = 1; j < std::ssize(text.example.tokens); ++j)
                if (weight(0, h, j) > weight(0, h, largest)) largest = j;
            aligned[h] += largest == key ? 1 : 0;
        }
    }
    REQUIRE(made.figures.size() == 6);
    CHECK(made.answers == 40);
    CHECK(made.answers_right == doctest::Approx(right / 40));
    CHECK(made.whole_texts == doctest::Approx(right / 40));
    CHECK(made.figures[0].required == 0.9);
    CHECK(!made.figures[1].required);
    CHECK(made.figures[2].value == doctest::Approx(attended / 40));
    CHECK(made.figures[3].value == doctest::Approx(std::max(aligned[0], aligned[1]) / 40));
    const Example example = must(sequences.typed(language->text()));
    const Probe shown = probe(spec, *moment, example);
    CHECK(made.figures[5].value ==
          doctest::Approx(std::max(shown.weights[1](0, 0, 6, 1), shown.weights[1](0, 1, 6, 1))));
    CHECK(Evaluation{1, 1, 1.0, 1.0, {{"a", 0.5, 0.6}}}.holds() == false);
    CHECK(Evaluation{1, 1, 1.0, 1.0, {{"a", 0.5, 0.5}, {"b", 0.0, {}}}}.holds());
    std::stop_source stop;
    stop.request_stop();
    CHECK(!evaluate(spec, *moment, stop.get_token()));
}

TEST_CASE("a language that cannot be read is refused by class, text and what was expected") {
    CHECK(fault_of("[]") == "l.json: is []; expected an object");
    CHECK(fault_of("{}").starts_with("l.json: has no 'classes'"));
    CHECK(
        fault_of(R"({"clases": 1})").starts_with("l.json: there is no field 'clases'; expected "));
    CHECK(fault_of_classes(R"("b": ["x"])") == "l.json: classes: there is no class 'text'");
    CHECK(fault_of_classes(R"("text": [])") ==
          "l.json: class 'text' is []; expected a list of entries");
    CHECK(contains(fault_of_classes(R"("text": ["a", {"en": "b"}])"),
                   "expected a text, as the first"));
    CHECK(contains(fault_of_classes(R"("text": [{"text": "a", "weight": 0}])"),
                   "a weight from 1 to"));
    CHECK(fault_of_classes(R"("text": ["a {b}"])") ==
          "l.json: class 'text', \"a {b}\": there is no class 'b'");
    CHECK(fault_of_classes(R"("text": ["a {b:c} {b:text}"], "c": ["x"])") ==
          "l.json: class 'text', \"a {b:c} {b:text}\": 'b' has two classes");
    CHECK(fault_of_classes(R"("text": ["{text}"])") ==
          "l.json: class 'text' contains itself; expected finite texts");
    CHECK(contains(fault_of_classes(R"("text": ["{c.fr}"], "c": ["x"])"), "has no form 'fr'"));
    CHECK(contains(fault_of_classes(R"("text": ["{c:c!b}"], "c": ["x", "y"])"),
                   "there is no 'b' before it"));
    CHECK(contains(fault_of_classes(R"("text": ["{b:c} {d:c!b}"], "c": ["x"])"),
                   "has one entry; expected two that differ"));
    CHECK(contains(fault_of_classes(R"("text": ["{c/x"])"), "has a brace"));
    CHECK(contains(fault_of_classes(R"("text": ["/x"])"), "has an empty side"));
    CHECK(contains(fault_of_classes(R"("text": ["it/{c}"], "c": ["x y"])"), "one word each"));
    CHECK(contains(fault_of_classes(R"("text": ["{c@d.g}"], "c": ["x"], "d": ["y"])"),
                   "there is no 'd'"));
    const auto with = [](std::string_view field) {
        return fault_of(
            fmt::format(R"({{"text": "a", "classes": {{"text": ["a b", "a c"]}}, {}}})", field));
    };
    CHECK(with(R"("echo": 2)") == "l.json: echo is 2; expected a number from 0 to 1");
    CHECK(with(R"("end": "z")") == "l.json: end: 'z' is not a word of any text");
    CHECK(contains(with(R"("held_out": [["a"]])"), "every one of 1000 texts"));
    CHECK(contains(with(R"("held_out": [["b c"]])"), "none of 1000 texts"));
    CHECK(contains(with(R"("require": {"answer": 1})"), "there is no field 'answer'"));
    CHECK(contains(fault_of(R"({"classes": {"text": ["a"]}})"), "text is not there"));
    CHECK(sentence_in(spec_from_json(R"({"task": "marked"})", "s")) ==
          "s: language is not there; expected an object for marked");
    CHECK(
        sentence_in(spec_from_json(
            R"({"task": "marked", "tokens": 2, "language": {"text": "a", "classes": {"text": ["a b c"]}}})",
            "s")) == "s: tokens is 2; expected at least 3, the most words of a text");
}

TEST_CASE("a specification with a language comes back from its JSON") {
    const Spec spec = spec_of("marked", language_of(kPronouns));
    const Spec again = must(spec_from_json(spec_to_json(spec), "s"));
    CHECK(again == spec);
    CHECK(Sequences(again).training(3, 2) == Sequences(spec).training(3, 2));
    Spec other = spec;
    other.language.value = language_of(kPhrases);
    CHECK(!(other == spec));
}
