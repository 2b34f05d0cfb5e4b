#include "core/models/rewrite.h"

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

std::string with_runs(std::string_view text, bool (*is)(char32_t), std::size_t least,
                      std::string_view with) {
    std::string to, run;
    std::size_t length = 0;
    const auto close = [&] {
        to += length >= least ? std::string(with) : run, run.clear(), length = 0;
    };
    while (!text.empty()) {
        const CodePoint c = first_code_point(text);
        if (is(c.value))
            run += text.substr(0, c.bytes), ++length;
        else
            close(), to += text.substr(0, c.bytes);
        text.remove_prefix(c.bytes);
    }
    close();
    return to;
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

std::string trimmed(std::string_view text, bool left, bool right) {
    while (left && !text.empty() && is_space(first_code_point(text).value))
        text.remove_prefix(first_code_point(text).bytes);
    std::size_t end = 0;
    for (std::size_t at = 0; at < text.size(); at += first_code_point(text.substr(at)).bytes)
        if (const CodePoint c = first_code_point(text.substr(at)); !right || !is_space(c.value))
            end = at + c.bytes;
    return std::string(text.substr(0, end));
}

}  // namespace attn
