#include "core/models/tokenizer.h"

#include <algorithm>
#include <charconv>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "core/models/rewrite.h"
#include "core/models/tokenizer_parts.h"
#include "core/models/unicode.h"
#include "core/text.h"

namespace attn {
namespace {

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

bool begins_with_word(std::string_view text) {
    return !text.empty() && is_word(first_code_point(text).value);
}

bool ends_with_word(std::string_view text) {
    std::size_t last = text.size();
    while (last > 0 && (static_cast<unsigned char>(text[--last]) & 0xC0U) == 0x80U) {
    }
    return begins_with_word(text.substr(last));
}

/// A token of a text, from … to with the spaces that it strips.
struct FoundToken {
    std::size_t from, to;
    Index id;
};

/// Of a step that finds nothing to do, for TextBudget.
constexpr std::size_t kWorkOfStep = 100;
/// Of a token that may begin somewhere, for TextBudget.
constexpr std::size_t kWorkOfToken = 10;

/// From the left the longest. One that is no word of its own is passed over as a whole.
std::vector<FoundToken> tokens_in(std::string_view text, const std::vector<AddedToken>& added,
                                  TextBudget& budget) {
    std::vector<FoundToken> found;
    std::size_t done = 0;
    for (std::size_t at = 0; at < text.size() && !added.empty();) {
        const auto begins_alike = std::ranges::equal_range(
            added, text[at], {}, [](const AddedToken& each) { return each.content.front(); });
        const auto token = std::ranges::find_if(begins_alike, [&](const AddedToken& each) {
            budget.spend(kWorkOfToken);
            return text.substr(at).starts_with(each.content);
        });
        if (token == begins_alike.end()) {
            at += first_code_point(text.substr(at)).bytes;
            continue;
        }
        const std::string_view left = text.substr(0, at);
        at += token->content.size();
        const std::string_view right = text.substr(at);
        if (token->single_word && (ends_with_word(left) || begins_with_word(right))) continue;
        const std::size_t from =
            token->strips_left ? std::max(left.size() - spaces_at_end(left), done) : left.size();
        done = at + (token->strips_right ? spaces_at_start(right) : 0);
        found.push_back({from, done, token->id});
    }
    return found;
}

/// Tokens that are found in the text, and what `between` makes of the parts between them; `first` of the one where it begins.
template <class Between>
void cut_at(std::string_view text, const std::vector<AddedToken>& added, TextBudget& budget,
            std::vector<Piece>& out, Between between) {
    std::size_t from = 0;
    for (const FoundToken& token : tokens_in(text, added, budget)) {
        if (from < token.from) between(text.substr(from, token.from - from), from == 0);
        out.push_back({token.id, {}});
        from = token.to;
    }
    if (from < text.size()) between(text.substr(from), from == 0);
}

}  // namespace

std::string rewritten(std::string_view text, const std::vector<Rewrite>& rewrites,
                      TextBudget& budget) {
    std::string result(text);
    for (const Rewrite& rewrite : rewrites) {
        budget.begin(rewrite.name);
        budget.spend(kWorkOfStep + result.size());
        result = rewrite.apply(result, budget);
        budget.check_size(result.size());
    }
    return result;
}

void Tokenizer::Parts::encode_plain(std::string_view text, bool first, TextBudget& budget,
                                    std::vector<Piece>& out) const {
    Words words{std::string(text)};
    for (const Split& split : splits) {
        budget.begin(split.name);
        Words next;
        std::size_t bytes = 0;
        for (const std::string& word : words) {
            budget.spend(kWorkOfStep + word.size());
            for (std::string& part : split.apply(word, first && &word == words.data(), budget)) {
                bytes += part.size();
                next.push_back(std::move(part));
            }
            budget.check_size(bytes);
        }
        words = std::move(next);
    }
    budget.begin("the model");
    for (const std::string& word : words) {
        model->cut(word, budget, out);
        budget.check_size(out.size());
    }
}

std::vector<Piece> Tokenizer::Parts::encode(std::string_view text, TextBudget& budget) const {
    std::vector<Piece> pieces;
    constexpr std::string_view kFinding = "the search for added tokens";
    budget.begin(kFinding);
    cut_at(text, added, budget, pieces, [&](std::string_view part, bool part_first) {
        const std::string changed = rewritten(part, rewrites, budget);
        budget.begin(kFinding);
        cut_at(changed, added_to_rewritten, budget, pieces,
               [&](std::string_view plain, bool first) {
                   encode_plain(plain, (part_first || restarts) && first, budget, pieces);
               });
    });
    return pieces;
}

void Tokenizer::Parts::truncate(std::vector<Piece>& pieces) const {
    if (!truncation) return;
    const auto most = static_cast<std::size_t>(truncation->most) - before.size() - after.size();
    if (pieces.size() <= most) return;
    const auto drop = static_cast<std::ptrdiff_t>(pieces.size() - most);
    if (truncation->keeps_end)
        pieces.erase(pieces.begin(), pieces.begin() + drop);
    else
        pieces.erase(pieces.end() - drop, pieces.end());
}

Tokenizer::Tokenizer(std::unique_ptr<const Parts> parts) : parts_(std::move(parts)) {}
Tokenizer::Tokenizer(const Tokenizer&) = default;
Tokenizer::Tokenizer(Tokenizer&&) noexcept = default;
Tokenizer& Tokenizer::operator=(Tokenizer&&) noexcept = default;
Tokenizer::~Tokenizer() = default;

std::vector<ModelToken> Tokenizer::encode(std::string_view text) const {
    std::vector<ModelToken> tokens;
    for (const Index id : parts_->before) tokens.push_back({id, shown(id)});
    std::ranges::move(encode_alone(text), std::back_inserter(tokens));
    for (const Index id : parts_->after) tokens.push_back({id, shown(id)});
    return tokens;
}

std::vector<ModelToken> Tokenizer::encode_alone(std::string_view text) const {
    const std::string valid = valid_utf8(text);
    TextBudget budget(parts_->file, valid.size());
    std::vector<Piece> pieces = parts_->encode(valid, budget);
    parts_->truncate(pieces);
    budget.begin("the text of the tokens");
    std::vector<ModelToken> tokens;
    std::size_t bytes = 0;
    for (Piece& piece : pieces) {
        std::string label = piece.unknown.empty()       ? shown(piece.id)
                            : parts_->bytes_are_letters ? visible(letters_as_bytes(piece.unknown))
                                                        : std::move(piece.unknown);
        budget.check_size(bytes += label.size());
        tokens.push_back({piece.id, std::move(label)});
    }
    return tokens;
}

std::optional<Index> Tokenizer::longest() const {
    if (!parts_->truncation) return std::nullopt;
    return parts_->truncation->most;
}

bool Tokenizer::is_word_level() const { return parts_->is_word_level; }

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

std::string Tokenizer::text(Index id) const {
    if (const auto found = parts_->added_words.find(id); found != parts_->added_words.end())
        return found->second;
    const std::string_view piece = parts_->vocabulary->text(id);
    if (parts_->bytes_are_letters) return letters_as_bytes(piece);
    if (parts_->is_word_level) return " " + std::string(piece);
    for (int byte = 0; byte < 256 && piece.starts_with("<0x"); ++byte)
        if (piece == byte_piece(static_cast<unsigned char>(byte)))
            return std::string(1, static_cast<char>(byte));
    std::string text;
    for (std::size_t at = 0; at < piece.size();) {
        const bool space = piece.substr(at).starts_with(kSpacePiece);
        text += space ? ' ' : piece[at];
        at += space ? kSpacePiece.size() : 1;
    }
    return text;
}

std::optional<std::vector<ModelToken>> numbered_tokens(std::string_view text) {
    constexpr std::string_view kBetween = " ,";
    std::vector<ModelToken> tokens;
    while (text.find_first_not_of(kBetween) != std::string_view::npos) {
        text.remove_prefix(text.find_first_not_of(kBetween));
        const std::string_view word = text.substr(0, text.find_first_of(kBetween));
        text.remove_prefix(word.size());
        Index id = -1;
        const auto [end, fault] = std::from_chars(word.data(), word.data() + word.size(), id);
        if (fault != std::errc() || end != word.data() + word.size() || id < 0) return std::nullopt;
        tokens.push_back({id, fmt::format("#{}", id)});
    }
    return tokens.empty() ? std::nullopt : std::optional(std::move(tokens));
}

}  // namespace attn
