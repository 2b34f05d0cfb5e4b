// vocab.json with merges.txt, vocab.txt and tokenizer.model: as the tokenizer.json that Hugging Face's converters make of them.

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "core/io/file.h"
#include "core/io/json.h"
#include "core/models/sentence_pieces.h"
#include "core/models/source.h"
#include "core/models/tokenizer.h"
#include "core/models/tokenizer_step.h"
#include "core/models/tokenizer_steps.h"
#include "core/text.h"

namespace attn {
namespace {

using nlohmann::json;

/// What a vocabulary stands in.
enum class VocabularyFile : std::uint8_t { byte_pairs, word_pieces, sentence_pieces };
constexpr std::string_view kFileWords[] = {"vocab.json and merges.txt", "vocab.txt",
                                           "tokenizer.model or spiece.model"};

/// A class of tokenizers, and what its words are before they are cut into pieces.
struct TokenizerClass {
    std::string_view name;  // and the same with "Fast" at its end
    VocabularyFile file;
    std::string_view special;
    int digits;                    // of byte_level_steps()
    std::string_view model_types;  // each with a space after it
};

constexpr std::array kClasses{
    TokenizerClass{"GPT2Tokenizer", VocabularyFile::byte_pairs, "<|endoftext|>", 0, "gpt2 "},
    TokenizerClass{"Qwen2Tokenizer", VocabularyFile::byte_pairs, "<|endoftext|>", 1,
                   "qwen2 qwen3 "},
    TokenizerClass{"BertTokenizer", VocabularyFile::word_pieces, "[PAD] [UNK] [CLS] [SEP] [MASK]",
                   0, "bert "},
    TokenizerClass{"LlamaTokenizer", VocabularyFile::sentence_pieces, "", 0,
                   "llama mistral mixtral phi3 "},
    TokenizerClass{"GemmaTokenizer", VocabularyFile::sentence_pieces, "", 0, "gemma2 gemma3_text "},
    TokenizerClass{"T5Tokenizer", VocabularyFile::sentence_pieces, "", 0, "t5 mt5 "},
    TokenizerClass{"MT5Tokenizer", VocabularyFile::sentence_pieces, "", 0, ""},
};
bool is_t5(const TokenizerClass& of) { return of.name.ends_with("T5Tokenizer"); }

/// What tokenizer_config.json may say besides what is computed: no token number of one text depends on it.
constexpr std::array<std::string_view, 23> kWithoutEffect{"model_max_length",
                                                          "name_or_path",
                                                          "special_tokens_map_file",
                                                          "chat_template",
                                                          "padding_side",
                                                          "clean_up_tokenization_spaces",
                                                          "truncation_side",
                                                          "errors",
                                                          "processor_class",
                                                          "tokenizer_file",
                                                          "model_input_names",
                                                          "max_length",
                                                          "stride",
                                                          "tokenizer_class",
                                                          "pad_to_multiple_of",
                                                          "truncation_strategy",
                                                          "pad_token_type_id",
                                                          "transformers_version",
                                                          "use_fast",
                                                          "is_local",
                                                          "backend",
                                                          "cache_dir",
                                                          "_commit_hash"};
constexpr std::array<std::string_view, 7> kSpecialTokens{
    "bos_token", "eos_token", "unk_token", "pad_token", "cls_token", "sep_token", "mask_token"};

std::string class_name(const TokenizerStep& settings, const std::string& model_type,
                       std::string_view otherwise) {
    std::string name = settings.text_or("tokenizer_class", "");
    if (name.ends_with("Fast")) name.resize(name.size() - 4);
    if (!name.empty() || model_type.empty()) return name.empty() ? std::string(otherwise) : name;
    for (const TokenizerClass& each : kClasses)
        if (each.model_types.find(model_type + ' ') != std::string_view::npos)
            return std::string(each.name);
    return fmt::format("of {}", model_type);
}

/// The class of the settings; one of another kind of files is refused.
const TokenizerClass& class_of(const TokenizerStep& settings, const std::string& model_type,
                               VocabularyFile file) {
    const auto first = std::ranges::find(kClasses, file, &TokenizerClass::file);
    const std::string name = class_name(settings, model_type, first->name);
    std::string expected;
    for (const TokenizerClass& each : kClasses) {
        if (each.file != file) continue;
        if (each.name == name) return each;
        expected += fmt::format("{}{}", expected.empty() ? "" : " or ", each.name);
    }
    TokenizerStep::fault(
        fmt::format("has the tokenizer '{}', which is not read from {}; expected {}",
                    shortened(name), kFileWords[static_cast<std::size_t>(file)], expected));
}

void refuse_others(const TokenizerStep& settings, const TokenizerClass& of) {
    const VocabularyFile file = of.file;
    std::vector<std::string_view> keys(kWithoutEffect.begin(), kWithoutEffect.end());
    keys.insert(keys.end(), kSpecialTokens.begin(), kSpecialTokens.end());
    keys.insert(keys.end(), {"added_tokens_decoder", "additional_special_tokens",
                             "extra_special_tokens", "split_special_tokens"});
    const bool scored = file == VocabularyFile::sentence_pieces;
    if (file == VocabularyFile::byte_pairs)
        keys.insert(keys.end(), {"add_prefix_space", "add_bos_token"});
    else if (scored)
        keys.insert(keys.end(),
                    {"add_bos_token", "add_eos_token", "sp_model_kwargs",
                     "use_default_system_prompt", "spaces_between_special_tokens", "legacy"});
    else
        keys.insert(keys.end(), {"do_lower_case", "strip_accents", "tokenize_chinese_chars",
                                 "do_basic_tokenize", "never_split"});
    if (is_t5(of)) keys.emplace_back("extra_ids");
    settings.allow_only("the file", keys);
    for (const auto& [key, wanted] :
         {std::pair{"split_special_tokens", false}, std::pair{"add_bos_token", false},
          std::pair{"do_basic_tokenize", true}})
        if (!(scored && key == std::string_view("add_bos_token")) &&
            settings.flag(key, wanted) != wanted)
            TokenizerStep::fault(
                fmt::format("has '{}' = {}, which is not computed here", key, !wanted));
    if (settings.find("never_split") != nullptr)
        TokenizerStep::fault("has 'never_split', which is not computed here");
}

/// added_tokens of a tokenizer.json: those that the settings number, then those that they, or the class, name.
class SpecialTokens {
  public:
    explicit SpecialTokens(const json& vocabulary) : vocabulary_(vocabulary) {}

