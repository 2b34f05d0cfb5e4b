// Token numbers against other programs' on 1,000 lines of many scripts, emoji and control characters: goldens/tokenizers by
// make_tokenizers.py.

#include <doctest/doctest.h>

#include <filesystem>

#include <fmt/format.h>

#include "attn_tree.h"
#include "core/io/file.h"
#include "core/io/json.h"
#include "core/models/tokenizer.h"
#include "tests/support/results.h"

using namespace attn;

namespace {

std::filesystem::path file(const std::string& name) {
    return std::filesystem::path(ATTN_TEST_DATA) / "tokenizers" / name;
}

std::vector<std::string> lines() {
    return read_json_file(file("lines.json")).value().get<std::vector<std::string>>();
}

std::string text(const std::string& name) { return read_text_file(file(name)).value(); }

void check_lines(const Tokenizer& tokenizer, const std::string& expected_name) {
    const auto expected =
        read_json_file(file(expected_name)).value().get<std::vector<std::vector<Index>>>();
    const std::vector<std::string> all = lines();
    REQUIRE(all.size() == 1000);
    REQUIRE(expected.size() == all.size());
    for (std::size_t n = 0; n < all.size(); ++n) {
        std::vector<Index> ids;
        for (const ModelToken& token : tokenizer.encode(all[n])) ids.push_back(token.id);
        CAPTURE(n);
        CAPTURE(all[n]);
        CHECK(ids == expected[n]);
    }
}

Result<Tokenizer> parse(const std::string& json) { return Tokenizer::parse(json, "t.json"); }

std::string fault_of(const std::string& json) { return sentence_in(parse(json)); }

std::string joined(const std::vector<ModelToken>& tokens) {
    std::string words;
    for (const ModelToken& token : tokens) words += token.text + "|";
    return words;
}

}  // namespace

TEST_CASE("byte pairs, unigram and word pieces equal other programs' numbers") {
    for (const std::string name : {"gpt2", "llama3", "qwen2", "unigram"}) {
        CAPTURE(name);
        const auto tokenizer = must(Tokenizer::parse(text(name + ".json"), name));
        check_lines(tokenizer, name + ".ids.json");
    }
    const auto pair =
        must(Tokenizer::parse_byte_pairs(text("vocab.json"), text("merges.txt"), "v"));
    check_lines(pair, "gpt2.ids.json");
    const auto bert = must(Tokenizer::parse_word_pieces(text("vocab.txt"), true, "vocab.txt"));
    check_lines(bert, "bert.ids.json");
}

TEST_CASE("tokens are shown with their spaces, and bytes that are no text by number") {
    const auto gpt2 = must(Tokenizer::parse(text("gpt2.json"), "gpt2"));
    CHECK(joined(gpt2.encode(" the the")) == "▁the|▁the|");
    CHECK(joined(gpt2.encode("a\n")) == "a|<0x0A>|");
    CHECK(joined(gpt2.encode("🜏")) == "<0xF0><0x9F>|<0x9C>|<0x8F>|");
    CHECK(gpt2.encode("").empty());
    CHECK(gpt2.shown(-1) == "");
    CHECK(gpt2.shown(1'000'000) == "");
    const auto unigram = must(Tokenizer::parse(text("unigram.json"), "unigram"));
    CHECK(joined(unigram.encode("the \U0001F9FF\U0001F9FF")) == "▁the|▁|\U0001F9FF\U0001F9FF|");
}

TEST_CASE("added tokens and what stands around a text") {
    const auto tokenizer = must(parse(
        R"({"added_tokens":[{"id":9,"content":"<|x|>"},{"id":8,"content":"<|x|>y"},{"id":7,"content":"[M]","lstrip":true}],
        "pre_tokenizer":{"type":"ByteLevel","add_prefix_space":false},
        "post_processor":{"type":"TemplateProcessing","single":[{"SpecialToken":{"id":"<|x|>"}},{"Sequence":{"id":"A"}},
        {"SpecialToken":{"id":"b"}}]},
        "model":{"type":"BPE","vocab":{"a":0,"b":1,"ab":2,"Ġ":3},"merges":["a b"]}})"));
    CHECK(joined(tokenizer.encode("ab<|x|>yab<|x|>a")) == "<|x|>|ab|<|x|>y|ab|<|x|>|a|b|");
    CHECK(joined(tokenizer.encode("a  [M] a")) == "<|x|>|a|[M]|▁|a|b|");
    CHECK(tokenizer.size() == 10);
}

