#include "core/models/tokenizer_steps.h"

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "core/models/expression.h"
#include "core/models/rewrite.h"
#include "core/models/sentence_pieces.h"
#include "core/models/tokenizer_step.h"
#include "core/models/unicode.h"
#include "core/text.h"

namespace attn {
namespace {

using nlohmann::json;

[[noreturn]] void not_known(std::string_view what, std::string_view type) {
    TokenizerStep::fault(
        fmt::format("has the {} '{}', which is not known here", what, shortened(type)));
}

/// The row of a table that the step is of; its keys are the row's.
template <class Row>
const Row& row_of(const std::vector<Row>& table, const TokenizerStep& step, std::string_view what) {
    const std::string type = step.text("type");
    const auto row = std::ranges::find(table, type, &Row::type);
    if (row == table.end()) not_known(what, type);
    std::vector<std::string_view> keys = row->keys;
    keys.push_back("type");
    step.allow_only(fmt::format("the {} '{}'", what, type), keys);
    return *row;
}

/// "step 3 of the normalizer, 'Replace',": of those that have no name yet.
template <class Each>
void name_steps(std::string_view what, const TokenizerStep& step, std::size_t first,
                std::vector<Each>& steps) {
    for (std::size_t n = first; n < steps.size(); ++n)
        if (steps[n].name.empty())
            steps[n].name = fmt::format("step {} of the {}, '{}',", n + 1, what, step.text("type"));
}

// ---- normalizers

struct RewriteType {
    std::string_view type;
    std::vector<std::string_view> keys;
    bool keeps_start;
    void (*add)(const TokenizerStep& step, std::vector<Rewrite>& to);
};

void add_bert(const TokenizerStep& step, std::vector<Rewrite>& to) {
    const bool lower = step.flag("lowercase", true);
    if (step.flag("clean_text", true)) to.push_back(plain_rewrite(cleaned));
    if (step.flag("handle_chinese_chars", true)) to.push_back(plain_rewrite(spaced_cjk));
    if (step.flag("strip_accents", lower))
        to.push_back(plain_rewrite([](std::string_view text) {
            return without_nonspacing_marks(normal_form(text, NormalForm::d));
        }));
    if (lower) to.push_back(plain_rewrite(lower_case));
}

template <NormalForm form>
void add_form(const TokenizerStep&, std::vector<Rewrite>& to) {
    to.push_back(plain_rewrite([](std::string_view text) { return normal_form(text, form); }));
}

template <std::string (*rewrite)(std::string_view)>
void add_plain(const TokenizerStep&, std::vector<Rewrite>& to) {
    to.push_back(plain_rewrite(rewrite));
}

void add_prepend(const TokenizerStep& step, std::vector<Rewrite>& to) {
    to.push_back(plain_rewrite([with = step.text("prepend")](std::string_view text) {
        return text.empty() ? std::string() : with + std::string(text);
    }));
}

void add_replace(const TokenizerStep& step, std::vector<Rewrite>& to) {
    const TokenizerStep pattern(step.need("pattern"));
    pattern.allow_only("the pattern of the normalizer 'Replace'", {"String", "Regex"});
    if (pattern.find("Regex") != nullptr)
        return to.push_back(
            {[expression = Expression::parse(pattern.text("Regex")), with = step.text("content")](
                 std::string_view text, TextBudget& budget) {
                const auto matches = expression.matches(text, budget);
                budget.check_size(text.size() + matches.size() * with.size());
                std::string changed;
                std::size_t from = 0;
                for (const Expression::Match& match : matches) {
                    changed += text.substr(from, match.begin - from);
                    changed += with;
                    from = match.end;
                }
                return changed += text.substr(from);
            }});
    std::string from = pattern.text("String");
    if (from.empty())
        TokenizerStep::fault("has the normalizer 'Replace' of an empty text; expected a text");
    to.push_back({[from = std::move(from), with = step.text("content")](std::string_view text,
                                                                        TextBudget& budget) {
        budget.check_size(replaced_size(text, from, with));
        return replaced(text, from, with);
    }});
}

/// Of base64, RFC 4648.
std::string decoded(std::string_view letters) {
    constexpr std::string_view kLetters =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string bytes;
    unsigned held = 0, bits = 0;
    for (const char letter : letters.substr(0, letters.find('='))) {
        const auto value = kLetters.find(letter);
        if (value == kLetters.npos)
            TokenizerStep::fault("has 'precompiled_charsmap': expected base64");
        held = (held << 6U | static_cast<unsigned>(value)) & 0xFFFFU;
        bits += 6;
        if (bits < 8) continue;
        bits -= 8;
        bytes += static_cast<char>(held >> bits & 0xFFU);
    }
    return bytes;
}

void add_precompiled(const TokenizerStep& step, std::vector<Rewrite>& to) {
    to.push_back(precompiled_map(decoded(step.text("precompiled_charsmap"))));
}

void add_strip(const TokenizerStep& step, std::vector<Rewrite>& to) {
    to.push_back(plain_rewrite([left = step.flag("strip_left", true),
                                right = step.flag("strip_right", true)](std::string_view text) {
        return trimmed(text, left, right);
    }));
}

void add_rewrites(const json& normalizer, std::vector<Rewrite>& to);

void add_each(const TokenizerStep& step, std::vector<Rewrite>& to) {
    for (const json& each : step.need("normalizers")) add_rewrites(each, to);
}

const std::vector<RewriteType>& rewrite_types() {
    static const std::vector<RewriteType> types{
        {"Sequence", {"normalizers"}, true, add_each},
        {"NFC", {}, true, add_form<NormalForm::c>},
        {"NFD", {}, true, add_form<NormalForm::d>},
        {"NFKC", {}, true, add_form<NormalForm::kc>},
        {"NFKD", {}, true, add_form<NormalForm::kd>},
        {"Lowercase", {}, true, add_plain<lower_case>},
        {"StripAccents", {}, false, add_plain<without_marks>},
        {"BertNormalizer",
         {"clean_text", "handle_chinese_chars", "strip_accents", "lowercase"},
         false,
         add_bert},
        {"Prepend", {"prepend"}, true, add_prepend},
        {"Replace", {"pattern", "content"}, false, add_replace},
        {"Precompiled", {"precompiled_charsmap"}, false, add_precompiled},
        {"Strip", {"strip_left", "strip_right"}, false, add_strip},
    };
    return types;
}

void add_rewrites(const json& normalizer, std::vector<Rewrite>& to) {
    const TokenizerStep step(normalizer);
    const std::size_t before = to.size();
    row_of(rewrite_types(), step, "normalizer").add(step, to);
    name_steps("normalizer", step, before, to);
}

// ---- pre_tokenizers

constexpr std::string_view kGpt2Expression =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";
constexpr std::string_view kClipExpression =
    R"('s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+)";
constexpr std::string_view kLlama3Start =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|)";
constexpr std::string_view kLlama3End = R"(| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";

template <Words (*split)(std::string_view)>
Words anywhere(std::string_view word, bool) {
    return split(word);
}

/// Of words with so many digits, 1 or 3.
std::string llama3_expression(int digits) {
    return fmt::format("{}{}{}", kLlama3Start, digits == 3 ? R"(\p{N}{1,3})" : R"(\p{N})",
                       kLlama3End);
}

/// An expression that is split by hand, in .4 to .8 of the time of PCRE2.
std::optional<Split> known_expression(const std::string& text) {
    if (text == kGpt2Expression) return plain_split(anywhere<split_gpt2>);
    for (const int digits : {3, 1})
        if (text == llama3_expression(digits))
            return plain_split(
                [digits](std::string_view word, bool) { return split_llama3(word, digits); });
    return std::nullopt;
}

Split split_by_expression(const std::string& text, MatchedParts matched, bool inverted) {
    return {[expression = Expression::parse(text), matched, inverted](std::string_view word, bool,
                                                                      TextBudget& budget) {
        std::vector<TextPart> parts;
        std::size_t from = 0;
        for (const Expression::Match& match : expression.matches(word, budget)) {
            if (from < match.begin) parts.push_back({from, match.begin, inverted});
            parts.push_back({match.begin, match.end, !inverted});
            from = match.end;
        }
        if (from < word.size()) parts.push_back({from, word.size(), inverted});
        return split_parts(word, std::move(parts), matched);
    }};
}

/// By the name of a 'behavior'.
MatchedParts matched_parts(const TokenizerStep& step, std::string_view otherwise) {
    constexpr std::array<std::pair<std::string_view, MatchedParts>, 5> kNames{
        {{"Isolated", MatchedParts::isolated},
         {"Contiguous", MatchedParts::contiguous},
         {"Removed", MatchedParts::removed},
         {"MergedWithPrevious", MatchedParts::with_previous},
         {"MergedWithNext", MatchedParts::with_next}}};
    const std::string stated = step.text_or("behavior", otherwise);
    for (const auto& [name, matched] : kNames)
        if (stated == name) return matched;
    TokenizerStep::fault(
        fmt::format("has 'behavior' = \"{}\"; expected Isolated, Contiguous, Removed, "
                    "MergedWithPrevious or MergedWithNext",
                    shortened(stated)));
}

struct SplitType {
    std::string_view type;
    std::vector<std::string_view> keys;
    void (*add)(const TokenizerStep& step, bool knows_start, Splits& to);
};

void add_byte_level(const TokenizerStep& step, bool, Splits& to) {
    if (step.flag("add_prefix_space", true))
        to.splits.push_back(plain_split([](std::string_view word, bool) {
            return Words{word.starts_with(' ') ? std::string(word) : ' ' + std::string(word)};
        }));
    if (step.flag("use_regex", true)) to.splits.push_back(plain_split(anywhere<split_gpt2>));
    to.splits.push_back(
        plain_split([](std::string_view word, bool) { return Words{bytes_as_letters(word)}; }));
    to.bytes_are_letters = true;
}

void add_expression(const TokenizerStep& step, bool, Splits& to) {
    const TokenizerStep pattern(step.need("pattern"));
    pattern.allow_only("the pattern of the pre_tokenizer 'Split'", {"String", "Regex"});
    const MatchedParts matched = matched_parts(step, "");
    const bool inverted = step.flag("invert", false);
    if (pattern.find("Regex") == nullptr) {
        const std::string needle = pattern.text("String");
        if (needle.empty())
            TokenizerStep::fault("has the pre_tokenizer 'Split' of an empty text; expected a text");
        return to.splits.push_back(
            plain_split([needle, matched, inverted](std::string_view word, bool) {
                auto parts = parts_at(word, needle);
                for (TextPart& part : parts) part.matched = part.matched != inverted;
                return split_parts(word, std::move(parts), matched);
            }));
    }
    const std::string text = pattern.text("Regex");
    const bool only_matches = matched == MatchedParts::removed && inverted;
    if (only_matches && text == kClipExpression)
        return to.splits.push_back(plain_split(anywhere<split_clip>));
    // These match every character: what is between them is empty.
    if (only_matches || (matched == MatchedParts::isolated && !inverted))
        if (auto known = known_expression(text)) return to.splits.push_back(*std::move(known));
    to.splits.push_back(split_by_expression(text, matched, inverted));
}

void add_digits(const TokenizerStep& step, bool, Splits& to) {
    const auto matched =
        step.flag("individual_digits", false) ? MatchedParts::isolated : MatchedParts::contiguous;
    to.splits.push_back(plain_split(
        [matched](std::string_view word, bool) { return split_points(word, is_number, matched); }));
}

void add_punctuation(const TokenizerStep& step, bool, Splits& to) {
    to.splits.push_back(
        plain_split([matched = matched_parts(step, "Isolated")](std::string_view word, bool) {
            return split_points(word, is_punctuation, matched);
        }));
}

void add_delimiter(const TokenizerStep& step, bool, Splits& to) {
    std::string needle = step.text("delimiter");
    if (needle.empty() || first_code_point(needle).bytes != needle.size())
        TokenizerStep::fault(
            fmt::format("has 'delimiter' = \"{}\"; expected one character", shortened(needle)));
    to.splits.push_back(plain_split([needle = std::move(needle)](std::string_view word, bool) {
        return split_parts(word, parts_at(word, needle), MatchedParts::removed);
    }));
}

/// Where Metaspace puts a "▁": before every part of a text between added tokens, before the text, or nowhere.
enum class Prepends : std::uint8_t { always, first, never };

Prepends prepends_of(const TokenizerStep& step, bool knows_start) {
    const std::string scheme = step.text_or("prepend_scheme", "always");
    if (!step.flag("add_prefix_space", true) && scheme != "never")
        TokenizerStep::fault(fmt::format(
            "has 'add_prefix_space' = false and 'prepend_scheme' = \"{}\"; expected \"never\"",
            shortened(scheme)));
    if (scheme == "always") return Prepends::always;
    if (scheme == "never") return Prepends::never;
    if (scheme != "first")
        TokenizerStep::fault(fmt::format(
            "has 'prepend_scheme' = \"{}\"; expected always, first or never", shortened(scheme)));
    if (!knows_start)
        TokenizerStep::fault(
            "has 'prepend_scheme' = \"first\" after a normalizer that may change where a text "
            "begins, which is not computed here");
    return Prepends::first;
}

void add_metaspace(const TokenizerStep& step, bool knows_start, Splits& to) {
    const std::string sign = step.text_or("replacement", kSpacePiece);
    if (sign != kSpacePiece)
        TokenizerStep::fault(fmt::format("has '{}' for spaces; expected '▁'", shortened(sign)));
    to.splits.push_back(
        plain_split([prepends = prepends_of(step, knows_start), splits = step.flag("split", true)](
                        std::string_view word, bool first) {
            std::string text = replaced(word, " ", kSpacePiece);
            if ((prepends == Prepends::always || (prepends == Prepends::first && first)) &&
                !text.starts_with(kSpacePiece))
                text.insert(0, kSpacePiece);
            return splits ? split_metaspace(text) : Words{text};
        }));
}

void add_splits(const json& pre_tokenizer, bool knows_start, Splits& to);

void add_each_split(const TokenizerStep& step, bool knows_start, Splits& to) {
    for (const json& each : step.need("pretokenizers")) add_splits(each, knows_start, to);
}

const std::vector<SplitType>& split_types() {
    static const std::vector<SplitType> types{
        {"Sequence", {"pretokenizers"}, add_each_split},
        {"ByteLevel", {"add_prefix_space", "trim_offsets", "use_regex"}, add_byte_level},
        {"Split", {"pattern", "behavior", "invert"}, add_expression},
        {"Metaspace",
         {"replacement", "prepend_scheme", "split", "add_prefix_space"},
         add_metaspace},
        {"Digits", {"individual_digits"}, add_digits},
        {"Punctuation", {"behavior"}, add_punctuation},
        {"CharDelimiterSplit", {"delimiter"}, add_delimiter},
        {"Whitespace",
         {},
         [](const TokenizerStep&, bool, Splits& to) {
             to.splits.push_back(plain_split(anywhere<split_word_signs>));
         }},
        {"WhitespaceSplit",
         {},
         [](const TokenizerStep&, bool, Splits& to) {
             to.splits.push_back(plain_split(anywhere<split_spaces>));
         }},
        {"BertPreTokenizer",
         {},
         [](const TokenizerStep&, bool, Splits& to) {
             to.splits.push_back(plain_split(anywhere<split_bert>));
         }},
    };
    return types;
}

void add_splits(const json& pre_tokenizer, bool knows_start, Splits& to) {
    const TokenizerStep step(pre_tokenizer);
    const std::size_t before = to.splits.size();
    row_of(split_types(), step, "pre_tokenizer").add(step, knows_start, to);
    name_steps("pre_tokenizer", step, before, to.splits);
}

}  // namespace