    void add_numbered(const TokenizerStep& settings) {
        const json* decoder = settings.find("added_tokens_decoder");
        if (decoder == nullptr) return;
        for (const auto& each : decoder->items()) {
            json token = each.value();
            token["id"] = json::parse(each.key(), nullptr, false);
            const Index id = TokenizerStep::id_of(token["id"]);
            numbered_.insert_or_assign(TokenizerStep(token).text("content"), id);
            tokens_.push_back(std::move(token));
        }
        std::ranges::sort(tokens_, {},
                          [](const json& token) { return token.at("id").get<Index>(); });
    }
    /// A name, or an object with 'content'. `must`: it has to have a number.
    void add_named(const json& named, bool must) {
        json token = named.is_object() ? named : json{{"content", named}};
        const std::string content = TokenizerStep(token).text("content");
        if (numbered_.contains(content)) return;
        if (!vocabulary_.contains(content)) {
            if (must)
                TokenizerStep::fault(
                    fmt::format("names the token '{}', which the vocabulary does not have",
                                shortened(content)));
            return;
        }
        token.erase("__type");
        token["id"] = vocabulary_.at(content);
        if (!named.is_object()) token.update({{"special", true}, {"normalized", false}});
        numbered_.insert_or_assign(content, 0);
        tokens_.push_back(std::move(token));
    }
    json list() const { return tokens_; }

