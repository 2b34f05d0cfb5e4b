#include "app/common/words.h"

#include <algorithm>
#include <deque>

#include <fmt/format.h>

#include "core/text.h"

namespace attn::view {
namespace {

struct WordsRange {
    char32_t first, last;
};
// Controls, soft hyphen, zero-width and direction marks, variation selectors, tags.
constexpr WordsRange kUnseen[] = {
    {0x00, 0x1F},     {0x7F, 0xA0},     {0xAD, 0xAD},      {0x61C, 0x61C},   {0x180E, 0x180E},
    {0x2000, 0x200F}, {0x2028, 0x202F}, {0x205F, 0x206F},  {0x3000, 0x3000}, {0xFE00, 0xFE0F},
    {0xFEFF, 0xFEFF}, {0xFFF9, 0xFFFB}, {0xE0000, 0xE01EF}};

bool is_unseen(char32_t c) {
    for (const WordsRange& range : kUnseen)
        if (c >= range.first && c <= range.last) return true;
    return false;
}

std::string visible(char32_t c) {
    if (c == U'\n') return "\\n";
    if (c == U'\t') return "\\t";
    if (c == U'\r') return "\\r";
    if (is_unseen(c)) return fmt::format("\\u{:04X}", static_cast<std::uint32_t>(c));
    std::string text;
    append_code_point(text, c);
    return text;
}

}  // namespace

std::string shown_token(std::string_view token, std::size_t most) {
    const std::size_t tail = (most - 1) / 2;
    const std::size_t start = most - 1 - tail;
    std::string head;
    std::deque<std::string> rest;  // of a long token its last characters
    std::size_t count = 0;
    for (; !token.empty(); ++count) {
        const CodePoint next = first_code_point(token);
        token.remove_prefix(next.bytes);
        if (count < start)
            head += visible(next.value);
        else
            rest.push_back(visible(next.value));
        if (rest.size() > tail + 1) rest.pop_front();
    }
    if (count > most) {
        rest.pop_front();
        head += "…";
    }
    for (const std::string& character : rest) head += character;
    return head;
}

std::string sentence(std::string words) {
    const auto is_small = [](char c) { return c >= 'a' && c <= 'z'; };
    const auto first = std::ranges::find_if_not(words, is_small);
    if (first != words.begin() && first != words.end() && *first == ' ')
        words.front() = static_cast<char>(words.front() - 'a' + 'A');
    const bool ends = words.ends_with('.') || words.ends_with('?') || words.ends_with("…");
    if (!ends && !words.empty()) words += '.';
    return words;
}

}  // namespace attn::view