TEST_CASE("merges go by rank, then from the left") {
    const auto of = [](const std::string& merges) {
        return parse(
                   R"({"pre_tokenizer":{"type":"ByteLevel","add_prefix_space":false},"model":{"type":"BPE","vocab":
            {"a":0,"b":1,"aa":2,"ab":3,"aab":4,"aaa":5},"merges":)" +
                   merges + "}}")
            .value();
    };
    CHECK(joined(of(R"(["a a"])").encode("aaaaa")) == "aa|aa|a|");
    CHECK(joined(of(R"(["a b","a a"])").encode("aab")) == "a|ab|");
    CHECK(joined(of(R"(["a a","aa b","a b"])").encode("aabab")) == "aab|ab|");
    CHECK(of(R"(["a a"])").encode(std::string(200'000, 'a')).size() == 100'000);
}

TEST_CASE("unigram takes the best sum, and bytes where the model says so") {
    const auto of = [](const char* more) {
        return parse(
                   fmt::format(
                       R"({{"model":{{"type":"Unigram","unk_id":0{},"vocab":[["<unk>",0],["a",-1],["b",-1],["ab",-2.5],["abc",-1.5],
            ["<0xC3>",-9],["<0xA9>",-9]]}}}})",
                       more))
            .value();
    };
    CHECK(joined(of("").encode("ab")) == "a|b|");
    CHECK(joined(of("").encode("abc")) == "abc|");
    CHECK(joined(of("").encode("aéèb")) == "a|éè|b|");
    CHECK(joined(of(R"(,"byte_fallback":true)").encode("aé")) == "a|<0xC3>|<0xA9>|");
}

TEST_CASE("Metaspace: one sign before the text, words apart where it splits") {
    const auto of = [](const char* scheme, const char* split) {
        return parse(
                   fmt::format(
                       R"({{"pre_tokenizer":{{"type":"Metaspace","replacement":"▁","prepend_scheme":"{}","split":{}}},"model":
            {{"type":"Unigram","unk_id":0,"vocab":[["?",0],["▁",-2],["a",-2],["▁a",-1],["a▁a",0.5]]}}}})",
                       scheme, split))
            .value();
    };
    CHECK(joined(of("always", "true").encode("a a")) == "▁a|▁a|");
    CHECK(joined(of("always", "true").encode(" a a")) == "▁a|▁a|");
    CHECK(joined(of("always", "false").encode("a a")) == "▁|a▁a|");
    CHECK(joined(of("never", "true").encode("a a")) == "a|▁a|");
}

TEST_CASE("merges before the vocabulary, as pairs or as texts, and keys that are there twice") {
    const auto tokenizer = must(parse(
        R"({"model":{"merges":[["a","b"],"ab a"],"vocab":{"aba":3,"b":1,"a":0,"ab":2,"x":1}}})"));
    CHECK(joined(tokenizer.encode("abaab")) == "aba|ab|");
    CHECK(tokenizer.size() == 4);
    CHECK(tokenizer.shown(1) == "x");  // the last of a number
    CHECK(fault_of(R"({"model":{"vocab":{"a":0,"a":1},"merges":[]}})") ==
          "t.json has the key 'a' twice in 'model' 'vocab'");
    CHECK(fault_of(R"({"model":{"vocab":{"a":0},"merges":["ab"]}})") ==
          "t.json has the merge 'ab'; expected two texts");
    CHECK(fault_of(R"({"model":{"vocab":{"a":0},"merges":[["a","b","c"]]}})") ==
          "t.json has a merge that is no pair of texts");
    CHECK(fault_of(R"({"model":{"vocab":[],"merges":[]}})") ==
          "t.json has a 'vocab' that is no object");
    CHECK(fault_of(R"({"model":{"vocab":{}}})") == "t.json has no 'merges'");
    CHECK(fault_of(R"({"model":{"vocab":{},"merges":{"a":"a b"}}})") ==
          "t.json has 'merges' that are no list");
    CHECK(fault_of(R"({"model":{"type":"Unigram","vocab":{"a":0}}})") ==
          "t.json has a 'vocab' that is no list");
}

