// Keys tokenizer.ggml.* of GGUF. Sources: ggml's docs/gguf.md, and llama.cpp's src/llama-vocab.cpp for the names of splits and
// what is put around a text where the file does not say.

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include <fmt/format.h>

#include "core/models/gguf.h"
#include "core/models/sentence_pieces.h"
#include "core/models/tokenizer_step.h"
#include "core/models/tokenizer_steps.h"
#include "core/text.h"

namespace attn {
namespace {

using nlohmann::json;

// The expressions that llama.cpp quotes from each tokenizer.json, and its own where it quotes none. \p{N} is the step Digits.
constexpr std::string_view kDigit = R"(\p{N})", kDigits3 = R"(\p{N}{1,3})";
constexpr std::string_view kSplitGpt2 =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";
constexpr std::string_view kSplitLlama3 =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr std::string_view kSplitQwen2 =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr std::string_view kSplitQwen35 =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr std::string_view kO200k =
    R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr std::string_view kSplitTekken =
    R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr std::string_view kDeepseek3Asian = "[一-龥぀-ゟ゠-ヿ]+";
constexpr std::string_view kDeepseek3 =
    R"([!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr std::string_view kLine = "[\r\n]", kAsian = "[一-龥ࠀ-一가-퟿]+";
// Letters that have a case.
constexpr std::string_view kDeepseekLetters =
    R"(\s?[A-Za-z\x{B5}\x{C0}-\x{D6}\x{D8}-\x{F6}\x{F8}-\x{1BA}\x{1BC}-\x{1BF}\x{1C4}-\x{293}\x{295}-\x{2AF})"
    R"(\x{370}-\x{373}\x{376}\x{377}\x{37B}-\x{37D}\x{37F}\x{386}\x{388}-\x{38A}\x{38C}\x{38E}-\x{3A1})"
    R"(\x{3A3}-\x{3F5}\x{3F7}-\x{481}\x{48A}-\x{52F}\x{531}-\x{556}\x{10A0}-\x{10C5}\x{13A0}-\x{13F5})"
    R"(\x{13F8}-\x{13FD}\x{1C90}-\x{1CBA}\x{1CBD}-\x{1CBF}\x{1D00}-\x{1D2B}\x{1D6B}-\x{1D77}\x{1D79}-\x{1D9A})"
    R"(\x{1E00}-\x{1F15}\x{1F18}-\x{1F1D}\x{1F20}-\x{1F45}\x{1F48}-\x{1F4D}\x{1F50}-\x{1F57}\x{1F59}\x{1F5B})"
    R"(\x{1F5D}\x{1F5F}-\x{1F7D}\x{1F80}-\x{1FB4}\x{1FB6}-\x{1FBC}\x{1FBE}\x{1FC2}-\x{1FC4}\x{1FC6}-\x{1FCC})"
    R"(\x{1FD0}-\x{1FD3}\x{1FD6}-\x{1FDB}\x{1FE0}-\x{1FEC}\x{1FF2}-\x{1FF4}\x{1FF6}-\x{1FFC}\x{2102}\x{2107})"
    R"(\x{210A}-\x{2113}\x{2115}\x{2119}-\x{211D}\x{2124}\x{2126}\x{2128}\x{212A}-\x{212D}\x{212F}-\x{2134})"
    R"(\x{2139}\x{213C}-\x{213F}\x{2145}-\x{2149}\x{214E}\x{2183}\x{2184}\x{2C00}-\x{2C7B}\x{2C7E}-\x{2CE4})"
    R"(\x{2CEB}-\x{2CEE}\x{2CF2}\x{2CF3}\x{A640}-\x{A66D}\x{A680}-\x{A69B}\x{A722}-\x{A76F}\x{A771}-\x{A787})"
    R"(\x{A78B}-\x{A78E}\x{AB70}-\x{ABBF}\x{FB00}-\x{FB06}\x{FB13}-\x{FB17}\x{FF21}-\x{FF3A}\x{FF41}-\x{FF5A})"
    R"(\x{10400}-\x{1044F}\x{104B0}-\x{104D3}\x{104D8}-\x{104FB}\x{10C80}-\x{10CB2}\x{10CC0}-\x{10CF2})"
    R"(\x{118A0}-\x{118DF}\x{1E900}-\x{1E943}]+)";
constexpr std::string_view kDeepseekSigns = R"(\s?[!-/:-~！-／：-～‘-‟　-。]+)",
                           kSpacesAtEnd = R"(\s+$)", kNumber = R"(\p{N}+)",
                           kSpacedLetters = R"(\s?\p{L}+)", kSpacedSigns = R"(\s?\p{P}+)";
constexpr std::string_view kSplitFalcon = R"([\p{P}$+<=>^~|`]+)", kHundreds = "[0-9][0-9][0-9]";
constexpr std::string_view kDefaultSigns = R"([\p{P}$+<=>^~|]+)";
constexpr std::string_view kSplitBloom = R"( ?[^(\s|.,!?…。，、।۔،)]+)";
constexpr std::string_view kBailing =
    R"('(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+)";
constexpr std::string_view kSeedCoder =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1}| ?[^\s\p{L}\p{N}\r\n]+|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr std::string_view kExaoneMoe =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?(?:\p{L}\p{M}*(?: \p{L}\p{M}*)*)+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]?|\s*[\r\n]|\s+(?!\S)|\s+)";
constexpr std::string_view kMinicpm5 =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}+| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr std::string_view kThousands = R"(\d{1,3}(?=(?:\d{3})*\b))";

