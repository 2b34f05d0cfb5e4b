// Token numbers against other programs' on 1,000 lines of many scripts, emoji and control characters (goldens/tokenizers by
// make_tokenizers.py), and, field by field, against Hugging Face's own (make_tokenizer_fields.js).

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>

#include "attn_tree.h"
#include "core/io/file.h"
#include "core/io/json.h"
#include "core/models/tokenizer.h"
#include "core/stopwatch.h"
#include "tests/io/scratch.h"
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

std::vector<Index> ids_of(const Tokenizer& tokenizer, const std::string& line) {
    std::vector<Index> ids;
    for (const ModelToken& token : tokenizer.encode(line)) ids.push_back(token.id);
    return ids;
}

/// Lines that hold `but` are left out: that program does not take it for a token, Hugging Face's does (fields.json has such).
void check_lines(const Tokenizer& tokenizer, const std::string& expected_name,
                 const std::string& but = "") {
    const auto expected =
        read_json_file(file(expected_name)).value().get<std::vector<std::vector<Index>>>();
    const std::vector<std::string> all = lines();
    REQUIRE(all.size() == 1000);
    REQUIRE(expected.size() == all.size());
    for (std::size_t n = 0; n < all.size(); ++n) {
        INFO("n ", n, ", all[n] ", all[n]);
        if (but.empty() || all[n].find(but) == std::string::npos)
            CHECK(ids_of(tokenizer, all[n]) == expected[n]);
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
        check_lines(tokenizer, name + ".ids.json", name == "unigram" ? "<unk>" : "");
    }
    const auto pair =
        must(Tokenizer::parse_byte_pairs(text("vocab.json"), text("merges.txt"), "v"));
    check_lines(pair, "gpt2.ids.json");
    CHECK(sentence_in(Tokenizer::parse_byte_pairs(text("vocab.json"), "qqq zzz\n", "v"))
              .starts_with("v and merges.txt model: merge 0 is 'qqq' + 'zzz'"));
    const auto bert = must(Tokenizer::parse_word_pieces(text("vocab.txt"), "vocab.txt"));
    check_lines(bert, "bert.ids.json", "[UNK]");
}

TEST_CASE("every field of a tokenizer gives the numbers of Hugging Face's own program") {
    const auto golden = must(read_json_file(file("fields.json")));
    const auto all = golden.at("lines").get<std::vector<std::string>>();
    REQUIRE(golden.at("cases").size() == 40);
    for (const auto& each : golden.at("cases")) {
        const auto name = each.at("name").get<std::string>();
        CAPTURE(name);
        const Scratch scratch;
        if (each.contains("tokenizer"))
            std::ofstream(scratch / "tokenizer.json") << each.at("tokenizer").dump();
        else
            for (const auto& written : each.at("files").items())
                std::ofstream(scratch / written.key()) << written.value().get<std::string>();
        const auto tokenizer = must(Tokenizer::open(scratch.path()));
        for (std::size_t n = 0; n < all.size(); ++n) {
            CAPTURE(all[n]);
            const auto expected = each.at("ids").at(n).get<std::vector<Index>>();
            if (const auto ids = ids_of(tokenizer, all[n]); ids != expected) CHECK(ids == expected);
        }
    }
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
        R"({"added_tokens":[{"id":4,"content":"<|x|>"},{"id":5,"content":"<|x|>y"},{"id":6,"content":"[M]","lstrip":true}],
        "pre_tokenizer":{"type":"ByteLevel","add_prefix_space":false},
        "post_processor":{"type":"TemplateProcessing","single":[{"SpecialToken":{"id":"go"}},{"Sequence":{"id":"A"}},
        {"SpecialToken":{"id":"b"}}],"special_tokens":{"go":{"ids":[4]},"b":{"ids":[1]}}},
        "model":{"type":"BPE","vocab":{"a":0,"b":1,"ab":2,"Ġ":3},"merges":["a b"]}})"));
    CHECK(joined(tokenizer.encode("ab<|x|>yab<|x|>a")) == "<|x|>|ab|<|x|>y|ab|<|x|>|a|b|");
    CHECK(joined(tokenizer.encode("a  [M] a")) == "<|x|>|a|[M]|▁|a|b|");
    CHECK(tokenizer.size() == 7);
    CHECK_FALSE(tokenizer.longest());
}

