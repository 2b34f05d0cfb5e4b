// What each task asks for, against its definition.

#include <doctest/doctest.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <sstream>

#include "core/io/json.h"
#include "core/train/task_table.h"
#include "core/train/tasks.h"
#include "tests/support/results.h"

using namespace attn;
using namespace attn::train;

namespace {

const LanguageRef kSayings{Language::parse(R"({"text": "a rose is red", "echo": 0.2, "unknown": 0.1,
        "classes": {"thing": ["rose", "tree", "star", "bird"], "colour": ["red", "old", "new", "big"],
                    "text": ["a {thing} is {colour}", "that {thing} of {other:thing!thing} is/{thing} {colour}"]}})",
                                           "l")
                               .value()};

Spec spec_of(Task task, Index tokens = 12, Index symbols = 8) {
    Spec spec;
    spec.task = task;
    spec.tokens = tokens;
    spec.symbols = symbols;
    spec.text = "a rose is a rose is a rose and that is that for a rose";
    spec.language = kSayings;
    return spec;
}

/// Checks many sequences of the task.
template <class Check>
void check_each(const Spec& spec, const Check& check) {
    REQUIRE(train::check(spec));
    const Sequences sequences(spec);
    for (Index n = 0; n < 200; ++n) {
        const Example example = sequences.training(n / 7, n % 7);
        REQUIRE(std::ssize(example.tokens) == spec.tokens);
        REQUIRE(example.targets.size() == example.tokens.size());
        for (const Index token : example.tokens) REQUIRE((token >= 0 && token < sequences.size()));
        check(example);
    }
}

std::string description_of(const Sequences& sequences, const std::vector<Index>& tokens) {
    std::string text;
    for (const Index token : tokens)
        text += (text.empty() ? "" : " ") + sequences.vocabulary()[token];
    return text;
}

const std::string kNounText = " dog cat bird teacher girl dogs cats birds teachers girls ";
const std::string kVerbStems =
    " runs sleeps sings waits run sleep sing wait sees hears likes follows see hear like follow ";

/// Targets of typed words as words, "-" where there is none.
std::string answers(Task task, const std::string& description, Index symbols = 8) {
    std::istringstream stream(description);
    const auto count = std::distance(std::istream_iterator<std::string>(stream), {});
    const Sequences sequences(spec_of(task, count, symbols));
    const auto example = must(sequences.typed(description));
    std::string text;
    for (const Index target : example.targets)
        text += (text.empty() ? "" : " ") +
                (target == kNoTarget ? "-" : sequences.vocabulary()[target]);
    return text;
}

}  // namespace

TEST_CASE("answers by hand") {
    CHECK(answers(Task::copy, "a c b : a c") == "- - - a c b");
    CHECK(answers(Task::reverse, "a c b b") == "b b c a");
    CHECK(answers(Task::sort, "d b a c b") == "a b b c d");
    CHECK(answers(Task::induction, "a b c a b c a") == "- - - b c a b");
    CHECK(answers(Task::induction, "a b a c a") == "- - b - c");
    CHECK(answers(Task::recall, "a 3 b 5 b a") == "- - - - 5 3");
    CHECK(answers(Task::majority, "? b c b") == "b - - -");
    CHECK(answers(Task::majority, "? c b c b") == "b - - - -");
    CHECK(answers(Task::grammar, "the dog runs .") == "dog runs . -");
    CHECK(answers(Task::text, "a rose is") == "rose is -");
    CHECK(answers(Task::sentences, "a rose is") == "rose is -");
    CHECK(answers(Task::marked, "that rose is") == "- - -");
}

TEST_CASE("copy: each answer stands half a sequence back") {
    const Spec spec = spec_of(Task::copy);
    std::set<Index> seen;
    check_each(spec, [&](const Example& example) {
        CHECK(example.tokens[6] == spec.symbols);
        for (std::size_t p = 0; p < 6; ++p) {
            CHECK(example.targets[p] == kNoTarget);
            CHECK(example.targets[p + 6] == example.tokens[p]);
            if (p < 5) CHECK(example.tokens[p + 7] == example.tokens[p]);
            seen.insert(example.tokens[p]);
        }
    });
    CHECK(std::ssize(seen) == spec.symbols);
}

TEST_CASE("reverse and sort: an answer everywhere") {
    check_each(spec_of(Task::reverse), [](const Example& example) {
        CHECK(std::ranges::equal(example.tokens,
                                 std::vector(example.targets.rbegin(), example.targets.rend())));
    });
    check_each(spec_of(Task::sort), [](const Example& example) {
        CHECK(std::ranges::is_sorted(example.targets));
        CHECK(std::ranges::is_permutation(example.targets, example.tokens));
        CHECK(example.targets != example.tokens);
    });
}