/// How a text is cut into words, by the names of 'tokenizer.ggml.pre'.
struct GgufSplit {
    std::string_view names;  // each with a space after it
    std::array<std::string_view, 6> expressions;
    bool gpt2 = false;      // GPT-2's expression follows
    bool composes = false;  // the normal form C comes first, as the tokenizer.json has it
    bool whole = false;     // a word that is a token stays whole
    bool begins = false;    // a text begins with bos where the file does not say
};
constexpr GgufSplit kSplits[] = {
    {"gpt-2 phi-2 jina-es jina-de jina-v2-es jina-v2-de gigachat a.x-4.0 mellum modern-bert "
     "exaone4 mpt olmo jais trillion granite-docling ",
     {},
     true},
    {"llama-bpe llama3 llama-v3 falcon3 falcon-h1 pixtral midm-2.0 lfm2 jina-v5-nano ",
     {kSplitLlama3},
     false,
     false,
     true,
     true},
    {"dbrx smaug-bpe glm4 chatglm-bpe ", {kSplitLlama3}},
    {"qwen2 deepseek-r1-qwen ", {kSplitQwen2}, false, true},
    {"kormo f2llmv2 megrez stablelm2 hunyuan solar-open grok-2 ", {kSplitQwen2}},
    {"qwen35 ", {kSplitQwen35}, false, true},
    {"gpt-4o llama4 kanana2 talkie minimax-m2 ", {kO200k}},
    {"tekken ", {kSplitTekken}, false, false, true, true},
    {"smollm starcoder refact command-r codeshell exaone minerva-7b mellum2 ", {kDigit}, true},
    {"deepseek-llm ", {kLine, kDeepseekLetters, kDeepseekSigns, kSpacesAtEnd, kAsian, kNumber}},
    {"deepseek-coder ", {kLine, kSpacedLetters, kSpacedSigns, kAsian, kDigit}},
    {"deepseek-v3 hunyuan-dense joyai-llm hy_v4 ", {kDigits3, kDeepseek3Asian, kDeepseek3}},
    {"falcon ", {kSplitFalcon, kSplitGpt2, kHundreds}},
    {"default ", {kDefaultSigns, kSplitGpt2, kNumber, kHundreds}},
    {"bloom poro-chat gpt3-finnish ", {kSplitBloom}},
    {"viking ", {kSplitBloom, kDigit}},
    {"bailingmoe bailingmoe2 llada-moe ", {kBailing}},
    {"seed-coder ", {kSeedCoder}},
    {"exaone-moe ", {kExaoneMoe}},
    {"minicpm5 ", {kDigits3, kMinicpm5}, false, false, true},
    {"tiny_aya cohere2moe ", {kThousands, kO200k}},
};

class GgufVocabulary {
  public:
    explicit GgufVocabulary(const json& values) : step_(values) {
        const std::string kind = step_.text_or("tokenizer.ggml.model", "none");
        if (kind == "none" || kind == "no_vocab")
            TokenizerStep::fault(
                "has no tokenizer: 'tokenizer.ggml.model' is missing or says none");
        byte_pairs_ = kind == "gpt2";
        unigram_ = kind == "t5";
        if (!byte_pairs_ && !unigram_ && kind != "llama")
            TokenizerStep::fault(
                fmt::format("has 'tokenizer.ggml.model' = \"{}\"; expected gpt2, llama or t5",
                            shortened(kind)));
        const json& tokens = list("tokenizer.ggml.tokens");
        const json *const scores = step_.find("tokenizer.ggml.scores"),
                          *const kinds = step_.find("tokenizer.ggml.token_type");
        if (!byte_pairs_ && scores == nullptr)
            TokenizerStep::fault("has no 'tokenizer.ggml.scores'");
        for (const json* each : {scores, kinds})
            if (each != nullptr && (!each->is_array() || each->size() != tokens.size()))
                TokenizerStep::fault(fmt::format("has {}, but another number of scores or types",
                                                 counted(tokens.size(), "token")));
        for (std::size_t n = 0; n < tokens.size(); ++n)
            add(tokens[n], scores ? &(*scores)[n] : nullptr, kinds ? &(*kinds)[n] : nullptr);
    }

    Result<Tokenizer> made(const std::string& where) {
        if (!byte_pairs_) return Tokenizer::of_pieces(with_settings(), where);
        return Tokenizer::parse(byte_pairs().dump(-1, ' ', false, json::error_handler_t::replace),
                                where);
    }