TEST_CASE("a vocabulary of many pieces finds each by text and by number") {
    std::string vocab;
    for (int n = 0; n < 20'000; ++n) vocab += fmt::format("{}\"{:x}\":{}", n ? "," : "", n, n);
    const auto tokenizer = must(parse(
        fmt::format(R"({{"model":{{"ignore_merges":true,"vocab":{{{}}},"merges":[]}}}})", vocab)));
    for (Index n = 0; n < 20'000; ++n) {
        const std::vector<ModelToken> wanted{{n, fmt::format("{:x}", n)}};
        if (tokenizer.encode(fmt::format("{:x}", n)) != wanted) FAIL_CHECK(n);
    }
    CHECK(tokenizer.size() == 20'000);
}

TEST_CASE("what is not known is refused by its name") {
    CHECK(fault_of("{}") == "t.json has no 'model'");
    CHECK(fault_of("[]") == "t.json has no 'model'");
    CHECK(fault_of(R"({"model":{"type":"WordLevel"}})") ==
          "t.json has the model 'WordLevel'; expected BPE, Unigram or WordPiece");
    CHECK(
        fault_of(
            R"({"normalizer":{"type":"Precompiled"},"model":{"type":"BPE","vocab":{},"merges":[]}})") ==
        "t.json has the normalizer 'Precompiled', which is not known here");
    CHECK(
        fault_of(
            R"({"pre_tokenizer":{"type":"Digits"},"model":{"type":"BPE","vocab":{},"merges":[]}})") ==
        "t.json has the pre_tokenizer 'Digits', which is not known here");
    CHECK(fault_of(
              R"({"pre_tokenizer":{"type":"Split","behavior":"Isolated","pattern":{"Regex":"\\d"}},
        "model":{"type":"BPE","vocab":{},"merges":[]}})") ==
          "t.json splits by the expression '\\d', which is not known here");
    CHECK(fault_of(R"({"model":{"type":"BPE","vocab":{"a":0},"merges":["a b"]}})") ==
          "t.json model: merge 0 is 'a' + 'b'; the vocabulary does not have 'b'");
    CHECK(fault_of(R"({"model":{"type":"BPE","vocab":{"a":-1},"merges":[]}})") ==
          "t.json has a token number -1");
    CHECK(fault_of(R"({"model":{"type":"BPE","vocab":{"a":2097152},"merges":[]}})") ==
          "t.json has a token number 2097152");
    CHECK(fault_of(R"({"model":{"type":"BPE","vocab":{"a":1e18},"merges":[]}})") ==
          "t.json has a token number 1e+18");
    CHECK(fault_of(R"({"model":{"type":"Unigram","vocab":[["a"]]}})") ==
          "t.json has a 'vocab' row that is no [piece, score]");
    CHECK(fault_of(R"({"model":{"type":"Unigram","unk_id":5,"vocab":[["a",0]]}})") ==
          "t.json has 'unk_id' = 5 of 1 pieces");
    CHECK(fault_of(R"({"model":{"type":"WordPiece","vocab":{"a":0}}})") ==
          "t.json has no piece '[UNK]' for unknown words");
    CHECK(
        fault_of(
            R"({"post_processor":{"type":"RobertaProcessing"},"model":{"type":"BPE","vocab":{},"merges":[]}})") ==
        "t.json has no 'cls'");
}
