// Tokenizers of CLIP (byte pairs whose last has "</w>") and T5 (Unigram after a map of characters), by hand and against
// SentencePiece's own tokens of the same pieces.

#include <doctest/doctest.h>

#include <algorithm>

#include <nlohmann/json.hpp>

#include "attn_tree.h"
#include "core/io/file.h"
#include "core/io/json.h"
#include "core/models/sentence_pieces.h"
#include "tests/support/results.h"

using namespace attn;

namespace {

std::vector<Index> numbers_in(const Tokenizer& tokenizer, const std::string& text) {
    std::vector<Index> ids;
    for (const ModelToken& token : tokenizer.encode(text)) ids.push_back(token.id);
    return ids;
}

constexpr const char* kClipTokenizer = R"({"added_tokens":[
  {"id":9,"content":"<|startoftext|>","special":true},{"id":10,"content":"<|endoftext|>","special":true}],
 "normalizer":{"type":"Sequence","normalizers":[{"type":"NFC"},
  {"type":"Replace","pattern":{"Regex":"\\s+"},"content":" "},{"type":"Lowercase"}]},
 "pre_tokenizer":{"type":"Sequence","pretokenizers":[{"type":"Split","pattern":{"Regex":
  "'s|'t|'re|'ve|'m|'ll|'d|[\\p{L}]+|[\\p{N}]|[^\\s\\p{L}\\p{N}]+"},"behavior":"Removed","invert":true},
  {"type":"ByteLevel","add_prefix_space":false,"trim_offsets":true}]},
 "post_processor":{"type":"RobertaProcessing","sep":["<|endoftext|>",10],"cls":["<|startoftext|>",9],
  "trim_offsets":false,"add_prefix_space":false},
 "model":{"type":"BPE","dropout":null,"unk_token":"<|endoftext|>","continuing_subword_prefix":"",
  "end_of_word_suffix":"</w>","fuse_unk":false,"vocab":{"a":0,"b":1,"a</w>":2,"b</w>":3,"!</w>":4,"ab</w>":5,"!":6,
  "'":7,"s</w>":8,"<|startoftext|>":9,"<|endoftext|>":10,"1</w>":11,"ab":12},"merges":["a b</w>","a b"]}})";

std::string base64(const std::string& bytes) {
    constexpr char kLetters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string letters;
    unsigned held = 0, bits = 0;
    for (const char byte : bytes) {
        held = (held << 8U | static_cast<unsigned char>(byte)) & 0xFFFFFU;
        for (bits += 8; bits >= 6; bits -= 6) letters += kLetters[held >> (bits - 6) & 63U];
    }
    if (bits > 0) letters += kLetters[held << (6 - bits) & 63U];
    while (letters.size() % 4 != 0) letters += '=';
    return letters;
}

/// tokenizer.json of the pieces, as Hugging Face's converter writes it for T5.
std::string t5_tokenizer(const ScoredPieces& pieces) {
    nlohmann::json vocab = nlohmann::json::array();
    for (const auto& piece : pieces.pieces) vocab.push_back({piece.text, piece.score});
    const nlohmann::json steps = {
        {"normalizer",
         {{"type", "Sequence"},
          {"normalizers",
           {{{"type", "Precompiled"}, {"precompiled_charsmap", base64(pieces.characters)}},
            {{"type", "Strip"}, {"strip_left", false}, {"strip_right", true}},
            {{"type", "Replace"}, {"pattern", {{"Regex", " {2,}"}}}, {"content", "▁"}}}}}},
        {"pre_tokenizer",
         {{"type", "Sequence"},
          {"pretokenizers",
           {{{"type", "WhitespaceSplit"}},
            {{"type", "Metaspace"}, {"replacement", "▁"}, {"prepend_scheme", "always"}}}}}},
        {"model", {{"type", "Unigram"}, {"unk_id", pieces.unknown}, {"vocab", vocab}}}};
    return steps.dump();
}

}  // namespace

TEST_CASE("CLIP's byte pairs end a word with </w>, in small letters, without spaces") {
    const auto clip = must(Tokenizer::parse(kClipTokenizer, "t.json"));
    const auto ids = [&](const std::string& text) { return numbers_in(clip, text); };
    using Ids = std::vector<Index>;
    CHECK(ids("ab") == Ids{9, 5, 10});
    CHECK(ids(" Ab \t aB!") == Ids{9, 5, 5, 4, 10});
    CHECK(ids("aba") == Ids{9, 12, 2, 10});  // "ab" inside a word, "a</w>" at its end
    CHECK(ids("a b") == Ids{9, 2, 3, 10});
    CHECK(ids("ab's") == Ids{9, 5, 7, 8, 10});
    CHECK(ids("11") == Ids{9, 11, 11, 10});  // digits one by one
    CHECK(ids("!!") == Ids{9, 6, 4, 10});
    CHECK(ids("") == Ids{9, 10});
    CHECK(ids("ab<|endoftext|>b") == Ids{9, 5, 10, 3, 10});
}

TEST_CASE("T5's map of characters and Unigram give SentencePiece's tokens") {
    const auto folder = std::filesystem::path(ATTN_TEST_DATA) / "tokenizers";
    const auto pieces = must(parse_sentence_pieces(
        read_text_file(folder / "sentencepiece_unigram.model").value(), "t.model"));
    REQUIRE_FALSE(pieces.characters.empty());
    const auto t5 = must(Tokenizer::parse(t5_tokenizer(pieces), "t.json"));
    const auto lines =
        read_json_file(folder / "lines.json").value().get<std::vector<std::string>>();
    const auto own = must(Tokenizer::of_pieces(pieces, "t.model"));
    int plain = 0, same = 0, others = 0;
    for (const std::string& line : lines) {
        if (line.find('<') != std::string::npos) continue;  // names of special tokens
        const bool ascii = std::ranges::all_of(line, [](char c) { return c >= ' ' && c < 127; });
        const bool equal = numbers_in(t5, line) == numbers_in(own, line);
        if (ascii) CHECK_MESSAGE(equal, line);
        (ascii ? plain : equal ? same : others) += 1;
    }
    CHECK(plain > 100);
    // where several code points make one character, Hugging Face's program takes the first alone
    CHECK(same > 9 * others);
    const auto shown = [&](const std::string& text) {
        std::string words;
        for (const ModelToken& token : t5.encode(text)) words += token.text;
        return words;
    };
    CHECK(shown("\uFF21\uFF22") == shown("AB"));  // full width
    CHECK(shown("a   b ") == shown("a b"));
}