TEST_CASE("induction: a period of different symbols, which is not always the same") {
    std::set<Index> periods;
    check_each(spec_of(Task::induction, 16, 8), [&](const Example& example) {
        const auto none = std::ranges::count(example.targets, kNoTarget);
        CHECK(none >= 4);
        CHECK(none <= 8);
        periods.insert(none);
        for (std::size_t p = 0; p < 16; ++p) {
            const auto period = static_cast<std::size_t>(none);
            if (p >= period) CHECK(example.tokens[p] == example.tokens[p - period]);
            if (p >= period) CHECK(example.targets[p] == example.tokens[p + 1 - period]);
            if (p < period) CHECK(example.targets[p] == kNoTarget);
        }
        CHECK(std::set(example.tokens.begin(), example.tokens.end()).size() ==
              static_cast<std::size_t>(none));
    });
    CHECK(periods.size() == 5);
}

TEST_CASE("recall: each key asked for has its value") {
    const Spec spec = spec_of(Task::recall, 13);
    check_each(spec, [&](const Example& example) {
        std::map<Index, Index> values;
        for (std::size_t n = 0; n < 8; n += 2) {
            CHECK(example.tokens[n] < spec.symbols);
            CHECK(example.tokens[n + 1] >= spec.symbols);
            CHECK(!values.contains(example.tokens[n]));
            values[example.tokens[n]] = example.tokens[n + 1];
        }
        for (std::size_t p = 0; p < 13; ++p)
            CHECK(example.targets[p] == (p < 8 ? kNoTarget : values.at(example.tokens[p])));
    });
}

TEST_CASE("majority: the most frequent symbol, the smallest of several") {
    const Spec spec = spec_of(Task::majority, 6, 3);
    std::set<Index> seen;
    check_each(spec, [&](const Example& example) {
        CHECK(example.tokens[0] == 3);
        const auto count = [&](Index symbol) { return std::ranges::count(example.tokens, symbol); };
        const Index answer = example.targets[0];
        for (Index other = 0; other < 3; ++other)
            CHECK((count(other) < count(answer) ||
                   (count(other) == count(answer) && other >= answer)));
        CHECK(std::ranges::count(example.targets, kNoTarget) == 5);
        seen.insert(answer);
    });
    CHECK(seen.size() == 3);
}

TEST_CASE("text: words in a row with the next one, the last one too") {
    const Spec spec = spec_of(Task::text, 5);
    const Sequences sequences(spec);
    CHECK(sequences.vocabulary() ==
          std::vector<std::string>{"a", "rose", "is", "and", "that", "for"});
    check_each(spec, [&](const Example& example) {
        std::vector<Index> all = example.tokens;
        all.push_back(example.targets.back());
        CHECK(spec.text.find(description_of(sequences, all)) != std::string::npos);
        CHECK(std::equal(all.begin() + 1, all.end(), example.targets.begin()));
    });
}

TEST_CASE("grammar: a verb has the number of its noun, whatever stands between") {
    const Spec spec = spec_of(Task::grammar, 40);
    const Sequences sequences(spec);
    const auto plural = [](const std::string& noun) { return noun.back() == 's'; };
    Index relatives = 0;
    check_each(spec, [&](const Example& example) {
        std::istringstream text(description_of(sequences, example.tokens));
        CHECK(text.str().starts_with("the "));
        // The first verb of a relative clause "that sees …" and the main verb are of the first noun; "that the girl sees": of
        // the noun just before.
        std::string first, last, before, word;
        bool main_verb = false;
        while (text >> word) {
            const bool follows_that = before == "that";
            const bool is_noun = kNounText.find(" " + word + " ") != std::string::npos;
            const bool is_verb = kVerbStems.find(" " + word + " ") != std::string::npos;
            if (word == "that") ++relatives;
            if (is_noun) last = word;
            if (is_noun && first.empty()) first = word;
            if (is_verb && follows_that) CHECK(plural(last) != (word.back() == 's'));
            if (is_verb && !main_verb && before == first) {
                CHECK(plural(first) != (word.back() == 's'));
                main_verb = true;
            }
            if (word == ".") {
                first.clear();
                main_verb = false;
            }
            before = word;
        }
    });
    CHECK(relatives > 50);
}

TEST_CASE("sequences come from the seed, the step and the place, and nothing else") {
    for (const TaskInfo& task : task_table()) {
        CAPTURE(task.key);
        Spec spec = spec_of(task.task);
        const Sequences one(spec), same(spec);
        spec.seed = 2;
        const Sequences other(spec);
        int differ = 0;
        for (Index n = 0; n < 20; ++n) {
            CHECK(one.training(3, n) == same.training(3, n));
            differ += one.training(3, n) == other.training(3, n) ? 0 : 1;
            differ += one.training(3, n) == one.training(4, n) ? 0 : 1;
        }
        CHECK(differ > 25);
        CHECK(one.fixed() == same.fixed());
        CHECK(one.typed(description_of(one, one.fixed().tokens))->tokens == one.fixed().tokens);
    }
}

TEST_CASE("typed words that the task cannot read") {
    const Sequences copy(spec_of(Task::copy, 6));
    CHECK(copy.typed("a b c : a x").error().text() ==
          "'x' is not in the vocabulary; expected one of a … :");
    CHECK(copy.typed("a b c").error().text() == "the sentence has 3 tokens; expected 6");
    CHECK(copy.typed("a b c a b c").error().text() == "token 3 is 'a'; expected ':'");
    CHECK(!copy.typed(""));
}
