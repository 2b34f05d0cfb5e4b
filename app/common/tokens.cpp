#include "app/common/tokens.h"

#include <algorithm>
#include <array>
#include <utility>

#include "core/text.h"

namespace attn::view {
namespace {

struct Range {
    char32_t first, last;
};

template <std::size_t Count>
bool is_in(const std::array<Range, Count>& ranges, char32_t c) {
    return std::ranges::any_of(ranges, [c](Range r) { return c >= r.first && c <= r.last; });
}

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
