#include "core/models/split.h"

#include <algorithm>
#include <array>
#include <map>

#include "core/models/unicode.h"
#include "core/text.h"

namespace attn {
namespace {

/// A text by code points.
class Scan {
  public:
    explicit Scan(std::string_view text) : text_(text) {
        for (std::size_t at = 0; at < text.size();) {
            const CodePoint c = first_code_point(text.substr(at));
            points_.push_back(c.value);
            starts_.push_back(at);
            at += c.bytes;
        }
        starts_.push_back(text.size());
    }

    std::size_t size() const { return points_.size(); }
    char32_t operator[](std::size_t i) const { return i < points_.size() ? points_[i] : 0; }
    std::string part(std::size_t from, std::size_t to) const {
        return std::string(text_.substr(starts_[from], starts_[to] - starts_[from]));
    }
    /// The end of the run that begins at i.
    template <class Is>
    std::size_t run(std::size_t i, Is is, std::size_t most = std::size_t(-1)) const {
        std::size_t end = i;
        while (end < size() && end - i < most && is(points_[end])) ++end;
        return end;
    }

  private:
    std::string_view text_;
    std::vector<char32_t> points_;
    std::vector<std::size_t> starts_;
};

bool is_other(char32_t c) { return !is_space(c) && !is_letter(c) && !is_number(c); }

char32_t folded(char32_t c) {
    if (c == 0x17F) return U's';
    return c >= U'A' && c <= U'Z' ? c + 32 : c;
}

/// Where 's, 't, 're, 've, 'm, 'll or 'd ends; i: there is none.
std::size_t contraction(const Scan& scan, std::size_t i, bool any_case) {
    if (scan[i] != U'\'') return i;
    const auto at = [&](std::size_t n) { return any_case ? folded(scan[i + n]) : scan[i + n]; };
    for (const char32_t* two : {U"re", U"ve", U"ll"})
        if (at(1) == two[0] && at(2) == two[1]) return i + 3;
    for (const char32_t one : {U's', U't', U'm', U'd'})
        if (at(1) == one) return i + 2;
    return i;
}

/// \s+(?!\S)|\s+: the last space before a word stays with the word.
std::size_t spaces(const Scan& scan, std::size_t i) {
    const std::size_t end = scan.run(i, is_space);
    return end == scan.size() || end - i == 1 ? end : end - 1;
}

/// \s*[\r\n]+: to the last line end of the run of spaces; i: there is none.
std::size_t line_ends(const Scan& scan, std::size_t i) {
    std::size_t end = scan.run(i, is_space);
    while (end > i && !is_newline(scan[end - 1])) --end;
    return end;
}

std::size_t gpt2_end(const Scan& scan, std::size_t i) {
    if (const std::size_t end = contraction(scan, i, false); end > i) return end;
    const std::size_t first = scan[i] == U' ' ? i + 1 : i;
    for (bool (*is)(char32_t) : {is_letter, is_number, is_other})
        if (const std::size_t end = scan.run(first, is); end > first) return end;
    return spaces(scan, i);
}

std::size_t llama3_end(const Scan& scan, std::size_t i, int digits) {
    if (const std::size_t end = contraction(scan, i, true); end > i) return end;
    const char32_t c = scan[i];
    const bool lead = !is_newline(c) && !is_letter(c) && !is_number(c);
    const std::size_t letters = lead ? i + 1 : i;
    if (const std::size_t end = scan.run(letters, is_letter); end > letters) return end;
    if (is_number(c)) return scan.run(i, is_number, static_cast<std::size_t>(digits));
    const std::size_t others = c == U' ' ? i + 1 : i;
    if (const std::size_t end = scan.run(others, is_other); end > others)
        return scan.run(end, is_newline);
    if (const std::size_t end = line_ends(scan, i); end > i) return end;
    return spaces(scan, i);
}

template <class End>
Words split_by(std::string_view text, End end_of) {
    const Scan scan(text);
    Words result;
    for (std::size_t i = 0; i < scan.size();) {
        const std::size_t end = end_of(scan, i);
        result.push_back(scan.part(i, end));
        i = end;
    }
    return result;
}

/// Printable bytes stand for themselves; the others, in order, for U+0100 and on.
std::array<char32_t, 256> byte_letters() {
    std::array<char32_t, 256> letters{};
    char32_t next = 256;
    for (char32_t byte = 0; byte < 256; ++byte) {
        const bool printable = (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) ||
                               (byte >= 174 && byte <= 255);
        letters[byte] = printable ? byte : next++;
    }
    return letters;
}

}  // namespace

Words split_gpt2(std::string_view text) { return split_by(text, gpt2_end); }

Words split_llama3(std::string_view text, int digits) {
    return split_by(
        text, [digits](const Scan& scan, std::size_t i) { return llama3_end(scan, i, digits); });
}

Words split_clip(std::string_view text) {
    Words result = split_by(text, [](const Scan& scan, std::size_t i) {
        if (const std::size_t end = contraction(scan, i, false); end > i) return end;
        if (const std::size_t end = scan.run(i, is_letter); end > i) return end;
        if (is_number(scan[i])) return i + 1;
        if (const std::size_t end = scan.run(i, is_other); end > i) return end;
        return scan.run(i, is_space);
    });
    std::erase_if(result,
                  [](const std::string& word) { return is_space(first_code_point(word).value); });
    return result;
}

Words split_spaces(std::string_view text) {
    Words result = split_by(text, [](const Scan& scan, std::size_t i) {
        const auto is_text = [](char32_t c) { return !is_space(c); };
        const std::size_t end = scan.run(i, is_text);
        return end > i ? end : scan.run(i, is_space);
    });
    std::erase_if(result,
                  [](const std::string& word) { return is_space(first_code_point(word).value); });
    return result;
}

Words split_bert(std::string_view text) {
    const Scan scan(text);
    Words result;
    std::size_t from = 0;
    const auto close = [&](std::size_t i) {
        if (i > from) result.push_back(scan.part(from, i));
    };
    for (std::size_t i = 0; i < scan.size(); ++i) {
        const bool mark = is_punctuation(scan[i]);
        if (!mark && !is_space(scan[i])) continue;
        close(i);
        if (mark) result.push_back(scan.part(i, i + 1));
        from = i + 1;
    }
    close(scan.size());
    return result;
}

Words split_metaspace(std::string_view text) {
    constexpr std::string_view kSpace = "\u2581";
    Words result;
    while (!text.empty()) {
        const std::size_t end = text.find(kSpace, text.starts_with(kSpace) ? kSpace.size() : 0);
        result.emplace_back(text.substr(0, end));
        text = end == std::string_view::npos ? std::string_view{} : text.substr(end);
    }
    return result;
}

Words split_parts(std::string_view text, std::vector<TextPart> parts, MatchedParts matched) {
    if (matched == MatchedParts::with_next) std::ranges::reverse(parts);
    Words result;
    std::vector<TextPart> joined;
    bool before = false;  // whether the last part matched
    for (const TextPart& part : parts) {
        const bool joins =
            matched == MatchedParts::contiguous ? part.matched == before
            : matched == MatchedParts::with_previous || matched == MatchedParts::with_next
                ? part.matched && !before
                : false;
        if (joins && !joined.empty()) {
            joined.back().begin = std::min(joined.back().begin, part.begin);
            joined.back().end = std::max(joined.back().end, part.end);
        } else {
            joined.push_back(part);
        }
        before = part.matched;
    }
    if (matched == MatchedParts::with_next) std::ranges::reverse(joined);
    for (const TextPart& part : joined)
        if (part.begin < part.end && !(matched == MatchedParts::removed && part.matched))
            result.emplace_back(text.substr(part.begin, part.end - part.begin));
    return result;
}

Words split_points(std::string_view text, bool (*is)(char32_t), MatchedParts matched) {
    std::vector<TextPart> parts;
    for (std::size_t at = 0; at < text.size();) {
        const CodePoint c = first_code_point(text.substr(at));
        if (is(c.value) || parts.empty() || parts.back().matched)
            parts.push_back({at, at + c.bytes, is(c.value)});
        else
            parts.back().end = at + c.bytes;
        at += c.bytes;
    }
    return split_parts(text, std::move(parts), matched);
}

Words split_word_signs(std::string_view text) {
    const auto is_sign = [](char32_t c) { return !is_word(c) && !is_space(c); };
    Words result = split_by(text, [&](const Scan& scan, std::size_t i) {
        if (is_word(scan[i])) return scan.run(i, is_word);
        const std::size_t end = scan.run(i, is_sign);
        return end > i ? end : scan.run(i, is_space);
    });
    std::erase_if(result, [](const std::string& word) {
        const char32_t first = first_code_point(word).value;
        return !is_word(first) && is_space(first);
    });
    return result;
}

std::vector<TextPart> parts_at(std::string_view text, std::string_view needle) {
    std::vector<TextPart> parts;
    std::size_t from = 0;
    for (std::size_t at = text.find(needle); at != text.npos; at = text.find(needle, from)) {
        if (from < at) parts.push_back({from, at, false});
        from = at + needle.size();
        parts.push_back({at, from, true});
    }
    if (from < text.size()) parts.push_back({from, text.size(), false});
    return parts;
}

std::string bytes_as_letters(std::string_view bytes) {
    static const std::array<char32_t, 256> letters = byte_letters();
    std::string result;
    for (const char byte : bytes)
        append_code_point(result, letters[static_cast<unsigned char>(byte)]);
    return result;
}

std::string letters_as_bytes(std::string_view letters) {
    static const std::map<char32_t, char> bytes = [] {
        std::map<char32_t, char> map;
        const std::array<char32_t, 256> all = byte_letters();
        for (std::size_t n = 0; n < all.size(); ++n) map[all[n]] = static_cast<char>(n);
        return map;
    }();
    std::string result;
    for (std::size_t at = 0; at < letters.size();) {
        const CodePoint c = first_code_point(letters.substr(at));
        at += c.bytes;
        if (const auto found = bytes.find(c.value); found != bytes.end()) result += found->second;
    }
    return result;
}

}  // namespace attn
