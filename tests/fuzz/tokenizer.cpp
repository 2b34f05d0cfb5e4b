// Bytes that nobody should trust, as a tokenizer.json, as merges.txt of a small vocabulary, as vocab.txt and as tokenizer.model. A tokenizer that
// opens gives numbers below its size over words, bytes that are no UTF-8, its own file and its own pieces.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "core/models/tokenizer.h"

using namespace attn;

namespace {

void check_tokens(const Tokenizer& tokenizer, std::string_view text) {
    for (const ModelToken& token : tokenizer.encode(text))
        if (token.id < 0 || token.id >= tokenizer.size()) std::abort();
}

void check(const Result<Tokenizer>& opened, std::string_view bytes) {
    if (!opened) {
        if (opened.error().text().size() > 2000) std::abort();
        return;
    }
    for (const std::string_view text :
         {"", " ", "The cat sat, didn't it?\n\t 123", "a\xFF\xE2\x28 \xF0\x9F\x98\x80 e\xCC\x81"})
        check_tokens(*opened, text);
    check_tokens(*opened, bytes.substr(0, 512));
    for (Index id = -1; id < 16; ++id) check_tokens(*opened, opened->shown(id));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view bytes(reinterpret_cast<const char*>(data), size);
    constexpr std::string_view kVocabulary =
        R"({"a":0,"b":1,"ab":2,"\u0120":3,"\u0120a":4,"<|endoftext|>":5})";
    check(Tokenizer::parse(bytes, "fuzz"), bytes);
    check(Tokenizer::parse_byte_pairs(kVocabulary, bytes, "fuzz"), bytes);
    check(Tokenizer::parse_byte_pairs(bytes, "a b\n", "fuzz"), bytes);
    check(Tokenizer::parse_word_pieces(bytes, "fuzz"), bytes);
    check(Tokenizer::parse_sentence_pieces(
              bytes, "fuzz",
              {.json = R"({"tokenizer_class":"LlamaTokenizer","add_bos_token":false})"}),
          bytes);
    const TokenizerSettings settings{.json = std::string(bytes)};
    check(Tokenizer::parse_byte_pairs(kVocabulary, "a b\n", "fuzz", settings), bytes);
    check(Tokenizer::parse_word_pieces("[CLS]\n[SEP]\n[UNK]\n[PAD]\na\n", "fuzz", settings), bytes);
    return 0;
}
