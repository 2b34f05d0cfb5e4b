// Tokenizers that are made to exceed the machine: each ends with an error that names the step, or with its tokens, in 5 s.

#include <doctest/doctest.h>

#include <fmt/format.h>

#include <thread>

#include "core/io/json.h"
#include "core/models/gguf.h"
#include "core/models/tokenizer.h"
#include "core/models/unicode.h"
#include "core/stop.h"
#include "core/text.h"
#include "tests/support/processor_time.h"
#include "tests/support/results.h"

using namespace attn;
using nlohmann::json;

namespace {

constexpr double kMostSeconds = 5.0;

/// The error of the tokenizer over the text, "" where it has tokens. Either comes in time.
std::string end_of(const json& root, const std::string& text) {
    const test::ProcessorTime watch;
    std::string end;
    const auto made = Tokenizer::parse(root.dump(), "t.json");
    try {
        if (made)
            static_cast<void>(made->encode(text));
        else
            end = made.error().text();
    } catch (const Failure& found) {
        end = found.value().text();
    }
    CHECK(watch.seconds() < kMostSeconds);
    return end;
}

json with(const char* step, const json& value) {
    return {
        {step, value},
        {"model", {{"type", "BPE"}, {"vocab", {{"a", 0}, {"b", 1}}}, {"merges", json::array()}}}};
}

json sequence_of(const char* list, const json& step, int count) {
    return {{"type", "Sequence"}, {list, std::vector<json>(static_cast<std::size_t>(count), step)}};
}

json replaces(const std::string& pattern, const std::string& content) {
    return {{"type", "Replace"}, {"pattern", {{"String", pattern}}}, {"content", content}};
}

/// The error of the step over a text of `bytes`.
std::string beyond(std::string_view step, std::size_t bytes) {
    return fmt::format(
        "t.json: {} makes more than {} bytes of a text of {}; expected at most 16 times the "
        "text and 1 MiB, in 4 s. Write the numbers of the tokens as the text: token-ids: 15496 995",
        step, 16 * bytes + (1 << 20), counted(bytes, "byte"));
}

}  // namespace