  private:
    const json& vocabulary_;
    std::map<std::string, Index> numbered_;
    std::vector<json> tokens_;
};

json special_tokens(const TokenizerStep& settings, const TokenizerClass& of,
                    const json& vocabulary) {
    SpecialTokens tokens(vocabulary);
    tokens.add_numbered(settings);
    for (const std::string_view key : kSpecialTokens)
        if (const json* named = settings.find(key.data())) tokens.add_named(*named, true);
    for (const char* key : {"additional_special_tokens", "extra_special_tokens"})
        if (const json* list = settings.find(key))
            for (const json& named : *list) tokens.add_named(named, true);
    for (std::string_view rest = of.special; !rest.empty();) {
        const std::size_t end = std::min(rest.find(' '), rest.size());
        tokens.add_named(rest.substr(0, end), false);
        rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    return tokens.list();
}

/// `settings` as an object, and what `make` does of it; a fault names the file of the settings.
template <class Make>
Result<json> with_settings(const TokenizerSettings& settings, Make make) {
    const auto parsed = parse_json(settings.json, settings.where);
    if (!parsed) return tl::unexpected(parsed.error());
    if (!parsed->is_object())
        return bad_input(fmt::format("{} is not a JSON object", settings.where));
    try {
        return make(TokenizerStep(*parsed));
    } catch (const TokenizerFault& found) {
        return bad_input(fmt::format("{} {}", settings.where, found.sentence));
    } catch (const json::exception&) {
        return bad_input(
            fmt::format("{} has no settings in the format of Hugging Face", settings.where));
    }
}

/// T5's own tokens behind the pieces, <extra_id_99> the first, where these do not have them; they take the spaces around them.
void add_extra_ids(const TokenizerStep& settings, ScoredPieces& pieces, json& vocab) {
    constexpr Index kUsual = 100;
    if (vocab.contains("<extra_id_0>") || vocab.contains("▁<extra_id_0>")) return;
    for (Index n = settings.number_or("extra_ids", kUsual); n-- > 0;) {
        const std::string name = fmt::format("<extra_id_{}>", n);
        const Index id = pieces.size();
        pieces.pieces.push_back({name, kNeverTaken, PieceKind::control});
        vocab[name] = id;
        if (settings.find("added_tokens_decoder") != nullptr) continue;  // which has them
        pieces.added.push_back({{"id", id},
                                {"content", name},
                                {"special", true},
                                {"normalized", false},
                                {"lstrip", true},
                                {"rstrip", true}});
    }
}

/// The lines of a text, without their ends.
std::vector<std::string> lines_of(std::string_view text) {
    std::vector<std::string> lines;
    while (!text.empty()) {
        const std::size_t end = text.find('\n');
        std::string_view line = text.substr(0, end);
        text = end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
        if (line.ends_with('\r')) line.remove_suffix(1);
        lines.push_back(valid_utf8(line));
    }
    return lines;
}

/// The name that the settings have for a special token, or BERT's.
std::string special_name(const TokenizerStep& settings, const char* key, const char* otherwise) {
    const json* named = settings.find(key);
    if (named == nullptr) return otherwise;
    return named->is_object() ? TokenizerStep(*named).text("content") : settings.text(key);
}

json bert_around(const std::string& before, const std::string& after, const json& vocab) {
    const auto part = [](const std::string& name) {
        return json{{"SpecialToken", {{"id", name}}}};
    };
    const auto ids = [&](const std::string& name) {
        return json{{"ids", json::array({vocab.at(name)})}};
    };
    return {{"type", "TemplateProcessing"},
            {"single", json::array({part(before), {{"Sequence", {{"id", "A"}}}}, part(after)})},
            {"special_tokens", {{before, ids(before)}, {after, ids(after)}}}};
}

}  // namespace

Result<Tokenizer> Tokenizer::parse_byte_pairs(std::string_view vocab_json,
                                              std::string_view merges_txt, std::string_view where,
                                              const TokenizerSettings& settings) {
    const auto vocab = parse_json(vocab_json, where);
    if (!vocab) return tl::unexpected(vocab.error());
    json merges = json::array();
    for (std::string& line : lines_of(merges_txt))
        if (!line.empty() && !line.starts_with("#version")) merges.push_back(std::move(line));
    auto made = with_settings(settings, [&](const TokenizerStep& step) {
        const TokenizerClass& of = class_of(step, settings.model_type, VocabularyFile::byte_pairs);
        refuse_others(step, of);
        json root = byte_level_steps(of.digits, step.flag("add_prefix_space", false));
        root["added_tokens"] = special_tokens(step, of, *vocab);
        return root;
    });
    if (!made) return tl::unexpected(made.error());
    (*made)["model"] = {{"type", "BPE"}, {"vocab", *vocab}, {"merges", std::move(merges)}};
    return parse(made->dump(), fmt::format("{} and merges.txt", where));
}

Result<Tokenizer> Tokenizer::parse_word_pieces(std::string_view vocab_txt, std::string_view where,
                                               const TokenizerSettings& settings) {
    json vocab = json::object();
    Index id = 0;
    for (const std::string& piece : lines_of(vocab_txt)) vocab[piece] = id++;
    std::string missing;
    auto made = with_settings(settings, [&](const TokenizerStep& step) {
        const TokenizerClass& of = class_of(step, settings.model_type, VocabularyFile::word_pieces);
        refuse_others(step, of);
        const std::string before = special_name(step, "cls_token", "[CLS]");
        const std::string after = special_name(step, "sep_token", "[SEP]");
        const std::string unknown = special_name(step, "unk_token", "[UNK]");
        for (const std::string& piece : {unknown, after, before})
            if (!vocab.contains(piece)) missing = piece;
        if (!missing.empty()) return json();
        json normalizer = {{"type", "BertNormalizer"},
                           {"lowercase", step.flag("do_lower_case", true)},
                           {"handle_chinese_chars", step.flag("tokenize_chinese_chars", true)}};
        if (step.find("strip_accents") != nullptr)
            normalizer["strip_accents"] = step.flag("strip_accents", true);
        return json{{"normalizer", std::move(normalizer)},
                    {"pre_tokenizer", {{"type", "BertPreTokenizer"}}},
                    {"added_tokens", special_tokens(step, of, vocab)},
                    {"post_processor", bert_around(before, after, vocab)},
                    {"model", {{"type", "WordPiece"}, {"unk_token", unknown}}}};
    });
    if (!made) return tl::unexpected(made.error());
    if (!missing.empty())
        return bad_input(fmt::format("{} has no line '{}'", where, shortened(missing)));
    (*made)["model"]["vocab"] = std::move(vocab);
    return parse(made->dump(), where);
}

Result<Tokenizer> Tokenizer::parse_sentence_pieces(std::string_view tokenizer_model,
                                                   std::string_view where,
                                                   const TokenizerSettings& settings) {
    auto pieces = attn::parse_sentence_pieces(tokenizer_model, where);
    if (!pieces) return tl::unexpected(pieces.error());
    json vocab = json::object();
    for (Index id = pieces->size(); id-- > 0;) vocab[pieces->pieces[id].text] = id;
    auto made = with_settings(settings, [&](const TokenizerStep& step) {
        const TokenizerClass& of =
            class_of(step, settings.model_type, VocabularyFile::sentence_pieces);
        refuse_others(step, of);
        if (const json* kwargs = step.find("sp_model_kwargs"); kwargs && !kwargs->empty())
            TokenizerStep::fault("has 'sp_model_kwargs', which are not computed here");
        const auto role_of = [&](const char* flag, bool otherwise, const char* key,
                                 const char* name, std::vector<Index>& ids) {
            if (!step.flag(flag, otherwise)) return;
            const std::string token = special_name(step, key, name);
            if (!vocab.contains(token))
                TokenizerStep::fault(
                    fmt::format("puts '{}' around a text, which the vocabulary does not have",
                                shortened(token)));
            ids.push_back(vocab.at(token).get<Index>());
        };
        pieces->restarts = step.flag("legacy", true);
        const bool gemma = of.name == "GemmaTokenizer";
        if (is_t5(of)) {
            role_of("", true, "eos_token", "</s>", pieces->after);
            add_extra_ids(step, *pieces, vocab);
        } else {
            role_of("add_bos_token", true, "bos_token", gemma ? "<bos>" : "<s>", pieces->before);
            role_of("add_eos_token", false, "eos_token", gemma ? "<eos>" : "</s>", pieces->after);
        }
        return special_tokens(step, of, vocab);
    });
    if (!made) return tl::unexpected(made.error());
    for (json& token : *made)
        if (std::ranges::none_of(pieces->added, [&](const json& each) {
                return each.at("content") == token.at("content");
            }))
            pieces->added.push_back(std::move(token));
    return of_pieces(*pieces, where);
}

namespace {

/// What stands beside the files of a vocabulary.
Result<TokenizerSettings> settings_in(const std::filesystem::path& folder) {
    TokenizerSettings settings;
    if (is_there(folder / "added_tokens.json"))
        return bad_input(fmt::format("{} is not supported; expected a tokenizer.json beside it",
                                     (folder / "added_tokens.json").string()));
    if (const auto config = folder / "config.json"; is_there(config)) {
        settings.where = config.string();
        const auto stated = read_json_file(config);
        if (stated && stated->is_object() && stated->contains("model_type") &&
            stated->at("model_type").is_string())
            settings.model_type = stated->at("model_type").get<std::string>();
    }
    if (const auto file = folder / "tokenizer_config.json"; is_there(file)) {
        auto text = read_text_file(file);
        if (!text) return tl::unexpected(text.error());
        settings.json = *std::move(text);
        settings.where = file.string();
    }
    return settings;
}

}  // namespace

Result<Tokenizer> Tokenizer::open(const std::filesystem::path& folder) {
    const auto there = [&](const char* name) { return is_there(folder / name); };
    const auto text = [&](const char* name) { return read_text_file(folder / name); };
    if (there("tokenizer.json"))
        return text("tokenizer.json").and_then([&](const std::string& json_text) {
            return parse(json_text, (folder / "tokenizer.json").string());
        });
    const auto settings = settings_in(folder);
    if (!settings) return tl::unexpected(settings.error());
    if (there("vocab.json") && there("merges.txt")) {
        const auto vocab = text("vocab.json");
        const auto merges = text("merges.txt");
        if (!vocab) return tl::unexpected(vocab.error());
        if (!merges) return tl::unexpected(merges.error());
        return parse_byte_pairs(*vocab, *merges, (folder / "vocab.json").string(), *settings);
    }
    if (there("vocab.txt"))
        return text("vocab.txt").and_then([&](const std::string& lines) {
            return parse_word_pieces(lines, (folder / "vocab.txt").string(), *settings);
        });
    for (const char* name : {"tokenizer.model", "spiece.model"})
        if (there(name))
            return text(name).and_then([&](const std::string& bytes) {
                return parse_sentence_pieces(bytes, (folder / name).string(), *settings);
            });
    return bad_input(fmt::format(
        "{} has no tokenizer: expected tokenizer.json, vocab.json with merges.txt, vocab.txt, "
        "tokenizer.model or spiece.model",
        folder.string()));
}

}  // namespace attn