TEST_CASE("an added token takes the spaces beside it that it strips, those of one side alone") {
    const auto of = [](const char* strips) {
        return must(parse(fmt::format(
            R"({{"added_tokens":[{{"id":3,"content":"[M]"{}}}],"pre_tokenizer":{{"type":"ByteLevel","add_prefix_space":false}},
            "model":{{"type":"BPE","vocab":{{"a":0,"b":1,"Ġ":2}},"merges":[]}}}})",
            strips)));
    };
    CHECK(joined(of("").encode("a [M]  b")) == "a|▁|[M]|▁|▁|b|");
    CHECK(joined(of(R"(,"lstrip":true)").encode("a [M]  b")) == "a|[M]|▁|▁|b|");
    CHECK(joined(of(R"(,"rstrip":true)").encode("a [M]  b")) == "a|▁|[M]|b|");
    CHECK(joined(of(R"(,"lstrip":true,"rstrip":true)").encode("a [M]  b")) == "a|[M]|b|");
}

TEST_CASE("byte pairs: what no piece has is bytes where the model says so") {
    const auto of = [](const char* more) {
        std::string pieces = R"("?":0,"a":1,"b":2,"ab":3)";
        for (int byte = 0; byte < 256; ++byte)
            pieces += fmt::format(R"(,"<0x{:02X}>":{})", byte, byte + 4);
        return must(parse(fmt::format(
            R"({{"model":{{"type":"BPE","unk_token":"?"{},"vocab":{{{}}},"merges":["a b"]}}}})",
            more, pieces)));
    };
    CHECK(joined(of(R"(,"byte_fallback":true)").encode("abéa")) == "ab|<0xC3>|<0xA9>|a|");
    CHECK(joined(of(R"(,"byte_fallback":false)").encode("abéa")) == "ab|é|a|");
    CHECK(joined(of("").encode("abéa")) == "ab|é|a|");
}

TEST_CASE("a text is cut to as many tokens as truncation says, and the cut is told") {
    const auto tokenizer = must(parse(
        R"({"truncation":{"max_length":2,"strategy":"LongestFirst","stride":0,"direction":"Right"},
        "model":{"vocab":{"a":0,"b":1},"merges":[]}})"));
    CHECK(joined(tokenizer.encode("aba")) == "a|b|");
    CHECK(tokenizer.longest() == 2);
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
    const auto of = [](const std::string& more, const std::string& pieces) {
        return parse(fmt::format(
            R"({{"model":{{"type":"Unigram","unk_id":0{},"vocab":[["<unk>",0],["a",-1],["b",-1],["ab",-2.5],["abc",-1.5]{}]}}}})",
            more, pieces));
    };
    const auto plain = must(of("", ""));
    CHECK(joined(plain.encode("ab")) == "a|b|");
    CHECK(joined(plain.encode("abc")) == "abc|");
    CHECK(joined(plain.encode("aéèb")) == "a|éè|b|");
    std::string bytes;
    for (int byte = 0; byte < 256; ++byte) bytes += fmt::format(R"(,["<0x{:02X}>",-9])", byte);
    const auto fallen = must(of(R"(,"byte_fallback":true)", bytes));
    CHECK(joined(fallen.encode("aé")) == "a|<0xC3>|<0xA9>|");
    CHECK(sentence_in(of(R"(,"byte_fallback":true)", bytes.substr(0, 14))) ==
          "t.json has 'byte_fallback' = true and no piece '<0x01>'; expected all of 256");
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
          "t.json has a merge that is not a pair of texts");
    CHECK(fault_of(R"({"model":{"vocab":[],"merges":[]}})") ==
          "t.json has 'vocab': expected an object");
    CHECK(fault_of(R"({"model":{"vocab":{}}})") == "t.json has no 'merges'");
    CHECK(fault_of(R"({"model":{"vocab":{},"merges":{"a":"a b"}}})") ==
          "t.json has 'merges': expected a list");
    CHECK(fault_of(R"({"model":{"type":"Unigram","vocab":{"a":0}}})") ==
          "t.json has 'vocab': expected a list");
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

