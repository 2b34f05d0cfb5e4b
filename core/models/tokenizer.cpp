#include "core/models/tokenizer.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "core/io/file.h"
#include "core/io/json.h"
#include "core/models/rewrite.h"
#include "core/models/tokenizer_parts.h"
#include "core/models/unicode.h"
#include "core/text.h"

namespace attn {
namespace {

using nlohmann::json;

/// Text as a person reads it: spaces visible, what is no text by bytes.
std::string visible(std::string_view bytes) {
    std::string text;
    for (std::size_t at = 0; at < bytes.size();) {
        const CodePoint c = first_code_point(bytes.substr(at));
        const bool no_text = c.value == kReplacement && c.bytes == 1;
        if (no_text || c.value < 0x20 || c.value == 0x7F)
            text += fmt::format("<0x{:02X}>", static_cast<unsigned char>(bytes[at]));
        else if (c.value == U' ')
            text += kSpacePiece;
        else
            append_code_point(text, c.value);
        at += c.bytes;
    }
    return text;
}

}  // namespace

void Tokenizer::Parts::encode_plain(std::string_view text, std::vector<Piece>& out) const {
    std::string normal(text);
    for (const Rewrite& rewrite : rewrites) normal = rewrite(normal);
    if (normal.empty()) return;
    Words words{std::move(normal)};
    for (const Split& split : splits) {
        Words next;
        for (const std::string& word : words)
            std::ranges::move(split(word), std::back_inserter(next));
        words = std::move(next);
    }
    for (const std::string& word : words) model->cut(word, out);
}

void Tokenizer::Parts::encode(std::string_view text, std::vector<Piece>& out) const {
    std::size_t from = 0;
    for (std::size_t at = 0; at < text.size();) {
        const auto found = std::ranges::find_if(added, [&](const AddedToken& each) {
            return text.substr(at).starts_with(each.content);
        });
        if (found == added.end()) {
            at += first_code_point(text.substr(at)).bytes;
            continue;
        }
        encode_plain(trimmed(text.substr(from, at - from), false, found->strips_left), out);
        out.push_back({found->id, {}});
        at += found->content.size();
        if (found->strips_right) at = text.size() - trimmed(text.substr(at), true, false).size();
        from = at;
    }
    encode_plain(text.substr(from), out);
}

Tokenizer::Tokenizer(std::unique_ptr<const Parts> parts) : parts_(std::move(parts)) {}
Tokenizer::Tokenizer(Tokenizer&&) noexcept = default;
Tokenizer& Tokenizer::operator=(Tokenizer&&) noexcept = default;
Tokenizer::~Tokenizer() = default;

std::vector<ModelToken> Tokenizer::encode(std::string_view text) const {
    std::vector<Piece> pieces;
    for (const Index id : parts_->before) pieces.push_back({id, {}});
    parts_->encode(valid_utf8(text), pieces);
    for (const Index id : parts_->after) pieces.push_back({id, {}});
    std::vector<ModelToken> tokens;
    for (Piece& piece : pieces)
        tokens.push_back(
            {piece.id, piece.unknown.empty() ? shown(piece.id) : std::move(piece.unknown)});
    return tokens;
}

Index Tokenizer::size() const {
    const Index last = parts_->added_words.empty() ? -1 : parts_->added_words.rbegin()->first;
    return std::max(parts_->vocabulary->size(), last + 1);
}

std::string Tokenizer::shown(Index id) const {
    if (const auto found = parts_->added_words.find(id); found != parts_->added_words.end())
        return found->second;
    const std::string_view piece = parts_->vocabulary->text(id);
    return parts_->bytes_are_letters ? visible(letters_as_bytes(piece)) : std::string(piece);
}

// ---- other files than tokenizer.json

Result<Tokenizer> Tokenizer::parse_byte_pairs(std::string_view vocab_json,
                                              std::string_view merges_txt, std::string_view where) {
    const auto parsed = parse_json(vocab_json, where);
    if (!parsed) return tl::unexpected(parsed.error());
    json merges = json::array();
    for (std::string_view rest = merges_txt; !rest.empty();) {
        const std::size_t end = rest.find('\n');
        std::string_view line = rest.substr(0, end);
        rest = end == std::string_view::npos ? std::string_view{} : rest.substr(end + 1);
        if (line.ends_with('\r')) line.remove_suffix(1);
        if (line.empty() || line.starts_with("#version")) continue;
        merges.push_back(valid_utf8(line));
    }
    json root = {{"model", {{"type", "BPE"}, {"vocab", *parsed}, {"merges", std::move(merges)}}},
                 {"pre_tokenizer", {{"type", "ByteLevel"}, {"add_prefix_space", false}}}};
    if (parsed->is_object() && parsed->contains("<|endoftext|>"))
        root["added_tokens"] =
            json::array({{{"id", parsed->at("<|endoftext|>")}, {"content", "<|endoftext|>"}}});
    return parse(root.dump(), where);
}

Result<Tokenizer> Tokenizer::parse_word_pieces(std::string_view vocab_txt, bool lower,
                                               std::string_view where) {
    json vocab = json::object();
    json added = json::array();
    Index id = 0;
    for (std::string_view rest = vocab_txt; !rest.empty(); ++id) {
        const std::size_t end = rest.find('\n');
        std::string_view line = rest.substr(0, end);
        rest = end == std::string_view::npos ? std::string_view{} : rest.substr(end + 1);
        if (line.ends_with('\r')) line.remove_suffix(1);
        const std::string piece = valid_utf8(line);
        vocab[piece] = id;
        if (piece == "[CLS]" || piece == "[SEP]" || piece == "[MASK]")
            added.push_back({{"id", id}, {"content", piece}});
    }
    for (const char* piece : {"[CLS]", "[SEP]", "[UNK]"})
        if (!vocab.contains(piece))
            return bad_input(fmt::format("{} has no line '{}'", where, piece));
    const json special = [&](const char* name) {
        return json{{"SpecialToken", {{"id", name}}}};
    }("[CLS]");
    const json root = {{"model", {{"type", "WordPiece"}, {"vocab", std::move(vocab)}}},
                       {"normalizer", {{"type", "BertNormalizer"}, {"lowercase", lower}}},
                       {"pre_tokenizer", {{"type", "BertPreTokenizer"}}},
                       {"added_tokens", std::move(added)},
                       {"post_processor",
                        {{"type", "TemplateProcessing"},
                         {"single", json::array({special,
                                                 {{"Sequence", {{"id", "A"}}}},
                                                 {{"SpecialToken", {{"id", "[SEP]"}}}}})}}}};
    return parse(root.dump(), where);
}

Result<Tokenizer> Tokenizer::open(const std::filesystem::path& folder) {
    const auto there = [&](const char* name) { return std::filesystem::exists(folder / name); };
    const auto text = [&](const char* name) { return read_text_file(folder / name); };
    if (there("tokenizer.json"))
        return text("tokenizer.json").and_then([&](const std::string& json_text) {
            return parse(json_text, (folder / "tokenizer.json").string());
        });
    if (there("vocab.json") && there("merges.txt")) {
        const auto vocab = text("vocab.json");
        const auto merges = text("merges.txt");
        if (!vocab) return tl::unexpected(vocab.error());
        if (!merges) return tl::unexpected(merges.error());
        return parse_byte_pairs(*vocab, *merges, (folder / "vocab.json").string());
    }
    if (there("vocab.txt"))
        return text("vocab.txt").and_then([&](const std::string& lines) {
            return parse_word_pieces(lines, true, (folder / "vocab.txt").string());
        });
    return bad_input(fmt::format(
        "{} has no tokenizer: expected tokenizer.json, vocab.json with merges.txt, or vocab.txt",
        folder.string()));
}

}  // namespace attn