  private:
    const json& list(const char* name) const {
        const json& found = step_.need(name);
        if (!found.is_array()) TokenizerStep::fault(fmt::format("has '{}': expected a list", name));
        return found;
    }
    void add(const json& token, const json* score, const json* kind) {
        if (!token.is_string()) TokenizerStep::fault("has 'tokenizer.ggml.tokens': expected texts");
        const double stated = score != nullptr && score->is_number() ? score->get<double>() : 0.0;
        if (!std::isfinite(stated))
            TokenizerStep::fault("has 'tokenizer.ggml.scores': expected numbers");
        const Index number = kind != nullptr && kind->is_number_integer() ? kind->get<Index>() : 1;
        if (number < 1 || number > 6)
            TokenizerStep::fault(fmt::format("has a token of type {}; expected 1 to 6", number));
        pieces_.pieces.push_back(
            {token.get<std::string>(), stated, static_cast<PieceKind>(number)});
    }
    /// Where the file says it, or it is so by default.
    void put_around(bool begins) {
        for (const auto& [flag, name, otherwise, ids] :
             {std::tuple{"tokenizer.ggml.add_bos_token", "tokenizer.ggml.bos_token_id", begins,
                         &pieces_.before},
              {"tokenizer.ggml.add_eos_token", "tokenizer.ggml.eos_token_id", unigram_,
               &pieces_.after}}) {
            if (!step_.flag(flag, otherwise)) continue;
            const Index id = step_.number(name);
            if (!pieces_.is_text(id))
                TokenizerStep::fault(
                    fmt::format("has '{}' = {} of {}", name, id, counted(pieces_.size(), "token")));
            ids->push_back(id);
        }
    }
    Index unknown() const {
        if (step_.find("tokenizer.ggml.unknown_token_id") != nullptr)
            return step_.number("tokenizer.ggml.unknown_token_id");
        const auto found =
            std::ranges::find(pieces_.pieces, PieceKind::unknown, &ScoredPieces::Piece::kind);
        if (found == pieces_.pieces.end()) TokenizerStep::fault("has no token for unknown text");
        return found - pieces_.pieces.begin();
    }

    const ScoredPieces& with_settings() {
        pieces_.unigram = unigram_;
        pieces_.prefix = step_.flag("tokenizer.ggml.add_space_prefix", true);
        pieces_.squeezes = step_.flag("tokenizer.ggml.remove_extra_whitespaces", false);
        pieces_.unknown = unknown();
        pieces_.by_bytes =
            std::ranges::count(pieces_.pieces, PieceKind::byte, &ScoredPieces::Piece::kind) > 0;
        if (const json* const map = step_.find("tokenizer.ggml.precompiled_charsmap")) {
            if (!map->is_array())
                TokenizerStep::fault("has 'tokenizer.ggml.precompiled_charsmap': expected a list");
            for (const json& byte : *map)
                pieces_.characters +=
                    static_cast<char>(byte.is_number_integer() ? byte.get<int>() : 0);
        }
        put_around(!unigram_);
        return pieces_;
    }

    json byte_pairs() {
        const std::string architecture = step_.text_or("general.architecture", "");
        if (step_.find("tokenizer.ggml.pre") == nullptr && architecture != "gpt2")
            TokenizerStep::fault(
                "has no 'tokenizer.ggml.pre', which says how a text is cut into words");
        const std::string name = step_.text_or("tokenizer.ggml.pre", "gpt-2");
        const auto* const row = std::ranges::find_if(kSplits, [&](const GgufSplit& each) {
            return name.find(' ') == name.npos &&
                   (' ' + std::string(each.names)).find(' ' + name + ' ') != std::string::npos;
        });
        if (row == std::end(kSplits)) {
            std::string names;
            for (const auto& each : kSplits) names += each.names;
            names.pop_back();
            TokenizerStep::fault(fmt::format(
                "has 'tokenizer.ggml.pre' = \"{}\"; expected one of {}", shortened(name), names));
        }
        put_around(row->begins);
        pieces_.unknown = 0;
        json root = root_of(pieces_);  // but for the model
        json vocabulary = json::object();
        for (Index id = 0; id < pieces_.size(); ++id) vocabulary[pieces_.pieces[id].text] = id;
        root["model"] = {{"type", "BPE"},
                         {"ignore_merges", row->whole},
                         {"vocab", std::move(vocabulary)},
                         {"merges", list("tokenizer.ggml.merges")}};
        const bool space = step_.flag("tokenizer.ggml.add_space_prefix", false);
        const auto count = std::ranges::find(row->expressions, "") - row->expressions.begin();
        root.update(byte_level_steps(
            {.expressions = std::span(row->expressions).first(static_cast<std::size_t>(count)),
             .gpt2 = row->gpt2,
             .prefix_space = space,
             .composes = row->composes}));
        return root;
    }

    TokenizerStep step_;
    bool byte_pairs_ = false, unigram_ = false;
    ScoredPieces pieces_;
};

}  // namespace

Result<Tokenizer> tokenizer_of_gguf(const json& values, const std::string& where) try {
    return GgufVocabulary(values).made(where);
} catch (const TokenizerFault& found) {
    return bad_input(fmt::format("{} {}", where, found.sentence));
}

}  // namespace attn
