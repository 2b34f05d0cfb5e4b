#include "app/common/vocabulary.h"

#include <doctest/doctest.h>

#include <fmt/format.h>

#include "app/common/nearest.h"

using namespace attn;
using namespace attn::view;

namespace {

const std::vector<VocabularyClass> kVocabulary{
    {"animal", {"animal", "ant", "bird"}},
    {"tired", {"tired", "ancient"}},
    {"other", {"an", "Anna", "anew", "angry", "any", "street", "ant"}}};

std::vector<std::string> offered(std::string_view typed) {
    std::vector<std::string> found;
    for (const Completion& each : completions(kVocabulary, typed)) found.push_back(each.word);
    return found;
}

}  // namespace

TEST_CASE("completions begin with what was typed, at most five, each with its first class") {
    CHECK(offered("bi") == std::vector<std::string>{"bird"});
    CHECK(offered("a") == std::vector<std::string>{"Anna", "an", "ancient", "anew", "angry"});
    CHECK(offered("anc") ==
          std::vector<std::string>{"ancient"});  // "an" is near, but does not begin so
    CHECK(completions(kVocabulary, "anc").front() == Completion{"ancient", "tired"});
    CHECK(completions(kVocabulary, "ANN").front() == Completion{"Anna", "other"});
    CHECK(completions(kVocabulary, "anima").front() == Completion{"animal", "animal"});
}

TEST_CASE("a mistyped word offers those at most two mistakes away, a known word nothing") {
    CHECK(offered("tierd") == std::vector<std::string>{"tired", "bird"});
    CHECK(offered("stret") == std::vector<std::string>{"street"});
    CHECK(offered("strt") == std::vector<std::string>{});  // two mistakes in four letters
    CHECK(offered("zebra").empty());
    CHECK(offered("ant").empty());
    CHECK(offered("").empty());
    CHECK(completions({}, "a").empty());
}

TEST_CASE("the word before a place begins after the last white space") {
    CHECK(word_before("the an", 6) == "an");
    CHECK(word_before("the an", 5) == "a");
    CHECK(word_before("the an", 4).empty());
    CHECK(word_before("the", 3) == "the");
    CHECK(word_before("", 0).empty());
}

TEST_CASE("unknown words are named with the nearest known ones, in the order of the alphabet") {
    const std::vector<std::string> known{"bird", "bind", "street", "animal"};
    const std::vector<std::string> one{"bid"}, none;
    CHECK(unknown_tokens_text(one, known, "[?]") ==
          "not in the vocabulary, so read as [?]: 'bid' (nearest: bind, bird)");
    CHECK(unknown_tokens_text(none, known, "[?]").empty());
}

TEST_CASE("the edit distance counts insertions, deletions, replacements and swaps of neighbours") {
    CHECK(edit_distance("", "") == 0);
    CHECK(edit_distance("", "abc") == 3);
    CHECK(edit_distance("abc", "") == 3);
    CHECK(edit_distance("kitten", "sitting") == 3);
    CHECK(edit_distance("tierd", "tired") == 1);
    CHECK(edit_distance("ab", "ba") == 1);
    CHECK(edit_distance("abcd", "badc") == 2);
    CHECK(edit_distance("ca", "abc") == 3);  // no edit inside a swap
}