TEST_CASE("a normalizer that doubles a text 62 times is refused, whatever it doubles") {
    const json doubled = sequence_of("normalizers", replaces("a", "aa"), 62);
    CHECK(end_of(with("normalizer", doubled), "a cat") ==
          beyond("step 20 of the normalizer, 'Replace',", 5));
    CHECK(end_of(with("normalizer", doubled), "tick") == "");
    const json nested = {{"type", "Sequence"}, {"normalizers", {doubled, doubled}}};
    CHECK(end_of(with("normalizer", nested), "aa") ==
          beyond("step 20 of the normalizer, 'Replace',", 2));
    // At once: a million bytes for each letter.
    const std::string text(1000, 'a');
    CHECK(end_of(with("normalizer", replaces("a", std::string(1'000'000, 'b'))), text) ==
          beyond("step 1 of the normalizer, 'Replace',", 1000));
    const json prepends = {{"type", "Prepend"}, {"prepend", std::string(100'000, 'b')}};
    CHECK(end_of(with("normalizer", sequence_of("normalizers", prepends, 100)), "a") ==
          beyond("step 11 of the normalizer, 'Prepend',", 1));
    const json runs = {
        {"type", "Replace"}, {"pattern", {{"Regex", "\\s+"}}}, {"content", std::string(2000, 'b')}};
    std::string spaced;
    for (int n = 0; n < 1000; ++n) spaced += "a ";
    CHECK(end_of(with("normalizer", runs), spaced) ==
          beyond("step 1 of the normalizer, 'Replace',", 2000));
}

TEST_CASE("thousands of normalizers end in time") {
    std::string text;
    while (text.size() < 50'000) text += "A cat sat \u00e9 ";
    for (const char* const type : {"NFKC", "BertNormalizer"}) {
        CAPTURE(type);
        const std::string end =
            end_of(with("normalizer", sequence_of("normalizers", {{"type", type}}, 20'000)), text);
        CHECK(end.find(fmt::format("'{}', takes more than 4 s", type)) != std::string::npos);
    }
    for (const char* const type : {"Strip", "Lowercase"})
        CHECK(end_of(with("normalizer", sequence_of("normalizers", {{"type", type}}, 20'000)),
                     "A cat") == "");
}

TEST_CASE("a letter with a million marks is ordered in time, and in the canonical order") {
    std::string marks = "e";
    for (int n = 0; n < 250'000; ++n) marks += "\u0301";
    for (int n = 0; n < 250'000; ++n) marks += "\u0316";
    for (const char* const type : {"NFC", "NFD", "NFKC", "NFKD"})
        CHECK(end_of(with("normalizer", {{"type", type}}), marks) == "");
    CHECK(normal_form("a\u0315\u0300\u05ae\u0300\u0062", NormalForm::d) ==
          "a\u05ae\u0300\u0300\u0315b");
    CHECK(normal_form("a\u0315\u0300\u05ae\u0300\u0062", NormalForm::c) ==
          "\u00e0\u05ae\u0300\u0315b");
    CHECK(normal_form("\uac01\ufb01", NormalForm::kd) == "\u1100\u1161\u11a8fi");
    CHECK(normal_form("\u1100\u1161\u11a8", NormalForm::c) == "\uac01");
}

TEST_CASE("a pre_tokenizer that doubles a text 30 times is refused") {
    const json bytes = {{"type", "ByteLevel"}, {"add_prefix_space", true}, {"use_regex", false}};
    CHECK(end_of(with("pre_tokenizer", sequence_of("pretokenizers", bytes, 30)), "a \u00e9")
              .find(", 'ByteLevel', makes more than 1048640 bytes of a text of 4 bytes") !=
          std::string::npos);
    const json spaced_bytes = {{"type", "ByteLevel"}};
    CHECK(end_of(with("pre_tokenizer", sequence_of("pretokenizers", spaced_bytes, 30)), "a b")
              .find(", 'ByteLevel', makes more than 1048624 bytes of a text of 3 bytes") !=
          std::string::npos);
    const json signs = {{"type", "Metaspace"}};
    CHECK(end_of(with("pre_tokenizer", sequence_of("pretokenizers", signs, 100'000)), "a b") == "");
}

TEST_CASE("what one part of a text is made counts for all of its parts") {
    json root = with("normalizer", replaces("b", std::string(50'000, 'a')));
    root["added_tokens"] = {{{"id", 2}, {"content", "<x>"}, {"special", true}}};
    std::string text;
    for (int n = 0; n < 1000; ++n) text += "b<x>";
    CHECK(end_of(root, text) == beyond("the model", 4000));
}

TEST_CASE("added tokens that are rewritten, and many that begin alike, end in time") {
    json root = with("normalizer", sequence_of("normalizers", replaces("a", "aa"), 62));
    root["added_tokens"] = {{{"id", 2}, {"content", "<a>"}, {"special", false}}};
    CHECK(end_of(root, "b") == beyond("step 21 of the normalizer, 'Replace',", 3));
    json many = with("normalizer", nullptr);
    for (int n = 0; n < 20'000; ++n)
        many["added_tokens"].push_back(
            {{"id", n + 2}, {"content", fmt::format("<{:06}", n)}, {"special", true}});
    CHECK(
        end_of(many, std::string(1'000'000, '<')).find("the search for added tokens takes more") !=
        std::string::npos);
    json long_text = with("normalizer", replaces(std::string(400'000, 'z'), "a"));
    long_text["added_tokens"] = {
        {{"id", 2}, {"content", std::string(400'000, 'z')}, {"special", false}}};
    CHECK(end_of(long_text, std::string(100, 'a')) == beyond("the text of the tokens", 100));
    json stripped = with("normalizer", nullptr);
    stripped["added_tokens"] = {
        {{"id", 2}, {"content", "x"}, {"special", true}, {"lstrip", true}, {"rstrip", true}}};
    CHECK(end_of(stripped, std::string(500'000, 'x')) == "");
}

TEST_CASE("words of thousands of letters end in time, however long the pieces") {
    const std::string letters(30'000, 'a');
    json pieces = {{"type", "WordPiece"},
                   {"unk_token", "u"},
                   {"max_input_chars_per_word", 65'536},
                   {"vocab", {{"u", 0}, {"a", 1}, {"##a", 2}, {"##" + letters + "b", 3}}}};
    CHECK(end_of({{"model", pieces}}, letters).find("the model takes more than 4 s") !=
          std::string::npos);
    json unigram = {{"type", "Unigram"}, {"unk_id", 0}, {"vocab", json::array()}};
    for (const std::string& piece : {std::string("u"), std::string("a"), letters + "b"})
        unigram["vocab"].push_back({piece, -1.0});
    CHECK(end_of({{"model", unigram}}, letters + letters).find("the model takes more than 4 s") !=
          std::string::npos);
}

TEST_CASE("a post_processor puts at most 64 tokens around a text") {
    const json special = {{"SpecialToken", {{"id", "x"}}}};
    std::vector<json> single(1000, special);
    single.push_back({{"Sequence", {{"id", "A"}}}});
    const auto around = [&](std::size_t ids) {
        return json{{"type", "TemplateProcessing"},
                    {"single", single},
                    {"special_tokens", {{"x", {{"ids", std::vector<int>(ids, 1)}}}}}};
    };
    CHECK(end_of(with("post_processor", around(1)), "a") ==
          "t.json puts 1000 tokens around a text; expected at most 64");
    CHECK(end_of(with("post_processor", around(100'000)), "a") ==
          "t.json has 100000 tokens of 'x' in 'special_tokens'; expected at most 64");
}

TEST_CASE("a map of characters that stands for long texts is refused") {
    // A trie of one node: 'a' becomes 300,000 letters b.
    const auto unit = [](std::uint32_t value) {
        std::string bytes;
        for (int n = 0; n < 4; ++n) bytes += static_cast<char>(value >> (8 * n) & 0xFFU);
        return bytes;
    };
    constexpr std::uint32_t kUnits = 256, kNode = 'a' ^ 1U;
    std::string map = unit(4 * kUnits);
    for (std::uint32_t n = 0; n < kUnits; ++n)
        map += n == 0              ? unit(1U << 10U)
               : n == kNode        ? unit((1U << 10U) | 0x100U | 'a')
               : n == (kNode ^ 1U) ? unit(0x8000'0000U)
                                   : unit(0);
    map += std::string(300'000, 'b');
    json values = {{"tokenizer.ggml.model", "t5"},
                   {"tokenizer.ggml.tokens", {"<unk>", "b"}},
                   {"tokenizer.ggml.scores", {0.0, -1.0}},
                   {"tokenizer.ggml.token_type", {2, 1}},
                   {"tokenizer.ggml.add_eos_token", false},
                   {"tokenizer.ggml.precompiled_charsmap", json::array()}};
    for (const char byte : map)
        values["tokenizer.ggml.precompiled_charsmap"].push_back(static_cast<unsigned char>(byte));
    const auto made = must(tokenizer_of_gguf(values, "t.json"));
    try {
        static_cast<void>(made.encode("aaaaa"));
        FAIL_CHECK("no error");
    } catch (const Failure& found) {
        CHECK(found.value().text() == beyond("the map of characters", 5));
    }
}

TEST_CASE("a tokenization is stopped by its caller") {
    const auto made = must(Tokenizer::parse(
        with("normalizer", sequence_of("normalizers", {{"type", "NFKC"}}, 100'000)).dump(), "t"));
    std::stop_source stop;
    const std::jthread later([&] { stop.request_stop(); });
    const StopScope scope(stop.get_token());
    const test::ProcessorTime watch;
    CHECK_THROWS_AS(static_cast<void>(made.encode(std::string(50'000, 'b'))), Stopped);
    CHECK(watch.seconds() < 1.0);
}
