#include "app/common/text.h"

#include <algorithm>
#include <array>
#include <deque>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "app/common/tokens.h"
#include "core/text.h"

namespace attn::view {
namespace {

struct Range {
    char32_t first, last;
};

bool is_in(std::span<const Range> ranges, char32_t c) {
    return std::ranges::any_of(ranges, [c](Range r) { return c >= r.first && c <= r.last; });
}

// Controls, soft hyphen, zero-width and direction marks, variation selectors, tags.
constexpr Range kUnseen[] = {
    {0x00, 0x1F},     {0x7F, 0xA0},     {0xAD, 0xAD},      {0x61C, 0x61C},   {0x180E, 0x180E},
    {0x2000, 0x200F}, {0x2028, 0x202F}, {0x205F, 0x206F},  {0x3000, 0x3000}, {0xFE00, 0xFE0F},
    {0xFEFF, 0xFEFF}, {0xFFF9, 0xFFFB}, {0xE0000, 0xE01EF}};

std::string visible(char32_t c) {
    if (c == U'\n') return "\\n";
    if (c == U'\t') return "\\t";
    if (c == U'\r') return "\\r";
    if (is_in(kUnseen, c)) return fmt::format("\\u{:04X}", static_cast<std::uint32_t>(c));
    std::string text;
    append_code_point(text, c);
    return text;
}

bool is_variant(char32_t c) { return c == 0xFE0E || c == 0xFE0F; }

/// Whether `c` joins or parts the letters around it, or says how the sign before it is drawn: seen in what they become.
bool shapes(char32_t before, char32_t c, std::string_view after) {
    constexpr char32_t kFirstMark = 0x0300;  // nothing below joins
    const bool joiner = c == 0x200C || c == 0x200D;
    const bool follows = before >= kFirstMark && (is_variant(before) || !is_in(kUnseen, before));
    return follows && (is_variant(c) || (joiner && first_code_point(after).value >= kFirstMark));
}

// ---- tokens

// White space of Unicode 15 (property White_Space).
constexpr std::array<Range, 10> kSpaces{{{0x09, 0x0D},
                                         {0x20, 0x20},
                                         {0x85, 0x85},
                                         {0xA0, 0xA0},
                                         {0x1680, 0x1680},
                                         {0x2000, 0x200A},
                                         {0x2028, 0x2029},
                                         {0x202F, 0x202F},
                                         {0x205F, 0x205F},
                                         {0x3000, 0x3000}}};

// Scripts that are written without spaces, and their full-width punctuation.
constexpr std::array<Range, 14> kAlone{{{0x2E80, 0x2FDF},  // radicals
                                        {0x3001, 0x303F},  // 、。「」
                                        {0x3040, 0x30FF},  // Hiragana, Katakana
                                        {0x3100, 0x312F},  // Bopomofo
                                        {0x31F0, 0x31FF},
                                        {0x3400, 0x4DBF},  // Han
                                        {0x4E00, 0x9FFF},
                                        {0xAC00, 0xD7A3},  // Hangul syllables
                                        {0xF900, 0xFAFF},
                                        {0xFF01, 0xFF0F},  // ！ … ／
                                        {0xFF1A, 0xFF20},  // ： … ＠
                                        {0xFF3B, 0xFF40},  // ［ … ｀
                                        {0xFF5B, 0xFF9F},  // ｛ … half-width Katakana
                                        {0x20000, 0x3FFFF}}};
// Marks that belong to the character before them.
constexpr std::array<Range, 4> kMarks{
    {{0x0300, 0x036F}, {0x3099, 0x309A}, {0xFE00, 0xFE0F}, {0xE0100, 0xE01EF}}};

}  // namespace

std::string shown_token(std::string_view token, std::size_t most) {
    const auto as_it_is = [](char c) { return c > ' ' && c < '\x7F'; };
    if (token.size() <= most && std::ranges::all_of(token, as_it_is)) return std::string(token);
    const std::size_t tail = (most - 1) / 2;
    const std::size_t start = most - 1 - tail;
    std::string head;
    std::deque<std::string> rest;  // of a long token its last characters
    std::size_t count = 0;
    char32_t before = 0;
    for (; !token.empty(); ++count) {
        const CodePoint next = first_code_point(token);
        const std::string_view written = token.substr(0, next.bytes);
        token.remove_prefix(next.bytes);
        const bool as_written = shapes(std::exchange(before, next.value), next.value, token);
        const std::string shown = as_written ? std::string(written) : visible(next.value);
        if (count < start)
            head += shown;
        else
            rest.push_back(shown);
        if (rest.size() > tail + 1) rest.pop_front();
    }
    if (count > most) {
        rest.pop_front();
        head += "…";
    }
    for (const std::string& character : rest) head += character;
    return head;
}

std::string sentence(std::string text) {
    const auto is_small = [](char c) { return c >= 'a' && c <= 'z'; };
    const auto first = std::ranges::find_if_not(text, is_small);
    if (first != text.begin() && first != text.end() && *first == ' ')
        text.front() = static_cast<char>(text.front() - 'a' + 'A');
    const bool ends = text.ends_with('.') || text.ends_with('?') || text.ends_with("…");
    if (!ends && !text.empty()) text += '.';
    return text;
}

std::vector<std::string> tokenize(std::string_view sentence) {
    std::vector<std::string> tokens;
    std::string word;
    bool alone = false;  // the last token is one character, and nothing stands after it
    const auto end_word = [&] {
        if (!word.empty()) tokens.push_back(std::exchange(word, {}));
    };
    while (!sentence.empty()) {
        const CodePoint next = first_code_point(sentence);
        sentence.remove_prefix(next.bytes);
        if (alone && is_in(kMarks, next.value)) {
            append_code_point(tokens.back(), next.value);
            continue;
        }
        alone = is_in(kAlone, next.value) && !is_in(kMarks, next.value);
        if (alone || is_in(kSpaces, next.value)) end_word();
        if (is_in(kSpaces, next.value)) continue;
        append_code_point(word, next.value);
        if (alone) end_word();
    }
    end_word();
    return tokens;
}

}  // namespace attn::view
