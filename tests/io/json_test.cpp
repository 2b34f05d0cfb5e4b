#include "core/io/json.h"

#include <doctest/doctest.h>

#include <string>

#include "core/io/file.h"
#include "tests/io/scratch.h"

using namespace attn;

namespace {

std::string complaint(const std::string& text) {
    const auto parsed = parse_json(text, "f.json");
    return parsed ? "" : parsed.error().sentence;
}

}  // namespace

TEST_CASE("a JSON file parses") {
    const Scratch scratch;
    REQUIRE(write_file_atomically(scratch / "f.json", R"({"a": [1, 2.5, "√"]})"));
    const auto parsed = read_json_file(scratch / "f.json");
    REQUIRE(parsed);
    CHECK((*parsed)["a"][2] == "√");
}

TEST_CASE("a JSON error names the file, the line and the column") {
    CHECK(says(complaint("{\n  \"a\": 1,\n  oops\n}"),
               "f.json is not valid JSON at line 3, column 3: "));
    CHECK(says(complaint(""), "line 1, column 1"));
    CHECK(says(complaint("[1, 2"), "f.json is not valid JSON"));
    CHECK(says(complaint("1e999"), "f.json is not valid JSON"));
    CHECK(says(complaint("\"\xff\""), "f.json is not valid JSON"));
}

TEST_CASE("JSON nested too deep for a stack is refused") {
    CHECK(says(complaint(std::string(100000, '[')), "nested deeper than"));
    CHECK(says(complaint(std::string(100, '[') + std::string(100, ']')), "nested deeper than"));
    CHECK(complaint(std::string(60, '[') + std::string(60, ']')).empty());
    CHECK(complaint("\"" + std::string(100, '[') + "\"").empty());
    CHECK(complaint("\"\\\"" + std::string(100, '[') + "\"").empty());
}
