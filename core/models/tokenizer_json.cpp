#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "core/io/json.h"
#include "core/models/rewrite.h"
#include "core/models/tokenizer_parts.h"
#include "core/models/unicode.h"
#include "core/text.h"

namespace attn {
namespace {

using nlohmann::json;

/// Reads tokenizer.json; the first fault is thrown within this file and caught in parse().
struct Fault {
    std::string sentence;
};
[[noreturn]] void fault(std::string sentence) { throw Fault{std::move(sentence)}; }

const json& need(const json& object, const char* key) {
    if (!object.is_object() || !object.contains(key)) fault(fmt::format("has no '{}'", key));
    return object.at(key);
}

std::string text_of(const json& object, const char* key) {
    const json& value = need(object, key);
    if (!value.is_string()) fault(fmt::format("has '{}' that is no text", key));
    return value.get<std::string>();
}

/// A text or nothing.
std::string text_or(const json& object, const char* key, std::string otherwise) {
    const auto found = object.find(key);
    return found != object.end() && found->is_string() ? found->get<std::string>() : otherwise;
}

bool flag(const json& object, const char* key, bool otherwise) {
    const auto found = object.find(key);
    return found != object.end() && found->is_boolean() ? found->get<bool>() : otherwise;
}

/// Ids are below this: far more than any vocabulary has, and few enough to be held.
constexpr Index kMostTokens = Index{1} << 21;

Index id_of(const json& value) {
    if (!value.is_number_integer() || value.get<std::int64_t>() < 0 ||
        value.get<std::int64_t>() >= kMostTokens)
        fault(fmt::format("has a token number {}", shortened(value.dump())));
    return value.get<Index>();
}

const json* part(const json& object, const char* key) {
    const auto found = object.find(key);
    return found == object.end() || found->is_null() ? nullptr : &*found;
}

void add_bert_rewrites(const json& step, std::vector<Rewrite>& rewrites) {
    const bool lower = flag(step, "lowercase", true);
    if (flag(step, "clean_text", true)) rewrites.push_back(cleaned);
    if (flag(step, "handle_chinese_chars", true)) rewrites.push_back(spaced_cjk);
    if (flag(step, "strip_accents", lower))
        rewrites.push_back(
            [](std::string_view text) { return without_marks(normal_form(text, NormalForm::d)); });
    if (lower) rewrites.push_back(lower_case);
}

Rewrite form(NormalForm which) {
    return [which](std::string_view text) { return normal_form(text, which); };
}

void add_rewrites(const json& step, std::vector<Rewrite>& rewrites) {
    const std::string type = text_of(step, "type");
    if (type == "Sequence") {
        for (const json& each : need(step, "normalizers")) add_rewrites(each, rewrites);
    } else if (type == "NFC") {
        rewrites.push_back(form(NormalForm::c));
    } else if (type == "NFD") {
        rewrites.push_back(form(NormalForm::d));
    } else if (type == "NFKC") {
        rewrites.push_back(form(NormalForm::kc));
    } else if (type == "NFKD") {
        rewrites.push_back(form(NormalForm::kd));
    } else if (type == "Lowercase") {
        rewrites.push_back(lower_case);
    } else if (type == "StripAccents") {
        rewrites.push_back(without_marks);
    } else if (type == "BertNormalizer") {
        add_bert_rewrites(step, rewrites);
    } else if (type == "Prepend") {
        rewrites.push_back([with = text_of(step, "prepend")](std::string_view text) {
            return text.empty() ? std::string() : with + std::string(text);
        });
    } else if (type == "Replace" && need(step, "pattern").contains("String")) {
        rewrites.push_back([from = text_of(step.at("pattern"), "String"),
                            to = text_of(step, "content")](std::string_view text) {
            return replaced(text, from, to);
        });
    } else if (type == "Strip") {
        rewrites.push_back([left = flag(step, "strip_left", true),
                            right = flag(step, "strip_right", true)](std::string_view text) {
            return trimmed(text, left, right);
        });
    } else {
        fault(fmt::format("has the normalizer '{}', which is not known here", type));
    }
}

constexpr std::string_view kGpt2Expression =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";
constexpr std::string_view kLlama3Start =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|)";
constexpr std::string_view kLlama3End = R"(| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";

Split expression(const std::string& text) {
    if (text == kGpt2Expression) return split_gpt2;
    for (const auto& [digits, written] : {std::pair{3, R"(\p{N}{1,3})"}, std::pair{1, R"(\p{N})"}})
        if (text == fmt::format("{}{}{}", kLlama3Start, written, kLlama3End))
            return [digits = digits](std::string_view word) { return split_llama3(word, digits); };
    fault(fmt::format("splits by the expression '{}', which is not known here", shortened(text)));
}

/// Spaces become "▁", and one stands before the text.
Split metaspace(const json& step) {
    const std::string scheme =
        text_or(step, "prepend_scheme", flag(step, "add_prefix_space", true) ? "always" : "never");
    const std::string sign = text_or(step, "replacement", std::string(kSpacePiece));
    if (sign != kSpacePiece) fault(fmt::format("has '{}' for spaces; expected '▁'", sign));
    const bool prepends = scheme != "never";
    const bool splits = flag(step, "split", true);
    return [prepends, splits](std::string_view word) {
        std::string text = replaced(word, " ", kSpacePiece);
        if (prepends && !text.starts_with(kSpacePiece)) text.insert(0, kSpacePiece);
        return splits ? split_metaspace(text) : Words{text};
    };
}

/// Whether bytes become letters on the way.
bool add_splits(const json& step, std::vector<Split>& splits) {
    const std::string type = text_of(step, "type");
    if (type == "Sequence") {
        bool letters = false;
        for (const json& each : need(step, "pretokenizers")) letters |= add_splits(each, splits);
        return letters;
    }
    if (type == "ByteLevel") {
        if (flag(step, "add_prefix_space", true))
            splits.push_back([](std::string_view word) {
                return Words{word.starts_with(' ') ? std::string(word) : ' ' + std::string(word)};
            });
        if (flag(step, "use_regex", true)) splits.push_back(split_gpt2);
        splits.push_back([](std::string_view word) { return Words{bytes_as_letters(word)}; });
        return true;
    }
    if (type == "Split" && need(step, "pattern").contains("Regex") &&
        text_of(step, "behavior") == "Isolated" && !flag(step, "invert", false))
        splits.push_back(expression(text_of(step.at("pattern"), "Regex")));
    else if (type == "Metaspace")
        splits.push_back(metaspace(step));
    else if (type == "BertPreTokenizer")
        splits.push_back(split_bert);
    else
        fault(fmt::format("has the pre_tokenizer '{}', which is not known here", type));
    return false;
}

std::string_view view(const json& text) { return text.get_ref<const std::string&>(); }

/// What a model has a million of, taken as it is read. The first fault of each is kept until the model asks for it.
struct Pieces {
    std::shared_ptr<Vocabulary> vocabulary = std::make_shared<Vocabulary>();  // of an object
    MergeList merges;
    std::string fault_of_vocabulary = {}, fault_of_merges = {};

