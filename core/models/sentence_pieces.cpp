#include "core/models/sentence_pieces.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <set>

#include <fmt/format.h>

#include "core/models/rewrite.h"
#include "core/models/tokenizer_step.h"
#include "core/models/unicode.h"
#include "core/text.h"

namespace attn {
namespace {

using nlohmann::json;

/// precompiled_charsmap: the bytes of a double array, whose units of 32 bits are a trie of texts, and the texts that stand for
/// them, each with a 0 at its end. Aoe 1989; github.com/s-yata/darts-clone, include/darts.h.
class CharacterMap {
  public:
    explicit CharacterMap(std::string bytes) : bytes_(std::move(bytes)) {
        const std::size_t length = bytes_.size() < 4 ? bytes_.size() : unit(0);
        if (bytes_.size() < 8 || length % 4 != 0 || length == 0 || length > bytes_.size() - 4)
            TokenizerStep::fault(fmt::format("has a map of characters of {} that is cut off",
                                             counted(bytes_.size(), "byte")));
        units_ = length / 4;
        texts_ = std::string_view(bytes_).substr(4 + length);
    }
    CharacterMap(const CharacterMap&) = delete;
    CharacterMap& operator=(const CharacterMap&) = delete;

    /// Of the longest that begins here, else the code point.
    std::string operator()(std::string_view text, TextBudget& budget) const {
        std::string to;
        while (!text.empty()) {
            std::size_t bytes = 0;
            std::string_view other;
            find(text, budget, bytes, other);
            if (bytes == 0) {
                const CodePoint c = first_code_point(text);
                bytes = c.bytes;
                append_code_point(to, c.value);
            }
            budget.check_size(to.size() + other.size());
            to += other;
            text.remove_prefix(bytes);
        }
        return to;
    }

    /// Of each character, see precompiled_map().
    std::string by_grapheme(std::string_view text, TextBudget& budget) const {
        constexpr std::size_t kMostWhole = 5;  // bytes
        std::string to;
        for (std::string_view rest : graphemes(text)) {
            const auto change = [&](std::string_view part) {
                std::size_t bytes = 0;
                std::string_view other;
                find(part, budget, bytes, other, true);
                budget.check_size(to.size() + other.size());
                if (bytes > 0) to += other;
                return bytes > 0;
            };
            if (rest.size() <= kMostWhole && change(rest)) continue;
            for (; !rest.empty(); rest.remove_prefix(first_code_point(rest).bytes))
                if (const auto one = rest.substr(0, first_code_point(rest).bytes); !change(one))
                    to += one;
        }
        return to;
    }

