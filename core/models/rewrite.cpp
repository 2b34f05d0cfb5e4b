#include "core/models/rewrite.h"

#include <algorithm>

#include "core/models/unicode.h"
#include "core/text.h"

namespace attn {
namespace {

template <class Change>
std::string each_point(std::string_view text, Change change) {
    std::string result;
    while (!text.empty()) {
        const CodePoint c = first_code_point(text);
        text.remove_prefix(c.bytes);
        change(c.value, result);
    }
    return result;
}

}  // namespace

std::string replaced(std::string_view text, std::string_view from, std::string_view to) {
    std::string result;
    while (!from.empty()) {
        const std::size_t at = text.find(from);
        result += text.substr(0, at);
        if (at == std::string_view::npos) return result;
        result += to;
        text.remove_prefix(at + from.size());
    }
    return std::string(text);
}

std::size_t replaced_size(std::string_view text, std::string_view from, std::string_view to) {
    std::size_t count = 0;
    for (std::size_t at = from.empty() ? text.npos : text.find(from); at != text.npos;
         at = text.find(from, at + from.size()))
        ++count;
    return text.size() - count * from.size() + count * to.size();
}

std::string cleaned(std::string_view text) {
    return each_point(text, [](char32_t c, std::string& to) {
        if (c == 0 || c == kReplacement || is_control(c)) return;
        append_code_point(to, is_space(c) ? U' ' : c);
    });
}

std::string spaced_cjk(std::string_view text) {
    return each_point(text, [](char32_t c, std::string& to) {
        if (is_cjk(c)) to += ' ';
        append_code_point(to, c);
        if (is_cjk(c)) to += ' ';
    });
}

std::string without_nonspacing_marks(std::string_view text) {
    return each_point(text, [](char32_t c, std::string& to) {
        if (!is_nonspacing_mark(c)) append_code_point(to, c);
    });
}

std::string without_marks(std::string_view text) {
    return each_point(text, [](char32_t c, std::string& to) {
        if (!is_mark(c)) append_code_point(to, c);
    });
}

std::size_t spaces_at_start(std::string_view text) {
    std::size_t end = 0;
    while (end < text.size() && is_space(first_code_point(text.substr(end)).value))
        end += first_code_point(text.substr(end)).bytes;
    return end;
}

std::size_t spaces_at_end(std::string_view text) {
    constexpr std::size_t kLongestSpace = 3;  // bytes
    std::size_t begin = text.size();
    for (bool space = true; space && begin > 0;) {
        space = false;
        for (std::size_t bytes = 1; bytes <= std::min(kLongestSpace, begin) && !space; ++bytes) {
            const CodePoint c = first_code_point(text.substr(begin - bytes, bytes));
            space = c.bytes == bytes && is_space(c.value);
            if (space) begin -= bytes;
        }
    }
    return text.size() - begin;
}

std::string trimmed(std::string_view text, bool left, bool right) {
    if (left) text.remove_prefix(spaces_at_start(text));
    if (right) text.remove_suffix(spaces_at_end(text));
    return std::string(text);
}

}  // namespace attn