TEST_CASE("a word of thousands of letters is cut in no time, whatever longest word is said") {
    const auto of_longest = [](const std::string& longest) {
        return R"({"model":{"type":"WordPiece","max_input_chars_per_word":)" + longest +
               R"(,"vocab":{"[UNK]":0,"a":1,"##a":2,"##aab":3}}})";
    };
    const Stopwatch watch;
    const auto ids = ids_of(must(parse(of_longest("65536"))), std::string(2000, 'a') + "ab");
    CHECK(watch.seconds() < 5.0);
    REQUIRE(ids.size() == 2000);
    CHECK(ids[0] == 1);
    CHECK(std::ranges::count(ids, 2) == 1998);
    CHECK(ids.back() == 3);
    CHECK(fault_of(of_longest("1000000")) ==
          "t.json has 'max_input_chars_per_word' = 1000000; expected at most 65536");
}

TEST_CASE("of many added tokens the longest that begins somewhere is found, of any first byte") {
    std::string added;
    const std::vector<std::string> items{"<a>", "\n", "\n\n", "é", "<a>b", "éé", "z"};
    for (std::size_t n = 0; n < items.size(); ++n)
        added += fmt::format(R"({}{{"id":{},"content":{},"special":true}})", n ? "," : "", n + 1,
                             nlohmann::json(items[n]).dump());
    const auto tokenizer = must(parse(fmt::format(
        R"({{"added_tokens":[{}],"model":{{"type":"BPE","vocab":{{"x":0}},"merges":[]}}}})",
        added)));
    CHECK(ids_of(tokenizer, "x<a>bx\n\n\nééé<a>zx") ==
          std::vector<Index>{0, 5, 0, 3, 2, 6, 4, 1, 7, 0});
}

TEST_CASE("what is not known is refused by its name") {
    CHECK(fault_of("{}") == "t.json has no 'model'");
    CHECK(fault_of("[]") == "t.json has no 'model'");
    CHECK(fault_of(R"({"model":{"type":"Char"}})") ==
          "t.json has the model 'Char'; expected BPE, Unigram, WordPiece or WordLevel");
    CHECK(fault_of(
              R"({"normalizer":{"type":"Nmt"},"model":{"type":"BPE","vocab":{},"merges":[]}})") ==
          "t.json has the normalizer 'Nmt', which is not known here");
    CHECK(
        fault_of(
            R"({"pre_tokenizer":{"type":"UnicodeScripts"},"model":{"type":"BPE","vocab":{},"merges":[]}})") ==
        "t.json has the pre_tokenizer 'UnicodeScripts', which is not known here");
    CHECK(fault_of(
              R"({"pre_tokenizer":{"type":"Split","behavior":"Isolated","pattern":{"Regex":"\\R"}},
        "model":{"type":"BPE","vocab":{},"merges":[]}})") ==
          "t.json has the expression '\\R', whose part '\\R' is not computed here");
    CHECK(fault_of(R"({"model":{"type":"BPE","vocab":{"a":0},"merges":["a b"]}})") ==
          "t.json model: merge 0 is 'a' + 'b'; the vocabulary does not have 'b'");
    CHECK(fault_of(R"({"model":{"type":"BPE","vocab":{"a":-1},"merges":[]}})") ==
          "t.json has a token number -1");
    CHECK(fault_of(R"({"model":{"type":"BPE","vocab":{"a":2097152},"merges":[]}})") ==
          "t.json has a token number 2097152");
    CHECK(fault_of(R"({"model":{"type":"BPE","vocab":{"a":1e18},"merges":[]}})") ==
          "t.json has a token number 1e+18");
    CHECK(fault_of(R"({"model":{"type":"Unigram","vocab":[["a"]]}})") ==
          "t.json has a 'vocab' row that is not [piece, score]");
    CHECK(fault_of(R"({"model":{"type":"Unigram","unk_id":5,"vocab":[["a",0]]}})") ==
          "t.json has 'unk_id' = 5 of 1 pieces");
    CHECK(fault_of(R"({"model":{"type":"WordPiece","vocab":{"a":0}}})") ==
          "t.json has no piece '[UNK]' for unknown words");
    CHECK(
        fault_of(
            R"({"post_processor":{"type":"RobertaProcessing"},"model":{"type":"BPE","vocab":{},"merges":[]}})") ==
        "t.json has no 'cls'");
}

