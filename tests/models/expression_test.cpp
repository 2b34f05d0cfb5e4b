// Regular expressions of tokenizers: what PCRE2 matches of those that are written for Oniguruma, and the limits of a match.
#include <doctest/doctest.h>

#include <filesystem>

#include <fmt/format.h>

#include "attn_tree.h"
#include "core/io/json.h"
#include "core/models/expression.h"
#include "core/models/tokenizer.h"
#include "core/models/tokenizer_step.h"
#include "tests/support/processor_time.h"
#include "tests/support/results.h"

using namespace attn;
using nlohmann::json;

namespace {

std::string matched(const std::string& expression, const std::string& text) {
    TextBudget budget("t.json", text.size());
    std::string all;
    for (const auto& match : Expression::parse(expression).matches(text, budget))
        all += text.substr(match.begin, match.end - match.begin) + "|";
    return all;
}

std::string fault_of(const std::string& expression) {
    try {
        static_cast<void>(Expression::parse(expression));
        return "";
    } catch (const TokenizerFault& found) {
        return found.sentence;
    }
}

/// How a text of so many letters ends: with its matches, "", or the budget's error.
std::string end_of(const std::string& expression, const std::string& text) {
    const test::ProcessorTime watch;
    TextBudget budget("t.json", text.size());
    budget.begin("the expression");
    std::string end;
    try {
        static_cast<void>(Expression::parse(expression).matches(text, budget));
    } catch (const Failure& found) {
        end = found.value().text();
    }
    CHECK(watch.seconds() < 10.0);  // 2.5 s on a machine at rest
    return end.substr(0, end.find(';'));
}

}  // namespace

TEST_CASE("expressions are read as Oniguruma reads them") {
    CHECK(matched(R"(\s+$)", "a  \nb \n") == "  | \n|");  // $ is before each line end
    CHECK(matched(R"(^.)", "ab\ncd") == "a|c|");
    CHECK(matched(R"(\s)", "a\u00a0b\u180ec\u0085d\u3000") == "\u00a0|\u0085|\u3000|");
    CHECK(matched(R"(\w+)", "a\u0301_1\u0664-\u24b6\u00b2 \u2074\u2163") ==
          "a\u0301_1\u0664|\u24b6\u00b2|\u2163|");
    CHECK(matched(R"(\bb)", "ab b \u00e9b") == "b|");
    CHECK(matched(R"(\p{Han}+)", "\u4e00\u3001\u30fc\u3042") == "\u4e00|");
    CHECK(matched(R"([^(\s|[.,!?])]+)", "ab, c(d)") == "ab|c|d|");
    CHECK(matched(R"([\u4E00-\u9fa5]+)", "a\u4e00\u9fa5") == "\u4e00\u9fa5|");
    CHECK(matched(R"(a{,2})", "aaab") == "aa|a||");
    CHECK(matched("a{b}", "a{b}") == "a{b}|");
    CHECK(matched(R"((?i:'s|'t))", "'S 't '\u017f") == "'S|'t|'\u017f|");
    CHECK(matched("x*", "axb") == "|x||");
    CHECK(matched("(?=b)", "ab\u00e9b") == "||");
    CHECK(matched(R"(\p{^L}+)", "a1 b") == "1 |");
}

TEST_CASE("expressions that are read in two ways are refused by their text") {
    CHECK(fault_of("(?<name>a)") ==
          "has the expression '(?<name>a)', whose part '(?<n' is not computed here");
    CHECK(fault_of("(*LIMIT_MATCH=1)a").ends_with("whose part '(*LI' is not computed here"));
    CHECK(fault_of("[a&&b]").ends_with("whose part '[a&&b]' is not computed here"));
    CHECK(fault_of("[a[^b]]").ends_with("is not computed here"));
    CHECK(fault_of("[[:alpha:]]").ends_with("is not computed here"));
    CHECK(fault_of("a{2}+").ends_with("whose part '{2}+' is not computed here"));
    for (const char* const escape : {"\\h", "\\R", "\\X", "\\K", "\\1", "\\G", "\\C", "\\pL"})
        CHECK(fault_of(escape).ends_with("is not computed here"));
    CHECK(fault_of("(a").ends_with("which PCRE2 does not read: missing closing parenthesis"));
    CHECK(fault_of(R"(\p{Nonsense})").find("which PCRE2 does not read") != std::string::npos);
    CHECK(fault_of("\\") == "has the expression '\\', whose part '\\' is not computed here");
    CHECK(fault_of(std::string(20'000, 'a')).ends_with("of 20000 bytes; expected at most 16384"));
    CHECK(fault_of("") == "");
}

TEST_CASE("expressions that backtrack without end are refused in time") {
    const std::string letters(30'000, 'a');
    CHECK(end_of("(a+)+[bc]", letters) ==
          "t.json: the expression takes more than 5000000 steps at one character of a text of "
          "30000 bytes");
    CHECK(end_of("(?:a|a)*[bc]", letters) ==
          "t.json: the expression takes more than 5000000 steps at one character of a text of "
          "30000 bytes");
    CHECK(end_of("a*a*b", std::string(3000, 'a')) != "none");
    CHECK(end_of("a*[bc]", std::string(200'000, 'a')) ==
          "t.json: the expression takes more than 4 s of a text of 200000 bytes");
    CHECK(end_of("(?:ab?)*c", std::string(1'000'000, 'a')) != "none");
    CHECK(end_of(R"(\p{Lu}*\p{Ll}+|\p{Lu}+)", std::string(1'000'000, 'A')) == "");
}

TEST_CASE("every kind of splitting gives the words of Hugging Face's own program") {
    const auto golden =
        must(read_json_file(std::filesystem::path(ATTN_TEST_DATA) / "tokenizers" / "splits.json"));
    const auto lines = golden.at("lines").get<std::vector<std::string>>();
    REQUIRE(golden.at("kinds").size() >= 30);
    for (const json& kind : golden.at("kinds")) {
        CAPTURE(kind.at("name").get<std::string>());
        json vocab = json::object();
        for (const json& line : kind.at("words"))
            for (const json& word : line) vocab.emplace(word.get<std::string>(), vocab.size());
        const auto tokenizer =
            must(Tokenizer::parse(json{{"normalizer", kind.at("normalizer")},
                                       {"pre_tokenizer", kind.at("pre_tokenizer")},
                                       {"model", {{"type", "WordLevel"}, {"vocab", vocab}}}}
                                      .dump(),
                                  "t.json"));
        for (std::size_t n = 0; n < lines.size(); ++n) {
            CAPTURE(lines[n]);
            json cut = json::array();
            for (const ModelToken& token : tokenizer.encode(lines[n])) cut.push_back(token.text);
            CHECK(cut == kind.at("words").at(n));
        }
    }
}
