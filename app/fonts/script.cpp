#include "app/fonts/script.h"

#include <utf8proc.h>

#include <algorithm>
#include <utility>

#include "core/text.h"

namespace attn::fonts {
namespace {

constexpr std::pair<char32_t, char32_t> kSimple[] = {
    {0x0000, 0x02FF}, {0x0370, 0x0482}, {0x048A, 0x052F}, {0x1D00, 0x1DBF}, {0x1E00, 0x200A},
    {0x2010, 0x2027}, {0x202F, 0x205F}, {0x2070, 0x20CF}, {0x2100, 0x2319}, {0x2320, 0x23CE},
    {0x2423, 0x2423}, {0x2581, 0x2581}, {0x25A0, 0x25FF}, {0x2713, 0x2713}, {0x2717, 0x2717},
    {0x27E8, 0x27E9}, {0x2C60, 0x2C7F}, {0xFFFD, 0xFFFD}};

constexpr std::string_view kIsolate = "\u2068", kFromRight = "\u2067", kEnd = "\u2069";
constexpr std::string_view kLeftToRight = "\u200E";

bool is_ascii(char byte) { return static_cast<unsigned char>(byte) < 0x80U; }

/// Calls `see` with the code points of `text` and what each was written as.
template <class See>
void each_code_point(std::string_view text, See see) {
    while (!text.empty()) {
        const CodePoint next = first_code_point(text);
        see(next.value, text.substr(0, next.bytes));
        text.remove_prefix(next.bytes);
    }
}

bool is_shown(char32_t code) {
    return code >= 0x20 && code != 0x7F && code != 0xFFFE && code != 0xFFFF;
}

utf8proc_int32_t number(char32_t c) { return static_cast<utf8proc_int32_t>(c); }
const utf8proc_property_t& property(char32_t c) { return *utf8proc_get_property(number(c)); }

bool is_arrow(char32_t c) { return c >= U'←' && c <= U'⇿'; }

struct Directions {
    bool left_to_right = false, right_to_left = false;
    bool neither = false;  // a sign or a number stands beside them
};

Directions directions(std::string_view text) {
    Directions found;
    each_code_point(text, [&](char32_t c, std::string_view) {
        const auto kind = property(c).bidi_class;
        const bool right = kind == UTF8PROC_BIDI_CLASS_R || kind == UTF8PROC_BIDI_CLASS_AL;
        const bool left = kind == UTF8PROC_BIDI_CLASS_L || is_arrow(c);
        found.right_to_left |= right;
        found.left_to_right |= left;
        found.neither |= !right && !left && kind != UTF8PROC_BIDI_CLASS_NSM;
    });
    return found;
}

std::string joined(std::initializer_list<std::string_view> parts) {
    std::string text;
    for (const std::string_view part : parts) text += part;
    return text;
}

}  // namespace

std::string clean_text(std::string_view text) {
    std::string clean;
    clean.reserve(text.size());
    each_code_point(text, [&](char32_t c, std::string_view) {
        append_code_point(clean, is_shown(c) ? c : kReplacement);
    });
    return clean;
}

bool is_simple(std::string_view text) {
    if (std::ranges::all_of(text, is_ascii)) return true;
    bool simple = true;
    each_code_point(text, [&](char32_t c, std::string_view) {
        simple = simple && std::ranges::any_of(kSimple, [c](const auto& range) {
                     return c >= range.first && c <= range.second;
                 });
    });
    return simple;
}

std::size_t first_character(std::string_view text) {
    if (std::ranges::all_of(text.substr(0, 2), is_ascii))
        return std::min<std::size_t>(1, text.size());
    constexpr utf8proc_propval_t kVirama = 9;  // joins the consonants around it
    CodePoint one = first_code_point(text);
    std::size_t end = one.bytes;
    utf8proc_int32_t state = 0;
    while (end < text.size()) {
        const CodePoint next = first_code_point(text.substr(end));
        if (utf8proc_grapheme_break_stateful(number(one.value), number(next.value), &state) &&
            property(one.value).combining_class != kVirama)
            break;
        end += next.bytes;
        one = next;
    }
    return end;
}

std::string directed(std::string_view text) {
    const Directions found = directions(text);
    if (!found.right_to_left || !(found.left_to_right || found.neither)) return std::string(text);
    if (!found.left_to_right) return joined({kFromRight, text, kEnd});
    std::string out;
    each_code_point(text, [&](char32_t c, std::string_view written) {
        if (c == U'“')
            out += joined({written, kIsolate});
        else if (c == U'”')
            out += joined({kEnd, written});
        else if (is_arrow(c))
            out += joined({kLeftToRight, written, kLeftToRight});
        else
            out += written;
    });
    return out;
}

}  // namespace attn::fonts