TEST_CASE("each key and each value of tokenizer.json that is not computed is refused by its name") {
    const std::string model = R"("model":{"type":"BPE","vocab":{"a":0,"b":1},"merges":[]})";
    const auto with = [&](const std::string& more) {
        return fault_of("{" + more + "," + model + "}");
    };
    const auto normalizer = [&](const std::string& step) {
        return with(R"("normalizer":)" + step);
    };
    const auto splits = [&](const std::string& step) { return with(R"("pre_tokenizer":)" + step); };
    const auto around = [&](const std::string& step) {
        return with(R"("post_processor":)" + step);
    };
    const auto added = [&](const std::string& token) {
        return with(R"("added_tokens":[)" + token + "]");
    };
    const auto of_model = [&](const std::string& more) {
        return fault_of(R"({"model":{"vocab":{"a":0,"b":1,"ab":2},"merges":["a b"],)" + more +
                        "}}");
    };
    struct Row {
        std::string stated, fault;
    };
    const Row rows[] = {
        {with(R"("dropout":1)"), "has the key 'dropout' in the file, which is not known here"},
        {with(R"("version":"2.0")"), "has 'version' = \"2.0\"; expected \"1.0\""},
        {with(R"("decoder":{"type":"CTC"})"), "has the decoder 'CTC', which is not known here"},
        {with(R"("decoder":{"type":"Sequence","decoders":[{"type":"Fuse"},{"type":"X"}]})"),
         "has the decoder 'X', which is not known here"},
        {normalizer(R"({"type":"Nmt"})"), "has the normalizer 'Nmt', which is not known here"},
        {normalizer(R"({"type":"Lowercase","locale":"tr"})"),
         "has the key 'locale' in the normalizer 'Lowercase', which is not known here"},
        {normalizer(R"({"type":"Sequence","normalizers":[{"type":"NFC"},{"type":"Nmt"}]})"),
         "has the normalizer 'Nmt', which is not known here"},
        {normalizer(R"({"type":"Precompiled","precompiled_charsmap":"!"})"),
         "has 'precompiled_charsmap': expected base64"},
        {normalizer(R"({"type":"Precompiled","precompiled_charsmap":"AAAA"})"),
         "has a map of characters of 3 bytes that is cut off"},
        {normalizer(R"({"type":"Replace","pattern":{"Regex":"(a"},"content":"b"})"),
         "has the expression '(a', which PCRE2 does not read: missing closing parenthesis"},
        {normalizer(R"({"type":"Replace","pattern":{"String":""},"content":"b"})"),
         "has the normalizer 'Replace' of an empty text; expected a text"},
        {normalizer(R"({"type":"Strip","strip_left":1})"),
         "has 'strip_left' = 1; expected true or false"},
        {splits(R"({"type":"UnicodeScripts"})"),
         "has the pre_tokenizer 'UnicodeScripts', which is not known here"},
        {splits(R"({"type":"CharDelimiterSplit","delimiter":"ab"})"),
         "has 'delimiter' = \"ab\"; expected one character"},
        {splits(R"({"type":"Punctuation","behavior":"Glued"})"),
         "has 'behavior' = \"Glued\"; expected Isolated, Contiguous, Removed, MergedWithPrevious "
         "or "
         "MergedWithNext"},
        {splits(R"({"type":"Metaspace","str_rep":"_"})"),
         "has the key 'str_rep' in the pre_tokenizer 'Metaspace', which is not known here"},
        {splits(R"({"type":"Metaspace","replacement":"_"})"), "has '_' for spaces; expected '▁'"},
        {splits(R"({"type":"Metaspace","prepend_scheme":"last"})"),
         "has 'prepend_scheme' = \"last\"; expected always, first or never"},
        {splits(R"({"type":"Metaspace","add_prefix_space":false})"),
         "has 'add_prefix_space' = false and 'prepend_scheme' = \"always\"; expected \"never\""},
        {with(R"("normalizer":{"type":"Sequence","normalizers":[{"type":"Strip"}]},
               "pre_tokenizer":{"type":"Metaspace","prepend_scheme":"first"})"),
         "has 'prepend_scheme' = \"first\" after a normalizer that may change where a text begins, "
         "which is not computed here"},
        {splits(R"({"type":"Split","pattern":{"String":""},"behavior":"Isolated"})"),
         "has the pre_tokenizer 'Split' of an empty text; expected a text"},
        {splits(R"({"type":"Split","pattern":{"Char":" "},"behavior":"Isolated"})"),
         "has the key 'Char' in the pattern of the pre_tokenizer 'Split', which is not known here"},
        {splits(R"({"type":"Split","pattern":{"Regex":"a"}})"),
         "has 'behavior' = \"\"; expected Isolated, Contiguous, Removed, MergedWithPrevious or "
         "MergedWithNext"},
        {around(R"({"type":"Mine"})"), "has the post_processor 'Mine', which is not known here"},
        {around(
             R"({"type":"Sequence","processors":[{"type":"BertProcessing","cls":["a",0],"sep":["b",1]},
             {"type":"BertProcessing","cls":["a",0],"sep":["b",1]}]})"),
         "has two post_processors that put tokens around a text; expected one"},
        {around(R"({"type":"ByteLevel","x":1})"),
         "has the key 'x' in the post_processor 'ByteLevel', which is not known here"},
        {around(R"({"type":"BertProcessing","cls":["c",0],"sep":["s",7]})"),
         "puts token 7 around a text, which it does not have"},
        {around(
             R"({"type":"TemplateProcessing","single":[{"SpecialToken":{"id":"a"}},{"Sequence":{"id":"A"}}]})"),
         "puts 'a' around a text, which 'special_tokens' does not have"},
        {around(R"({"type":"TemplateProcessing","single":[{"Sequence":{"id":"A","type_id":1}}]})"),
         "has a 'type_id' in 'single' that is not 0, which is not known here"},
        {around(R"({"type":"TemplateProcessing","single":[{"Sequence":{"id":"B"}}]})"),
         "has 'single' with another text than 'A', which is not known here"},
        {around(R"({"type":"TemplateProcessing","single":[]})"),
         "has 'single' with 0 texts; expected one"},
        {added(R"({"id":3,"content":"<x>"})"),
         "has the added token '<x>' with the number 3; expected 2"},
        {added(R"({"id":2,"content":"b"})"),
         "has the added token 'b' with the number 2; expected 1"},
        {added(R"({"id":2,"content":"<x>","bold":true})"),
         "has the key 'bold' in an added token, which is not known here"},
        {added(R"({"id":2,"content":""})"), "has an added token without a text"},
        {with(
             R"("normalizer":{"type":"Strip"},"added_tokens":[{"id":2,"content":" ","normalized":true}])"),
         "has the added token ' ', which the normalizer removes entirely"},
        {with(R"("truncation":{"max_length":2,"strategy":"OnlySecond"})"),
         "has 'strategy' = \"OnlySecond\" in 'truncation'; expected LongestFirst or OnlyFirst"},
        {with(R"("truncation":{"max_length":2,"direction":"Up"})"),
         "has 'direction' = \"Up\" in 'truncation'; expected Right or Left"},
        {with(R"("truncation":{"max_length":2,"by":1})"),
         "has the key 'by' in 'truncation', which is not known here"},
        {with(R"("truncation":{"max_length":-2})"),
         "has 'max_length' = -2; expected a whole number from 0 to 2097151"},
        {with(
             R"("truncation":{"max_length":1},"post_processor":{"type":"BertProcessing","cls":["a",0],"sep":["b",1]})"),
         "has 'max_length' = 1 in 'truncation' and 2 tokens around a text"},
        {of_model(R"("dropout":0.1)"),
         "has 'dropout' = 0.1; expected none: tokens would be random"},
        {of_model(R"("continuing_subword_prefix":"@")"),
         "has 'continuing_subword_prefix', which is not known here"},
        {of_model(R"("alpha":1)"),
         "has the key 'alpha' in the model 'BPE', which is not known here"},
        {of_model(R"("unk_token":"<unk>")"), "has no piece '<unk>' for unknown words"},
        {of_model(R"("unk_token":"b")"),
         "model: merge 0 is 'a' + 'b'; expected none of the piece for unknown text"},
        {of_model(R"("byte_fallback":true)"),
         "has 'byte_fallback' = true and no piece '<0x00>'; expected all of 256"},
        {fault_of(R"({"model":{"type":"Unigram","vocab":[["a",0]]}})"), "has no 'unk_id'"},
        {fault_of(R"({"model":{"type":"Unigram","unk_id":0,"nbest":2,"vocab":[["a",0]]}})"),
         "has the key 'nbest' in the model 'Unigram', which is not known here"},
        {fault_of(R"({"model":{"type":"WordPiece","x":0,"vocab":{"[UNK]":0}}})"),
         "has the key 'x' in the model 'WordPiece', which is not known here"},
    };
    for (const Row& row : rows) CHECK(row.stated == "t.json " + row.fault);
}