    bool take_piece(const std::string& text, const json& id) {
        try {
            return vocabulary->add(text, id_of(id));
        } catch (Fault& found) {
            if (fault_of_vocabulary.empty()) fault_of_vocabulary = std::move(found.sentence);
            return true;
        }
    }

    /// "a b" or ["a", "b"].
    bool take_merge(const json& merge) {
        if (!fault_of_merges.empty()) return true;
        if (merge.is_array() && merge.size() == 2 && merge[0].is_string() && merge[1].is_string()) {
            merges.add(view(merge[0]), view(merge[1]));
        } else if (!merge.is_string()) {
            fault_of_merges = "has a merge that is no pair of texts";
        } else if (const std::size_t gap = view(merge).find(' '); gap == std::string::npos) {
            fault_of_merges =
                fmt::format("has the merge '{}'; expected two texts", shortened(view(merge)));
        } else {
            merges.add(view(merge).substr(0, gap), view(merge).substr(gap + 1));
        }
        return true;
    }
};

Result<json> read_taking(std::string_view text, std::string_view where, Pieces& pieces) {
    const std::array<JsonStream, 2> streams{JsonStream{"model", "vocab", json::value_t::object,
                                                       [&](const std::string& key, const json& id) {
                                                           return pieces.take_piece(key, id);
                                                       }},
                                            JsonStream{"model", "merges", json::value_t::array,
                                                       [&](const std::string&, const json& merge) {
                                                           return pieces.take_merge(merge);
                                                       }}};
    return parse_json(text, where, streams);
}

std::shared_ptr<Vocabulary> vocabulary_of(const json& model, const Pieces& pieces) {
    if (!need(model, "vocab").is_object()) fault("has a 'vocab' that is no object");
    if (!pieces.fault_of_vocabulary.empty()) fault(pieces.fault_of_vocabulary);
    return pieces.vocabulary;
}

MergeList merges_of(const json& model, Pieces& pieces) {
    const json& merges = need(model, "merges");
    if (!merges.is_array() && !merges.empty()) fault("has 'merges' that are no list");
    if (!pieces.fault_of_merges.empty()) fault(pieces.fault_of_merges);
    return std::move(pieces.merges);
}

std::unique_ptr<const PieceModel> taken(Result<std::unique_ptr<const PieceModel>> model) {
    if (!model) fault(model.error().sentence);
    return *std::move(model);
}

std::unique_ptr<const PieceModel> byte_pairs_of(const json& model, Pieces& pieces,
                                                std::shared_ptr<Vocabulary>& vocabulary,
                                                bool bytes_are_letters) {
    vocabulary = vocabulary_of(model, pieces);
    BytePairs settings;
    settings.merges = merges_of(model, pieces);
    settings.whole_words = flag(model, "ignore_merges", false);
    settings.unknown.by_bytes = flag(model, "byte_fallback", false);
    settings.unknown.joined = flag(model, "fuse_unk", false);
    for (const char* key : {"continuing_subword_prefix", "end_of_word_suffix"})
        if (!text_or(model, key, "").empty())
            fault(fmt::format("has '{}', which is not known here", key));
    if (const json* unknown = part(model, "unk_token"); unknown && unknown->is_string())
        settings.unknown.id = vocabulary->find(unknown->get<std::string>());
    if (bytes_are_letters) settings.unknown = {};
    return taken(byte_pairs(vocabulary, settings, "model"));
}

std::unique_ptr<const PieceModel> unigram_of(const json& model,
                                             std::shared_ptr<Vocabulary>& vocabulary) {
    vocabulary = std::make_shared<Vocabulary>();
    std::vector<double> scores;
    if (!need(model, "vocab").is_array()) fault("has a 'vocab' that is no list");
    for (const json& row : need(model, "vocab")) {
        if (!row.is_array() || row.size() != 2 || !row[0].is_string() || !row[1].is_number())
            fault("has a 'vocab' row that is no [piece, score]");
        vocabulary->add(view(row[0]), static_cast<Index>(scores.size()));
        scores.push_back(row[1].get<double>());
    }
    Unknown unknown;
    unknown.by_bytes = flag(model, "byte_fallback", false);
    unknown.joined = true;
    if (const json* id = part(model, "unk_id")) unknown.id = id_of(*id);
    if (unknown.id && *unknown.id >= std::ssize(scores))
        fault(fmt::format("has 'unk_id' = {} of {} pieces", *unknown.id, scores.size()));
    return unigram(vocabulary, std::move(scores), unknown);
}

std::unique_ptr<const PieceModel> word_pieces_of(const json& model, const Pieces& pieces,
                                                 std::shared_ptr<Vocabulary>& vocabulary) {
    vocabulary = vocabulary_of(model, pieces);
    WordPieces settings;
    const std::string unknown = text_or(model, "unk_token", "[UNK]");
    const auto id = vocabulary->find(unknown);
    if (!id) fault(fmt::format("has no piece '{}' for unknown words", unknown));
    settings.unknown = *id;
    settings.continues = text_or(model, "continuing_subword_prefix", "##");
    if (const json* most = part(model, "max_input_chars_per_word"))
        settings.longest_word = static_cast<std::size_t>(id_of(*most));
    return word_pieces(vocabulary, std::move(settings));
}

std::vector<AddedToken> added_tokens(const json& list) {
    std::vector<AddedToken> added;
    for (const json& each : list) {
        AddedToken token{text_of(each, "content"), id_of(need(each, "id")),
                         flag(each, "lstrip", false), flag(each, "rstrip", false)};
        if (!token.content.empty()) added.push_back(std::move(token));
    }
    std::ranges::stable_sort(added, std::greater<>(),
                             [](const AddedToken& each) { return each.content.size(); });
    return added;
}

/// The ids before and after a text.
struct Around {
    std::vector<Index> before, after;
};

void read_template(const json& step, const std::function<Index(const std::string&)>& find,
                   Around& around) {
    bool text_seen = false;
    for (const json& each : need(step, "single")) {
        if (each.contains("Sequence")) {
            text_seen = true;
            continue;
        }
        const Index id = find(text_of(need(each, "SpecialToken"), "id"));
        (text_seen ? around.after : around.before).push_back(id);
    }
}

void read_around(const json& step, const std::function<Index(const std::string&)>& find,
                 Around& around) {
    const std::string type = text_of(step, "type");
    if (type == "Sequence") {
        for (const json& each : need(step, "processors")) read_around(each, find, around);
    } else if (type == "TemplateProcessing") {
        read_template(step, find, around);
    } else if (type == "BertProcessing" || type == "RobertaProcessing") {
        around.before.push_back(id_of(need(step, "cls").at(1)));
        around.after.push_back(id_of(need(step, "sep").at(1)));
    } else if (type != "ByteLevel") {
        fault(fmt::format("has the post_processor '{}', which is not known here", type));
    }
}

}  // namespace