  private:
    /// The n-th of them; unit 0 counts from the length before them.
    std::uint32_t unit(std::size_t n) const {
        std::uint32_t value = 0;
        for (std::size_t byte = 4; byte-- > 0;)
            value = value << 8U | static_cast<unsigned char>(bytes_[4 * n + byte]);
        return value;
    }
    /// Where the children of a unit begin.
    static std::size_t offset(std::uint32_t unit) {
        return std::size_t{unit >> 10U} << ((unit & 0x200U) >> 6U);
    }
    /// The longest that the text begins with, or the shortest.
    void find(std::string_view text, TextBudget& budget, std::size_t& bytes,
              std::string_view& other, bool shortest = false) const {
        std::size_t at = offset(unit(1));
        for (std::size_t n = 0; n < text.size(); ++n) {
            budget.spend(kWorkOfUnit);
            const auto byte = static_cast<unsigned char>(text[n]);
            at ^= byte;
            if (at >= units_) return;
            const std::uint32_t here = unit(at + 1);
            if ((here & 0x8000'00FFU) != byte) return;
            at ^= offset(here);
            if (at >= units_ || (here & 0x100U) == 0) continue;
            const std::size_t first = unit(at + 1) & 0x7FFF'FFFFU;
            if (first >= texts_.size()) continue;
            bytes = n + 1;
            other = texts_.substr(first, texts_.substr(first).find('\0'));
            budget.spend(other.size() / kBytesOfUnit);
            if (shortest) return;
        }
    }

    static constexpr std::size_t kWorkOfUnit = 5, kBytesOfUnit = 16;  // for TextBudget

    std::string bytes_;
    std::size_t units_ = 0;
    std::string_view texts_;
};

/// Without the spaces at its ends, and one of several.
std::string squeezed(std::string_view text) {
    std::string to;
    for (const char c : text)
        if (c != ' ' || (!to.empty() && to.back() != ' ')) to += c;
    if (to.ends_with(' ')) to.pop_back();
    return to;
}

bool is_joined(const ScoredPieces::Piece& piece) { return piece.kind == PieceKind::normal; }

/// One of a code point, or one that others are joined to.
bool is_part(const ScoredPieces& from, const Vocabulary& vocabulary, std::string_view text) {
    const auto id = vocabulary.find(text);
    return id && is_joined(from.pieces[*id]);
}

/// Every cut of the piece in two others.
template <class Take>
void cut_in_two(const ScoredPieces& from, const Vocabulary& vocabulary, std::string_view text,
                Take take) {
    for (std::size_t at = 0; at < text.size();) {
        at += first_code_point(text.substr(at)).bytes;
        const std::string_view left = text.substr(0, at), right = text.substr(at);
        if (!right.empty() && is_part(from, vocabulary, left) && is_part(from, vocabulary, right))
            take(left, right);
    }
}

/// Those that the file lists, then those of the pieces that are found in a text before it is cut; the user's in what was rewritten.
json added_tokens(const ScoredPieces& from) {
    json list = from.added;
    std::set<std::string> known;
    for (const json& each : list) known.insert(TokenizerStep(each).text("content"));
    for (std::size_t id = 0; id < from.pieces.size(); ++id) {
        const auto& [text, score, kind] = from.pieces[id];
        const bool found =
            kind == PieceKind::control || kind == PieceKind::user || kind == PieceKind::unknown;
        if (found && !text.empty() && known.insert(text).second)
            list.push_back({{"id", id},
                            {"content", text},
                            {"special", true},
                            {"normalized", kind == PieceKind::user}});
    }
    return list;
}

json unigram_of(const ScoredPieces& from) {
    json rows = json::array();
    for (const auto& [text, score, kind] : from.pieces) {
        if (kind == PieceKind::unused)
            TokenizerStep::fault(fmt::format(
                "has the unused piece '{}' in a Unigram model, which is not computed here",
                shortened(text)));
        // The text of a byte's piece is no byte.
        rows.push_back({text, kind == PieceKind::byte ? kNeverTaken : score});
    }
    return {{"type", "Unigram"},
            {"unk_id", from.unknown},
            {"byte_fallback", from.by_bytes},
            {"vocab", std::move(rows)}};
}

}  // namespace

Rewrite precompiled_map(std::string bytes) {
    return {
        [map = std::make_shared<const CharacterMap>(std::move(bytes))](
            std::string_view text, TextBudget& budget) { return map->by_grapheme(text, budget); }};
}

std::vector<Rewrite> rewrites_of(const ScoredPieces& from) {
    std::vector<Rewrite> rewrites;
    if (!from.characters.empty())
        rewrites.push_back(
            {[map = std::make_shared<const CharacterMap>(from.characters)](
                 std::string_view text, TextBudget& budget) { return (*map)(text, budget); },
             "the map of characters"});
    if (from.squeezes)
        rewrites.push_back(plain_rewrite(squeezed, "the removal of repeated spaces"));
    rewrites.push_back(
        plain_rewrite([](std::string_view text) { return replaced(text, " ", kSpacePiece); },
                      "the replacement of spaces"));
    return rewrites;
}

std::vector<Split> splits_of(const ScoredPieces& from) {
    if (!from.prefix) return {};
    return {plain_split(
        [](std::string_view word, bool first) {
            return Words{(first ? std::string(kSpacePiece) : "") + std::string(word)};
        },
        "the space before a text")};
}

MergeList merges_of(const ScoredPieces& from, const Vocabulary& vocabulary) {
    constexpr double kMostWork = 1 << 28;
    double work = 0.0;
    std::vector<double> scores;
    for (const auto& piece : from.pieces) {
        work += static_cast<double>(piece.text.size()) * static_cast<double>(piece.text.size());
        if (is_joined(piece)) scores.push_back(piece.score);
    }
    if (work > kMostWork)
        TokenizerStep::fault(
            "has pieces that are too long: the sum of their squared lengths is above 2^28");
    std::ranges::sort(scores, std::greater<>());
    const auto repeated = std::ranges::unique(scores);
    scores.erase(repeated.begin(), repeated.end());
    MergeList merges;
    for (const auto& piece : from.pieces) {
        if (piece.kind == PieceKind::unused)
            cut_in_two(from, vocabulary, piece.text, [&](std::string_view, std::string_view) {
                TokenizerStep::fault(
                    fmt::format("has the unused piece '{}', which others are joined to: it is not "
                                "computed here",
                                shortened(piece.text)));
            });
        if (!is_joined(piece)) continue;
        const auto rank =
            std::ranges::lower_bound(scores, piece.score, std::greater<>()) - scores.begin();
        cut_in_two(from, vocabulary, piece.text,
                   [&](std::string_view left, std::string_view right) {
                       merges.add(left, right, static_cast<std::uint32_t>(rank));
                   });
    }
    return merges;
}

json root_of(const ScoredPieces& from) {
    if (!from.is_text(from.unknown))
        TokenizerStep::fault(fmt::format("has {} pieces, and {} stands for unknown text",
                                         from.size(), from.unknown));
    json model =
        from.unigram
            ? unigram_of(from)
            : json{{"type", "BPE"},           {"unk_token", from.pieces[from.unknown].text},
                   {"fuse_unk", true},        {"byte_fallback", from.by_bytes},
                   {"vocab", json::object()}, {"merges", json::array()}};
    json single = json::array(), names = json::object();
    const auto place = [&](const std::vector<Index>& ids) {
        for (const Index id : ids) {
            const std::string name = fmt::format("{}", id);
            single.push_back({{"SpecialToken", {{"id", name}}}});
            names[name] = {{"ids", json::array({id})}};
        }
    };
    place(from.before);
    single.push_back({{"Sequence", {{"id", "A"}}}});
    place(from.after);
    return {{"added_tokens", added_tokens(from)},
            {"model", std::move(model)},
            {"post_processor",
             {{"type", "TemplateProcessing"},
              {"single", std::move(single)},
              {"special_tokens", std::move(names)}}}};
}

}  // namespace attn