TEST_CASE("what tokenizer_config.json says of other files is computed or refused by its name") {
    const auto pairs = [](const std::string& json, const std::string& model_type = "") {
        return sentence_in(Tokenizer::parse_byte_pairs(
            R"({"a":0})", "", "vocab.json", {json, "tokenizer_config.json", model_type}));
    };
    const auto words = [](const std::string& json) {
        return sentence_in(
            Tokenizer::parse_word_pieces("[UNK]\n[CLS]\n[SEP]\n", "vocab.txt", {.json = json}));
    };
    const std::string at = "tokenizer_config.json has ";
    CHECK(pairs(R"({"model_max_length":8,"errors":"replace","add_bos_token":false})").empty());
    CHECK(pairs(R"({"tokenizer_class":"LlamaTokenizer"})") ==
          at + "the tokenizer 'LlamaTokenizer', which is not read from vocab.json and merges.txt; "
               "expected GPT2Tokenizer or Qwen2Tokenizer");
    CHECK(pairs("{}", "llama") ==
          at + "the tokenizer 'LlamaTokenizer', which is not read from vocab.json and merges.txt; "
               "expected GPT2Tokenizer or Qwen2Tokenizer");
    CHECK(words(R"({"tokenizer_class":"DistilBertTokenizer"})") ==
          at + "the tokenizer 'DistilBertTokenizer', which is not read from vocab.txt; expected "
               "BertTokenizer");
    CHECK(pairs(R"({"add_bos_token":true})") ==
          at + "'add_bos_token' = true, which is not computed here");
    CHECK(pairs(R"({"do_lower_case":true})") ==
          at + "the key 'do_lower_case' in the file, which is not known here");
    CHECK(pairs(R"({"eos_token":"</s>"})") ==
          "tokenizer_config.json names the token '</s>', which the vocabulary does not have");
    CHECK(words(R"({"do_basic_tokenize":false})") ==
          at + "'do_basic_tokenize' = false, which is not computed here");
    CHECK(words(R"({"never_split":["a"]})") == at + "'never_split', which is not computed here");
    CHECK(words(R"({"do_lower_case":"no"})") ==
          at + "'do_lower_case' = \"no\"; expected true or false");
    CHECK(words(R"({"cls_token":"<s>"})") == "vocab.txt has no line '<s>'");
    CHECK(words("[]") == "tokenizer_config.json is not a JSON object");
}