json byte_level_steps(const ByteLevelSteps& steps) {
    json splits = json::array();
    for (const std::string_view expression : steps.expressions)
        splits.push_back(
            {{"type", "Split"}, {"pattern", {{"Regex", expression}}}, {"behavior", "Isolated"}});
    splits.push_back({{"type", "ByteLevel"},
                      {"add_prefix_space", steps.prefix_space},
                      {"use_regex", steps.gpt2}});
    json made = {{"pre_tokenizer", {{"type", "Sequence"}, {"pretokenizers", std::move(splits)}}}};
    if (steps.composes) made["normalizer"] = {{"type", "NFC"}};
    return made;
}

json byte_level_steps(int digits, bool prefix_space) {
    if (digits == 0) return byte_level_steps({.gpt2 = true, .prefix_space = prefix_space});
    const std::string expression = llama3_expression(digits);
    const std::string_view all[] = {expression};
    return byte_level_steps(
        {.expressions = all, .prefix_space = prefix_space, .composes = digits == 1});
}

std::vector<Rewrite> rewrites_of(const json& normalizer) {
    std::vector<Rewrite> rewrites;
    add_rewrites(normalizer, rewrites);
    return rewrites;
}

bool keeps_start(const json& normalizer) {
    const TokenizerStep step(normalizer);
    if (step.text("type") == "Sequence")
        return std::ranges::all_of(step.need("normalizers"), keeps_start);
    return row_of(rewrite_types(), step, "normalizer").keeps_start;
}

Splits splits_of(const json& pre_tokenizer, bool knows_start) {
    Splits splits;
    add_splits(pre_tokenizer, knows_start, splits);
    return splits;
}

}  // namespace attn
