#include "core/models/unicode.h"

#include <algorithm>

#include <utf8proc.h>

#include "core/text.h"

namespace attn {
namespace {

utf8proc_category_t category(char32_t c) {
    return utf8proc_category(static_cast<utf8proc_int32_t>(c));
}

bool between(char32_t c, char32_t low, char32_t high) { return c >= low && c <= high; }

utf8proc_option_t options_of(NormalForm form) {
    int options = UTF8PROC_STABLE;
    options |=
        form == NormalForm::c || form == NormalForm::kc ? UTF8PROC_COMPOSE : UTF8PROC_DECOMPOSE;
    if (form == NormalForm::kc || form == NormalForm::kd) options |= UTF8PROC_COMPAT;
    return static_cast<utf8proc_option_t>(options);
}

/// In the canonical order: marks of a letter by their combining class, those of one class as they stood. utf8proc orders them by
/// exchanges of neighbours, a time of n² for n marks.
std::vector<utf8proc_int32_t> decomposed(std::string_view text, utf8proc_option_t options) {
    constexpr utf8proc_ssize_t kMostOfOne = 32;  // Unicode has at most 18
    std::vector<utf8proc_int32_t> points;
    while (!text.empty()) {
        const CodePoint c = first_code_point(text);
        text.remove_prefix(c.bytes);
        utf8proc_int32_t parts[kMostOfOne];
        int boundary = 0;
        const utf8proc_ssize_t count = utf8proc_decompose_char(
            static_cast<utf8proc_int32_t>(c.value), parts, kMostOfOne, options, &boundary);
        points.insert(points.end(), parts,
                      parts + std::clamp<utf8proc_ssize_t>(count, 0, kMostOfOne));
    }
    const auto rank = [](utf8proc_int32_t c) { return utf8proc_get_property(c)->combining_class; };
    for (auto from = points.begin(); from != points.end();) {
        const auto mark = [&](utf8proc_int32_t c) { return rank(c) != 0; };
        from = std::find_if(from, points.end(), mark);
        const auto end = std::find_if_not(from, points.end(), mark);
        std::stable_sort(from, end, [&](auto a, auto b) { return rank(a) < rank(b); });
        from = end;
    }
    return points;
}

}  // namespace

bool is_letter(char32_t c) {
    return between(static_cast<char32_t>(category(c)), UTF8PROC_CATEGORY_LU, UTF8PROC_CATEGORY_LO);
}

bool is_number(char32_t c) {
    return between(static_cast<char32_t>(category(c)), UTF8PROC_CATEGORY_ND, UTF8PROC_CATEGORY_NO);
}

bool is_space(char32_t c) {
    return between(c, 0x09, 0x0D) || c == 0x20 || c == 0x85 || c == 0xA0 || c == 0x1680 ||
           between(c, 0x2000, 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F || c == 0x205F ||
           c == 0x3000;
}

bool is_newline(char32_t c) { return c == U'\r' || c == U'\n'; }

bool is_punctuation(char32_t c) {
    if (between(c, 33, 47) || between(c, 58, 64) || between(c, 91, 96) || between(c, 123, 126))
        return true;
    return between(static_cast<char32_t>(category(c)), UTF8PROC_CATEGORY_PC, UTF8PROC_CATEGORY_PO);
}

bool is_control(char32_t c) {
    if (c == U'\t' || is_newline(c)) return false;
    const utf8proc_category_t kind = category(c);
    return kind == UTF8PROC_CATEGORY_CC || kind == UTF8PROC_CATEGORY_CF ||
           kind == UTF8PROC_CATEGORY_CS || kind == UTF8PROC_CATEGORY_CO;
}

bool is_cjk(char32_t c) {
    return between(c, 0x4E00, 0x9FFF) || between(c, 0x3400, 0x4DBF) ||
           between(c, 0x20000, 0x2A6DF) || between(c, 0x2A700, 0x2B81F) ||
           between(c, 0x2B920, 0x2CEAF) || between(c, 0xF900, 0xFAFF) ||
           between(c, 0x2F800, 0x2FA1F);
}

bool is_mark(char32_t c) {
    return between(static_cast<char32_t>(category(c)), UTF8PROC_CATEGORY_MN, UTF8PROC_CATEGORY_ME);
}

bool is_nonspacing_mark(char32_t c) { return category(c) == UTF8PROC_CATEGORY_MN; }

bool is_word(char32_t c) {
    const utf8proc_category_t kind = category(c);
    // Alphabetic is letters, letter numbers, some marks, and circled and squared letters, which are symbols.
    const bool enclosed_letter = between(c, 0x24B6, 0x24E9) || between(c, 0x1F130, 0x1F149) ||
                                 between(c, 0x1F150, 0x1F169) || between(c, 0x1F170, 0x1F189);
    return is_letter(c) || is_mark(c) || enclosed_letter || kind == UTF8PROC_CATEGORY_ND ||
           kind == UTF8PROC_CATEGORY_NL || kind == UTF8PROC_CATEGORY_PC || c == 0x200C ||
           c == 0x200D;
}

std::vector<std::string_view> graphemes(std::string_view text) {
    std::vector<std::string_view> all;
    std::size_t from = 0;
    utf8proc_int32_t state = 0;
    for (std::size_t at = 0; at < text.size();) {
        const CodePoint one = first_code_point(text.substr(at));
        at += one.bytes;
        const bool end = at == text.size();
        if (!end &&
            !utf8proc_grapheme_break_stateful(
                static_cast<utf8proc_int32_t>(one.value),
                static_cast<utf8proc_int32_t>(first_code_point(text.substr(at)).value), &state))
            continue;
        all.push_back(text.substr(from, at - from));
        from = at;
    }
    return all;
}

std::string normal_form(std::string_view text, NormalForm form) {
    const bool ascii = std::ranges::all_of(text, [](char c) { return (c & 0x80) == 0; });
    if (ascii) return std::string(text);
    std::vector<utf8proc_int32_t> points = decomposed(text, options_of(form));
    const utf8proc_ssize_t count = utf8proc_normalize_utf32(
        points.data(), static_cast<utf8proc_ssize_t>(points.size()), options_of(form));
    std::string normal;
    for (utf8proc_ssize_t n = 0; n < count; ++n)
        append_code_point(normal, static_cast<char32_t>(points[static_cast<std::size_t>(n)]));
    return normal;
}

std::string lower_case(std::string_view text) {
    std::string lower;
    for (std::size_t at = 0; at < text.size();) {
        const CodePoint c = first_code_point(text.substr(at));
        at += c.bytes;
        if (c.value == 0x130)  // İ: the one letter whose lower case is two
            lower += "i\u0307";
        else
            append_code_point(lower, static_cast<char32_t>(
                                         utf8proc_tolower(static_cast<utf8proc_int32_t>(c.value))));
    }
    return lower;
}

}  // namespace attn