Result<Tokenizer> Tokenizer::parse(std::string_view tokenizer_json, std::string_view where) {
    Pieces pieces;
    const auto parsed = read_taking(tokenizer_json, where, pieces);
    if (!parsed) return tl::unexpected(parsed.error());
    try {
        const json& root = *parsed;
        auto parts = std::make_unique<Parts>();
        const json& model = need(root, "model");
        if (const json* step = part(root, "normalizer")) add_rewrites(*step, parts->rewrites);
        if (const json* step = part(root, "pre_tokenizer"))
            parts->bytes_are_letters = add_splits(*step, parts->splits);
        std::shared_ptr<Vocabulary> vocabulary;
        const std::string type = text_or(model, "type", "BPE");
        if (type == "BPE")
            parts->model = byte_pairs_of(model, pieces, vocabulary, parts->bytes_are_letters);
        else if (type == "Unigram")
            parts->model = unigram_of(model, vocabulary);
        else if (type == "WordPiece")
            parts->model = word_pieces_of(model, pieces, vocabulary);
        else
            fault(fmt::format("has the model '{}'; expected BPE, Unigram or WordPiece", type));
        parts->vocabulary = vocabulary;
        if (const json* list = part(root, "added_tokens")) parts->added = added_tokens(*list);
        for (const AddedToken& each : parts->added) parts->added_words[each.id] = each.content;
        Around around;
        const auto find = [&](const std::string& text) {
            for (const AddedToken& each : parts->added)
                if (each.content == text) return each.id;
            if (const auto id = vocabulary->find(text)) return *id;
            fault(fmt::format("puts '{}' around a text, which is no token", shortened(text)));
        };
        if (const json* step = part(root, "post_processor")) read_around(*step, find, around);
        parts->before = std::move(around.before);
        parts->after = std::move(around.after);
        return Tokenizer(std::move(parts));
    } catch (const Fault& found) {
        return bad_input(fmt::format("{} {}", where, found.sentence));
    } catch (const json::exception&) {
        return bad_input(fmt::format("{} is no tokenizer as Hugging Face writes it", where));
    }
}

}  // namespace attn
