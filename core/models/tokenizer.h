#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "core/sizes.h"

namespace attn {

/// One token of a text: its row of the embedding, and what a person reads. A space is "▁", a byte that is no text by itself
/// "<0xE2>".
struct ModelToken {
    Index id = 0;
    std::string text;
    bool operator==(const ModelToken&) const = default;
};

/// What a folder says of vocab.json with merges.txt, or of vocab.txt, beside them.
struct TokenizerSettings {
    std::string json = "{}";                      // of tokenizer_config.json
    std::string where = "tokenizer_config.json";  // names it in errors
    std::string model_type = {};  // of config.json; says the class where the file does not
};

struct ScoredPieces;

/// Splits text into tokens as a tokenizer.json of Hugging Face says (models BPE, Unigram, WordPiece, WordLevel), or vocab.json with
/// merges.txt (GPT-2, Qwen 2), or vocab.txt (BERT), or SentencePiece's tokenizer.model (Llama, Gemma) or spiece.model (T5). Every key and every type of a step is computed, changes no token
/// number (`decoder`, `padding`, which a model does not attend to), or is refused by its name. Held against the package
/// tokenizers of Hugging Face: tests/goldens/make_tokenizer_fields.js.
class Tokenizer {
  public:
    static Result<Tokenizer> parse(std::string_view tokenizer_json, std::string_view where);
    static Result<Tokenizer> parse_byte_pairs(std::string_view vocab_json,
                                              std::string_view merges_txt, std::string_view where,
                                              const TokenizerSettings& settings = {});
    /// One piece a line.
    static Result<Tokenizer> parse_word_pieces(std::string_view vocab_txt, std::string_view where,
                                               const TokenizerSettings& settings = {});
    static Result<Tokenizer> parse_sentence_pieces(std::string_view tokenizer_model,
                                                   std::string_view where,
                                                   const TokenizerSettings& settings = {});
    static Result<Tokenizer> of_pieces(const ScoredPieces& pieces, std::string_view where);
    /// Whichever of those files the folder has.
    static Result<Tokenizer> open(const std::filesystem::path& folder);

    Tokenizer(const Tokenizer&);  // shares what was read
    Tokenizer(Tokenizer&&) noexcept;
    Tokenizer& operator=(Tokenizer&&) noexcept;
    ~Tokenizer();

    /// With the tokens that the model wants around a text, such as [CLS] and [SEP]. Bytes that are no UTF-8 count as U+FFFD.
    /// Time n log n. Throws Failure where the tokenizer makes more of the text, or takes more time, than TextBudget allows.
    std::vector<ModelToken> encode(std::string_view text) const;
    /// Without those.
    std::vector<ModelToken> encode_alone(std::string_view text) const;
    /// Longer texts are cut to so many tokens, as `truncation` says; not set: none is.
    std::optional<Index> longest() const;
    /// Its tokens are whole words; another word is the token for unknown words.
    bool is_word_level() const;
    /// Ids are below this.
    Index size() const;
    /// What a person reads; "" of no id.
    std::string shown(Index id) const;
    /// The bytes that it stands for in a text: " cat" where "▁cat" is shown. One byte of a character may be a token.
    std::string text(Index id) const;

  private:
    struct Parts;
    explicit Tokenizer(std::unique_ptr<const Parts> parts);
    std::shared_ptr<const Parts> parts_;
};

/// Of their numbers, "15496 995" or "15496,995", shown as "#15496"; nullopt where the text is something else, or empty.
std::optional<std::vector<ModelToken>> numbered_tokens(std::string_view text);

}  // namespace attn
