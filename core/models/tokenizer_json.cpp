#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "core/io/json.h"
#include "core/models/sentence_pieces.h"
#include "core/models/tokenizer_parts.h"
#include "core/models/tokenizer_step.h"
#include "core/models/tokenizer_steps.h"
#include "core/text.h"

namespace attn {
namespace {

using nlohmann::json;

[[noreturn]] void fault(std::string sentence) { TokenizerStep::fault(std::move(sentence)); }

std::string_view view(const json& text) { return text.get_ref<const std::string&>(); }

/// What a model has a million of, taken as it is read. The first fault of each is kept until the model asks for it.
struct ReadPieces {
    std::shared_ptr<Vocabulary> vocabulary = std::make_shared<Vocabulary>();  // of an object
    MergeList merges;
    std::string fault_of_vocabulary = {}, fault_of_merges = {};

    bool take_piece(const std::string& text, const json& id) {
        try {
            return vocabulary->add(text, TokenizerStep::id_of(id));
        } catch (TokenizerFault& found) {
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
            fault_of_merges = "has a merge that is not a pair of texts";
        } else if (const std::size_t gap = view(merge).find(' ');
                   gap == std::string::npos || view(merge).rfind(' ') != gap) {
            fault_of_merges =
                fmt::format("has the merge '{}'; expected two texts", shortened(view(merge)));
        } else {
            merges.add(view(merge).substr(0, gap), view(merge).substr(gap + 1));
        }
        return true;
    }
};

Result<json> read_taking(std::string_view text, std::string_view where, ReadPieces& pieces) {
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

std::shared_ptr<Vocabulary> vocabulary_of(const TokenizerStep& model, const ReadPieces& pieces) {
    if (!model.need("vocab").is_object()) fault("has 'vocab': expected an object");
    if (!pieces.fault_of_vocabulary.empty()) fault(pieces.fault_of_vocabulary);
    return pieces.vocabulary;
}

MergeList merges_of(const TokenizerStep& model, ReadPieces& pieces) {
    const json& merges = model.need("merges");
    if (!merges.is_array() && !merges.empty()) fault("has 'merges': expected a list");
    if (!pieces.fault_of_merges.empty()) fault(pieces.fault_of_merges);
    return std::move(pieces.merges);
}

std::unique_ptr<const PieceModel> taken(Result<std::unique_ptr<const PieceModel>> model) {
    if (!model) fault(model.error().text());
    return *std::move(model);
}

/// Whether unknown text is bytes, which the vocabulary has then.
bool falls_back_to_bytes(const TokenizerStep& model, const Vocabulary& vocabulary) {
    if (!model.flag("byte_fallback", false)) return false;
    for (unsigned byte = 0; byte < 256; ++byte)
        if (const std::string piece = byte_piece(static_cast<unsigned char>(byte));
            !vocabulary.find(piece))
            fault(fmt::format("has 'byte_fallback' = true and no piece '{}'; expected all of 256",
                              piece));
    return true;
}

Index unknown_piece(const std::string& piece, const Vocabulary& vocabulary) {
    const auto id = vocabulary.find(piece);
    if (!id) fault(fmt::format("has no piece '{}' for unknown words", shortened(piece)));
    return *id;
}

bool has_all_letters(const Vocabulary& vocabulary) {
    for (int byte = 0; byte < 256; ++byte)
        if (const char one = static_cast<char>(byte); !vocabulary.find(bytes_as_letters({&one, 1})))
            return false;
    return true;
}

std::unique_ptr<const PieceModel> byte_pairs_of(const TokenizerStep& model, ReadPieces& pieces,
                                                std::shared_ptr<Vocabulary>& vocabulary,
                                                bool bytes_are_letters) {
    model.allow_only(
        "the model 'BPE'",
        {"type", "dropout", "unk_token", "continuing_subword_prefix", "end_of_word_suffix",
         "fuse_unk", "byte_fallback", "ignore_merges", "vocab", "merges"});
    vocabulary = vocabulary_of(model, pieces);
    BytePairs settings;
    settings.merges = merges_of(model, pieces);
    settings.whole_words = model.flag("ignore_merges", false);
    settings.unknown.by_bytes = falls_back_to_bytes(model, *vocabulary);
    settings.unknown.joined = model.flag("fuse_unk", false);
    settings.word_end = model.text_or("end_of_word_suffix", "");
    if (!model.text_or("continuing_subword_prefix", "").empty())
        fault("has 'continuing_subword_prefix', which is not known here");
    if (const json* dropout = model.find("dropout"); dropout != nullptr && *dropout != 0.0)
        fault(fmt::format("has 'dropout' = {}; expected none: tokens would be random",
                          shortened(dropout->dump())));
    // What is a byte's letter is never unknown where all are there.
    if (model.find("unk_token") != nullptr && !(bytes_are_letters && has_all_letters(*vocabulary)))
        settings.unknown.id = unknown_piece(model.text("unk_token"), *vocabulary);
    return taken(byte_pairs(vocabulary, settings, "model"));
}

std::unique_ptr<const PieceModel> unigram_of(const TokenizerStep& model,
                                             std::shared_ptr<Vocabulary>& vocabulary) {
    model.allow_only("the model 'Unigram'", {"type", "unk_id", "vocab", "byte_fallback"});
    vocabulary = std::make_shared<Vocabulary>();
    std::vector<double> scores;
    if (!model.need("vocab").is_array()) fault("has 'vocab': expected a list");
    for (const json& row : model.need("vocab")) {
        if (!row.is_array() || row.size() != 2 || !row[0].is_string() || !row[1].is_number())
            fault("has a 'vocab' row that is not [piece, score]");
        vocabulary->add(view(row[0]), static_cast<Index>(scores.size()));
        scores.push_back(row[1].get<double>());
    }
    Unknown unknown;
    unknown.by_bytes = falls_back_to_bytes(model, *vocabulary);
    if (model.find("unk_id") == nullptr) fault("has no 'unk_id'");
    unknown.id = model.number("unk_id");
    if (*unknown.id >= std::ssize(scores))
        fault(fmt::format("has 'unk_id' = {} of {} pieces", *unknown.id, scores.size()));
    return unigram(vocabulary, std::move(scores), unknown);
}

constexpr Index kMostOfWord = 1 << 16;

std::unique_ptr<const PieceModel> word_pieces_of(const TokenizerStep& model,
                                                 const ReadPieces& pieces,
                                                 std::shared_ptr<Vocabulary>& vocabulary) {
    model.allow_only("the model 'WordPiece'", {"type", "unk_token", "continuing_subword_prefix",
                                               "max_input_chars_per_word", "vocab"});
    vocabulary = vocabulary_of(model, pieces);
    WordPieces settings;
    settings.unknown = unknown_piece(model.text_or("unk_token", "[UNK]"), *vocabulary);
    settings.continues = model.text_or("continuing_subword_prefix", "##");
    const Index longest_word = model.number_or("max_input_chars_per_word", 100);
    if (longest_word > kMostOfWord)
        fault(fmt::format("has 'max_input_chars_per_word' = {}; expected at most {}", longest_word,
                          kMostOfWord));
    settings.longest_word = static_cast<std::size_t>(longest_word);
    return word_pieces(vocabulary, std::move(settings));
}

std::unique_ptr<const PieceModel> word_level_of(const TokenizerStep& model,
                                                const ReadPieces& pieces,
                                                std::shared_ptr<Vocabulary>& vocabulary) {
    model.allow_only("the model 'WordLevel'", {"type", "unk_token", "vocab"});
    vocabulary = vocabulary_of(model, pieces);
    return word_level(vocabulary, vocabulary->find(model.text_or("unk_token", "<unk>")));
}

/// Tokens that are found in the text as it is, and in what the rewrites made of it.
struct Added {
    std::vector<AddedToken> as_it_is, rewritten;
    std::map<Index, std::string> words;
};

/// A token's number is the vocabulary's, else the next: Hugging Face's program gives it so, whatever the file says.
class AddedReader {
  public:
    AddedReader(const Vocabulary& vocabulary, Index next, const std::vector<Rewrite>& rewrites,
                const std::string& file)
        : vocabulary_(vocabulary), next_(next), rewrites_(rewrites), file_(file) {}

    Added read(const json& list) {
        TextBudget budget(file_, check_numbers(list));
        for (const bool special : {true, false})  // of two equal ones the special counts
            for (const json& each : list)
                if (TokenizerStep(each).flag("special", false) == special)
                    add(each, special, budget);
        for (auto* tokens : {&added_.as_it_is, &added_.rewritten})
            std::ranges::stable_sort(*tokens, std::less<>(), [](const AddedToken& each) {
                return std::pair(each.content.front(), -std::ssize(each.content));
            });
        return std::move(added_);
    }

  private:
    /// Returns the bytes of all of them.
    std::size_t check_numbers(const json& list) {
        std::size_t bytes = 0;
        for (const json& each : list) {
            const TokenizerStep step(each);
            const std::string content = step.text("content");
            const auto known = vocabulary_.find(content);
            const Index expected = known.value_or(next_);
            const Index id = TokenizerStep::id_of(step.need("id"));
            if (id != expected)
                fault(fmt::format("has the added token '{}' with the number {}; expected {}",
                                  shortened(content), id, expected));
            next_ = std::max(next_, id + 1);
            bytes += content.size();
        }
        return bytes;
    }
    void add(const json& each, bool special, TextBudget& budget) {
        const TokenizerStep step(each);
        step.allow_only("an added token", {"id", "content", "single_word", "lstrip", "rstrip",
                                           "normalized", "special"});
        AddedToken token{step.text("content"), TokenizerStep::id_of(step.need("id")),
                         step.flag("single_word", false), step.flag("lstrip", false),
                         step.flag("rstrip", false)};
        if (token.content.empty()) fault("has an added token without a text");
        added_.words[token.id] = token.content;
        if (!step.flag("normalized", !special)) return added_.as_it_is.push_back(std::move(token));
        const std::string content = token.content;
        token.content = rewritten(content, rewrites_, budget);
        budget.check_size(rewritten_bytes_ += token.content.size());
        if (token.content.empty())
            fault(fmt::format("has the added token '{}', which the normalizer removes entirely",
                              shortened(content)));
        added_.rewritten.push_back(std::move(token));
    }

    const Vocabulary& vocabulary_;
    Index next_;
    const std::vector<Rewrite>& rewrites_;
    const std::string& file_;
    std::size_t rewritten_bytes_ = 0;
    Added added_;
};

/// Far more than any model reads.
constexpr std::size_t kMostAround = 64;

/// The ids before and after a text.
struct Around {
    std::vector<Index> before, after;

    void put(std::vector<Index> first, std::vector<Index> last) {
        if (!before.empty() || !after.empty())
            fault("has two post_processors that put tokens around a text; expected one");
        before = std::move(first);
        after = std::move(last);
    }
};

std::vector<Index> special_ids(const TokenizerStep& step, const std::string& name) {
    const json* all = step.find("special_tokens");
    const json* found = all == nullptr ? nullptr : TokenizerStep(*all).find(name.c_str());
    if (found == nullptr)
        fault(fmt::format("puts '{}' around a text, which 'special_tokens' does not have",
                          shortened(name)));
    const TokenizerStep token(*found);
    token.allow_only("'special_tokens'", {"id", "ids", "tokens"});
    std::vector<Index> ids;
    const json& listed = token.need("ids");
    if (listed.size() > kMostAround)
        fault(fmt::format("has {} of '{}' in 'special_tokens'; expected at most {}",
                          counted(listed.size(), "token"), shortened(name), kMostAround));
    for (const json& id : listed) ids.push_back(TokenizerStep::id_of(id));
    return ids;
}

/// [CLS] $A [SEP]: `pair` is of two texts, and the type of every part is 0, as models have it here.
void read_template(const TokenizerStep& step, Around& around) {
    std::vector<Index> before, after;
    int texts = 0;
    for (const json& each : step.need("single")) {
        const bool text = each.is_object() && each.contains("Sequence");
        const TokenizerStep part(TokenizerStep(each).need(text ? "Sequence" : "SpecialToken"));
        part.allow_only("'single'", {"id", "type_id"});
        if (part.number_or("type_id", 0) != 0)
            fault("has a 'type_id' in 'single' that is not 0, which is not known here");
        if (text && part.text("id") != "A")
            fault("has 'single' with another text than 'A', which is not known here");
        texts += text ? 1 : 0;
        if (!text)
            std::ranges::copy(special_ids(step, part.text("id")),
                              std::back_inserter(texts > 0 ? after : before));
    }
    if (texts != 1)
        fault(fmt::format("has 'single' with {}; expected one", counted(texts, "text")));
    around.put(std::move(before), std::move(after));
}

Index second_of(const TokenizerStep& step, const char* key) {
    return TokenizerStep::id_of(step.need(key).at(1));
}

void read_around(const json& post_processor, Around& around) {
    const TokenizerStep step(post_processor);
    const std::string type = step.text("type");
    const std::string what = fmt::format("the post_processor '{}'", shortened(type));
    if (type == "Sequence") {
        step.allow_only(what, {"type", "processors"});
        for (const json& each : step.need("processors")) read_around(each, around);
    } else if (type == "TemplateProcessing") {
        step.allow_only(what, {"type", "single", "pair", "special_tokens"});
        read_template(step, around);
    } else if (type == "BertProcessing" || type == "RobertaProcessing") {
        step.allow_only(what, {"type", "cls", "sep", "trim_offsets", "add_prefix_space"});
        const Index before = second_of(step, "cls");
        around.put({before}, {second_of(step, "sep")});
    } else if (type == "ByteLevel") {
        step.allow_only(what, {"type", "add_prefix_space", "trim_offsets", "use_regex"});
    } else {
        fault(fmt::format("has the {}, which is not known here", what.substr(4)));
    }
}

Truncation truncation_of(const json& truncation, const Around& around) {
    const TokenizerStep step(truncation);
    step.allow_only("'truncation'", {"max_length", "strategy", "stride", "direction"});
    for (const auto& [key, known] : {std::pair{"strategy", std::array{"LongestFirst", "OnlyFirst"}},
                                     std::pair{"direction", std::array{"Right", "Left"}}})
        if (const std::string stated = step.text_or(key, known[0]);
            stated != known[0] && stated != known[1])
            fault(fmt::format("has '{}' = \"{}\" in 'truncation'; expected {} or {}", key,
                              shortened(stated), known[0], known[1]));
    const Index most = step.number("max_length");
    if (const Index own = std::ssize(around.before) + std::ssize(around.after); most < own)
        fault(fmt::format("has 'max_length' = {} in 'truncation' and {} around a text", most,
                          counted(own, "token")));
    return {most, step.text_or("direction", "Right") == "Left"};
}

/// What makes a text of tokens again: no number depends on it.
void check_decoder(const json& decoder) {
    const TokenizerStep step(decoder);
    const std::string type = step.text("type");
    if (type == "Sequence")
        for (const json& each : step.need("decoders")) check_decoder(each);
    else if (constexpr std::array kKnown{"ByteLevel", "Metaspace", "WordPiece", "ByteFallback",
                                         "Fuse", "Strip", "Replace", "BPEDecoder"};
             std::ranges::find(kKnown, type) == kKnown.end())
        fault(fmt::format("has the decoder '{}', which is not known here", shortened(type)));
}

void check_root(const TokenizerStep& root) {
    root.allow_only("the file", {"version", "truncation", "padding", "added_tokens", "normalizer",
                                 "pre_tokenizer", "post_processor", "decoder", "model"});
    if (const std::string version = root.text_or("version", "1.0"); version != "1.0")
        fault(fmt::format("has 'version' = \"{}\"; expected \"1.0\"", shortened(version)));
    if (const json* decoder = root.find("decoder")) check_decoder(*decoder);
}

struct Made {
    std::unique_ptr<const PieceModel> model;
    std::shared_ptr<Vocabulary> vocabulary;
    Index next = 0;  // number of an added token that the vocabulary does not have
    bool is_word_level = false;
};

Made model_of(const json& object, ReadPieces& pieces, bool bytes_are_letters) {
    const TokenizerStep step(object);
    const std::string type = step.text_or("type", "BPE");
    Made made;
    if (type == "BPE")
        made.model = byte_pairs_of(step, pieces, made.vocabulary, bytes_are_letters);
    else if (type == "Unigram")
        made.model = unigram_of(step, made.vocabulary);
    else if (type == "WordPiece")
        made.model = word_pieces_of(step, pieces, made.vocabulary);
    else if (type == "WordLevel")
        made.model = word_level_of(step, pieces, made.vocabulary);
    else
        fault(fmt::format("has the model '{}'; expected BPE, Unigram, WordPiece or WordLevel",
                          shortened(type)));
    made.is_word_level = type == "WordLevel";
    made.next = type == "Unigram" ? made.vocabulary->size() : made.vocabulary->texts();
    return made;
}

Around around_of(const TokenizerStep& root, const Vocabulary& vocabulary, const Added& added) {
    Around around;
    if (const json* step = root.find("post_processor")) read_around(*step, around);
    if (const std::size_t count = around.before.size() + around.after.size(); count > kMostAround)
        fault(fmt::format("puts {} around a text; expected at most {}", counted(count, "token"),
                          kMostAround));
    for (const auto* ids : {&around.before, &around.after})
        for (const Index id : *ids)
            if (!added.words.contains(id) && vocabulary.text(id).empty())
                fault(fmt::format("puts token {} around a text, which it does not have", id));
    return around;
}

/// What the file says besides its rewrites and splits, which are there.
template <class Parts>
void finish(const TokenizerStep& root, ReadPieces& pieces, Parts& parts) {
    Made made = model_of(root.need("model"), pieces, parts.bytes_are_letters);
    Added added;
    if (const json* list = root.find("added_tokens"))
        added = AddedReader(*made.vocabulary, made.next, parts.rewrites, parts.file).read(*list);
    Around around = around_of(root, *made.vocabulary, added);
    if (const json* step = root.find("truncation")) parts.truncation = truncation_of(*step, around);
    parts.vocabulary = std::move(made.vocabulary);
    parts.model = std::move(made.model);
    parts.is_word_level = made.is_word_level;
    parts.added = std::move(added.as_it_is);
    parts.added_to_rewritten = std::move(added.rewritten);
    parts.added_words = std::move(added.words);
    parts.before = std::move(around.before);
    parts.after = std::move(around.after);
}

/// With the file named in a fault.
template <class Make>
Result<Tokenizer> caught(std::string_view where, Make make) {
    try {
        return make();
    } catch (const TokenizerFault& found) {
        return bad_input(fmt::format("{} {}", where, found.sentence));
    } catch (const Failure& found) {
        return tl::unexpected(found.value());
    } catch (const json::exception&) {
        return bad_input(fmt::format("{} is not a tokenizer in the format of Hugging Face", where));
    }
}

}  // namespace

Result<Tokenizer> Tokenizer::parse(std::string_view tokenizer_json, std::string_view where) {
    ReadPieces pieces;
    const auto parsed = read_taking(tokenizer_json, where, pieces);
    if (!parsed) return tl::unexpected(parsed.error());
    return caught(where, [&] {
        const TokenizerStep root(*parsed);
        auto parts = std::make_unique<Parts>();
        parts->file = where;
        root.need("model");
        check_root(root);
        const json* normalizer = root.find("normalizer");
        if (normalizer != nullptr) parts->rewrites = rewrites_of(*normalizer);
        if (const json* step = root.find("pre_tokenizer")) {
            Splits made = splits_of(*step, normalizer == nullptr || keeps_start(*normalizer));
            parts->splits = std::move(made.splits);
            parts->bytes_are_letters = made.bytes_are_letters;
        }
        finish(root, pieces, *parts);
        return Tokenizer(std::move(parts));
    });
}

Result<Tokenizer> Tokenizer::of_pieces(const ScoredPieces& from, std::string_view where) {
    return caught(where, [&] {
        ReadPieces pieces;
        for (Index id = 0; id < from.size() && !from.unigram; ++id)
            pieces.vocabulary->add(from.pieces[id].text, id);
        if (!from.unigram) pieces.merges = merges_of(from, *pieces.vocabulary);
        auto parts = std::make_unique<Parts>();
        parts->file = where;
        parts->rewrites = rewrites_of(from);
        parts->splits = splits_of(from);
        parts->restarts = from.restarts;
        const json root = root_of(from);
        finish(TokenizerStep(root), pieces, *parts);
        return Tokenizer(std::move(parts));
    });
}

}  // namespace attn
