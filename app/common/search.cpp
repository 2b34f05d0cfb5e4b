#include "app/common/search.h"

#include "app/common/tokens.h"
#include "core/text.h"

namespace attn::view {
namespace {

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 'a' - 'A') : c; }

/// Latin letters with accents, in the order of U+00C0 … U+00FF; '.' where it is none.
constexpr std::string_view kPlainLetters =
    "aaaaaa.ceeeeiiiidnooooo.ouuuuy..aaaaaa.ceeeeiiiidnooooo.ouuuuy.y";

bool is_digit(std::string_view text, std::size_t n) {
    return n < text.size() && text[n] >= '0' && text[n] <= '9';
}

/// As matching compares words: "4,096" as "4096", "d_k" as "d k", "Créer" as "creer".
std::string folded(std::string_view text) {
    std::string plain;
    for (std::size_t n = 0; n < text.size();) {
        const CodePoint next = first_code_point(text.substr(n));
        const bool groups =
            next.value == U',' && n > 0 && is_digit(text, n - 1) && is_digit(text, n + 1);
        const char32_t accented = next.value - 0xC0;  // wraps where it is below
        n += next.bytes;
        if (groups) continue;
        if (accented < kPlainLetters.size() && kPlainLetters[accented] != '.')
            plain += kPlainLetters[accented];
        else if (next.value < 0x80)
            plain += next.value == U'_' ? ' ' : lower(static_cast<char>(next.value));
        else
            append_code_point(plain, next.value);
    }
    return plain;
}

}  // namespace

std::vector<std::string> search_words(std::string_view query) { return tokenize(folded(query)); }

int match(std::string_view given, const std::vector<std::string>& words) {
    const std::string text = folded(given);
    int total = 1;
    for (const std::string& word : words) {
        const std::size_t at = text.find(word);
        if (at == text.npos) return 0;
        if (at == 0)
            total += 3;
        else if (text[at - 1] == ' ')
            total += 2;
    }
    return total;
}

}  // namespace attn::view
