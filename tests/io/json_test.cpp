#include "core/io/json.h"

#include <doctest/doctest.h>

#include <array>

#include "core/io/file.h"
#include "core/text.h"
#include "tests/io/scratch.h"
#include "tests/support/results.h"

using namespace attn;

namespace {

std::string complaint(const std::string& text) { return sentence_in(parse_json(text, "f.json")); }

}  // namespace

TEST_CASE("a JSON file parses") {
    const Scratch scratch;
    REQUIRE(write_file_atomically(scratch / "f.json", R"({"a": [1, 2.5, "√"]})"));
    const auto parsed = must(read_json_file(scratch / "f.json"));
    CHECK(parsed["a"][2] == "√");
}

TEST_CASE("a JSON error names the file, the line and the column") {
    CHECK(contains(complaint("{\n  \"a\": 1,\n  oops\n}"),
                   "f.json is not valid JSON at line 3, column 3: "));
    CHECK(contains(complaint(""), "line 1, column 1"));
    CHECK(contains(complaint("[1, 2"), "f.json is not valid JSON"));
    CHECK(contains(complaint("1e999"), "f.json is not valid JSON"));
    CHECK(contains(complaint("\"\xff\""), "f.json is not valid JSON"));
    // a text that is never closed and holds the parser's own words
    CHECK(complaint("\"a'; expected " + std::string(5000, 'b')).size() < 500);
}

TEST_CASE("JSON nested too deep for a stack is refused") {
    CHECK(contains(complaint(std::string(100000, '[')), "nested deeper than"));
    CHECK(contains(complaint(std::string(100, '[') + std::string(100, ']')), "nested deeper than"));
    CHECK(complaint(std::string(60, '[') + std::string(60, ']')).empty());
    CHECK(complaint("\"" + std::string(100, '[') + "\"").empty());
    CHECK(complaint("\"\\\"" + std::string(100, '[') + "\"").empty());
}

TEST_CASE("a key that is there twice is refused by name and place") {
    CHECK(contains(complaint(R"({"a": 1, "b": 2, "a": 3})"), "f.json has the key 'a' twice"));
    CHECK(contains(complaint(R"({"step": {"cell": {"row": 1, "row": 2}}})"),
                   "f.json has the key 'row' twice in 'step' 'cell'"));
    CHECK(contains(complaint(R"({"list": [{"a": 1}, {"b": 1, "b": 2}]})"), "'b' twice in 'list'"));
    CHECK(complaint(R"({"a": {"a": [{"a": 1}, {"a": 1}, 3]}, "b": {"a": 1}})").empty());
    CHECK(complaint(R"([[{"a": 1}], [{"a": 1}], {"a": []}, {"a": {}}])").empty());
}

TEST_CASE("members of a stream are taken one by one, in the order of the text") {
    std::string taken;
    const auto kind = nlohmann::json::value_t::object;
    const std::array<JsonStream, 2> streams{
        JsonStream{"model", "vocab", kind,
                   [&](const std::string& key, const nlohmann::json& value) {
                       const bool fresh = taken.find(key + "=") == taken.npos;
                       taken += key + "=" + value.dump() + ";";
                       return fresh;
                   }},
        JsonStream{"model", "merges", nlohmann::json::value_t::array,
                   [&](const std::string& key, const nlohmann::json& value) {
                       taken += "[" + key + "]" + value.dump() + ";";
                       return true;
                   }}};
    const auto of = [&](const std::string& text) {
        taken.clear();
        const auto parsed = parse_json(text, "f.json", streams);
        return parsed ? parsed->dump() : parsed.error().text();
    };
    CHECK(
        of(R"({"model":{"vocab":{"b":1,"a":{"c":[2]}},"merges":["a b",["c","d"]],"n":1},"x":[1]})") ==
        R"({"model":{"merges":[],"n":1,"vocab":{}},"x":[1]})");
    CHECK(taken == R"(b=1;a={"c":[2]};[]"a b";[]["c","d"];)");
    // of the other kind, or at another place, they are values like others
    CHECK(of(R"({"model":{"vocab":[1],"merges":{"a":1}},"vocab":{"a":1}})") ==
          R"({"model":{"merges":{"a":1},"vocab":[1]},"vocab":{"a":1}})");
    CHECK(taken.empty());
    CHECK(of(R"([{"model":{"vocab":{"a":1}}}])") == R"([{"model":{"vocab":{"a":1}}}])");
    CHECK(of(R"({"model":{"x":{"vocab":{"a":1}}}})") == R"({"model":{"x":{"vocab":{"a":1}}}})");
    CHECK(taken.empty());
    CHECK(of(R"({"model":{"vocab":{"a":1,"b":2,"a":3}}})") ==
          "f.json has the key 'a' twice in 'model' 'vocab'");
    CHECK(contains(of(R"({"model":{"vocab":{"a":1,"a":2,)"), "f.json is not valid JSON at line 1"));
}

TEST_CASE("a JSON error quotes a bounded piece of the text") {
    const std::string digits(1000000, '7');
    for (const std::string& text :
         {digits, "1" + digits + "e5", "[" + digits + " oops]", "{\"" + digits, "\"" + digits,
          "x" + digits, "[1, 2" + std::string(1000, '\xff'), "{\"" + digits + "\": oops",
          "{\"" + digits + "\": 1, \"" + digits + "\": 2}", "\"\xff" + digits + "\xff\""}) {
        const std::string sentence = complaint(text);
        CHECK(!sentence.empty());
        CHECK(sentence.size() < 400);
        CHECK(valid_utf8(sentence) == sentence);
    }
}
