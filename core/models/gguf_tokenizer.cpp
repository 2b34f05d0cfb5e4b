// Keys tokenizer.ggml.* of GGUF. Sources: ggml's docs/gguf.md, and llama.cpp's src/llama-vocab.cpp for the names of splits and
// what is put around a text where the file does not say.

#include <algorithm>
#include <cmath>
#include <type_traits>

#include <fmt/format.h>

#include "core/models/gguf.h"
#include "core/models/sentence_pieces.h"
#include "core/models/tokenizer_step.h"
#include "core/models/tokenizer_steps.h"
#include "core/text.h"

namespace attn {
namespace {

using nlohmann::json;

/// How a text is cut into words, by its name.
constexpr struct {
    std::string_view name;
    int digits;       // of byte_level_steps()
    bool whole_text;  // a word that is a token stays whole; a text begins with bos
} kSplits[] = {{"gpt-2", 0, false},   {"llama-bpe", 3, true}, {"llama3", 3, true},
               {"llama-v3", 3, true}, {"qwen2", 1, false},    {"deepseek-r1-qwen", 1, false}};

class GgufVocabulary {
  public:
    explicit GgufVocabulary(const json& values) : step_(values) {
        const std::string kind = step_.text_or("tokenizer.ggml.model", "none");
        if (kind == "none" || kind == "no_vocab")
            TokenizerStep::fault("has no tokenizer: 'tokenizer.ggml.model' is not there, or none");
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
                TokenizerStep::fault(
                    fmt::format("has {}, and other numbers of their scores or types",
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
        const auto* const row =
            std::ranges::find(kSplits, name, &std::remove_cvref_t<decltype(*kSplits)>::name);
        if (row == std::end(kSplits)) {
            std::string names;
            for (const auto& each : kSplits)
                names += fmt::format("{}{}", names.empty() ? "" : ", ", each.name);
            TokenizerStep::fault(fmt::format(
                "has 'tokenizer.ggml.pre' = \"{}\"; expected one of {}", shortened(name), names));
        }
        put_around(row->whole_text);
        pieces_.unknown = 0;
        json root = root_of(pieces_);  // but for the model
        json vocabulary = json::object();
        for (Index id = 0; id < pieces_.size(); ++id) vocabulary[pieces_.pieces[id].text] = id;
        root["model"] = {{"type", "BPE"},
                         {"ignore_merges", row->whole_text},
                         {"vocab", std::move(vocabulary)},
                         {"merges", list("tokenizer.ggml.merges")}};
        const bool space = step_.flag("tokenizer.ggml.add_space_prefix", false);
        root.update(byte_level_steps(row->digits, space));
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
