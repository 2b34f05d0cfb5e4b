#include "core/models/expression.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <algorithm>
#include <array>
#include <cctype>

#include <fmt/format.h>

#include "core/models/tokenizer_step.h"
#include "core/text.h"

namespace attn {
namespace {

/// \w of Oniguruma: letters, marks, decimal digits, connectors such as "_", and the other numbers of Latin-1, "²" to "¾".
constexpr std::string_view kWordClass =
    R"(\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\x{b2}\x{b3}\x{b9}\x{bc}-\x{be})";
constexpr std::string_view kSpaceClass = R"(\p{White_Space})", kNoSpaceClass = R"(\P{White_Space})";

/// Names that are no script: of general categories those of one or two letters, and these.
constexpr std::array<std::string_view, 6> kBinaryProperties{
    "Alphabetic", "White_Space", "Lowercase", "Uppercase", "Any", "Emoji"};

class Translator {
  public:
    explicit Translator(std::string_view expression) : all_(expression), rest_(expression) {}

    std::string result() {
        while (!rest_.empty()) item();
        return std::move(out_);
    }

  private:
    [[noreturn]] void refuse(std::string_view part) const {
        TokenizerStep::fault(
            fmt::format("has the expression '{}', whose part '{}' is not computed here",
                        shortened(all_), shortened(part)));
    }
    char next() const { return rest_.empty() ? '\0' : rest_.front(); }
    void copy(std::size_t bytes) {
        out_ += rest_.substr(0, bytes);
        rest_.remove_prefix(std::min(bytes, rest_.size()));
    }
    bool take(std::string_view text) {
        if (!rest_.starts_with(text)) return false;
        rest_.remove_prefix(text.size());
        return true;
    }

    void item() {
        if (next() == '\\') return escape(false);
        if (next() == '[') return character_class();
        if (next() == '(') return group();
        if (next() == '{') return interval();
        if (next() == '}') out_ += '\\';
        copy(1);
    }

    void group() {
        for (const std::string_view start : {"(?:", "(?=", "(?!", "(?<=", "(?<!", "(?>", "(?i:"})
            if (rest_.starts_with(start)) return copy(start.size());
        if (rest_.starts_with("(?") || rest_.starts_with("(*")) refuse(rest_.substr(0, 4));
        copy(1);
    }

    /// {2}, {2,}, {2,3}, {,3}; another brace is a character.
    void interval() {
        std::size_t at = 1;
        const auto digits = [&] {
            const std::size_t first = at;
            while (at < rest_.size() && std::isdigit(static_cast<unsigned char>(rest_[at]))) ++at;
            return at - first;
        };
        const std::size_t least = digits();
        const bool comma = at < rest_.size() && rest_[at] == ',';
        if (comma) ++at;
        const std::size_t most = comma ? digits() : 0;
        if (at >= rest_.size() || rest_[at] != '}' || least + most == 0) {
            out_ += '\\';
            return copy(1);
        }
        if (rest_.size() > at + 1 && (rest_[at + 1] == '+' || rest_[at + 1] == '?'))
            refuse(rest_.substr(0, at + 2));
        out_ += least == 0 ? "{0" : "{";
        rest_.remove_prefix(1);
        copy(at);
    }

    void character_class() {
        const std::string_view whole = rest_.substr(0, rest_.find(']') + 1);
        copy(next() == '[' && rest_.starts_with("[^") ? 2 : 1);
        if (next() == ']') refuse(whole);
        for (int depth = 1; depth > 0;) {
            if (rest_.empty() || rest_.starts_with("&&") || rest_.starts_with("[:") ||
                rest_.starts_with("[^"))
                refuse(whole);
            if (next() == '[') {  // a class in a class adds its characters
                rest_.remove_prefix(1);
                ++depth;
            } else if (next() == ']') {
                if (--depth == 0)
                    copy(1);
                else
                    rest_.remove_prefix(1);
            } else if (next() == '\\') {
                escape(true);
            } else {
                copy(1);
            }
        }
    }

    void property() {
        const std::size_t end = rest_.find('}');
        if (rest_.size() < 3 || rest_[2] != '{' || end == rest_.npos) refuse(rest_.substr(0, 3));
        std::string_view name = rest_.substr(3, end - 3);
        out_ += rest_.substr(0, 3);
        if (name.starts_with('^')) {
            out_ += '^';
            name.remove_prefix(1);
        }
        const bool plain = !name.empty() && std::ranges::all_of(name, [](char c) {
            return c == '_' || std::isalpha(static_cast<unsigned char>(c));
        });
        if (!plain) refuse(rest_.substr(0, end + 1));
        if (name.size() > 2 &&
            std::ranges::find(kBinaryProperties, name) == kBinaryProperties.end())
            out_ += "sc:";
        out_ += name;
        out_ += '}';
        rest_.remove_prefix(end + 1);
    }

    void code_point() {
        const std::string_view whole = rest_.substr(0, 6);
        const bool hex = rest_.starts_with("\\x{");
        const std::size_t end = hex ? rest_.find('}') : rest_[1] == 'u' ? 6 : 4;
        const std::size_t first = hex ? 3 : 2;
        if (end == rest_.npos || end > rest_.size() || end == first) refuse(whole);
        const std::string_view digits = rest_.substr(first, end - first);
        const bool valid = digits.size() <= 6 && std::ranges::all_of(digits, [](char c) {
                               return std::isxdigit(static_cast<unsigned char>(c));
                           });
        // \xE2 is a byte, and not a character.
        if (!valid || (!hex && rest_[1] == 'x' && digits[0] > '7')) refuse(whole);
        out_ += fmt::format("\\x{{{}}}", digits);
        rest_.remove_prefix(end + (hex ? 1 : 0));
    }

    void escape(bool in_class) {
        const std::string_view whole = rest_.substr(0, 2);
        if (whole.size() < 2) refuse(whole);
        const char kind = whole[1];
        const auto put = [&](std::string_view text) {
            out_ += text;
            rest_.remove_prefix(2);
        };
        switch (kind) {
            case 'd':
                return put(R"(\p{Nd})");
            case 'D':
                return put(R"(\P{Nd})");
            case 's':
                return put(kSpaceClass);
            case 'S':
                return put(kNoSpaceClass);
            case 'w':
                return put(in_class ? std::string(kWordClass) : fmt::format("[{}]", kWordClass));
            case 'W':
                if (in_class) refuse(whole);
                return put(fmt::format("[^{}]", kWordClass));
            case 'b':
            case 'B': {
                if (in_class) refuse(whole);
                const bool at = kind == 'b';
                return put(fmt::format("(?:(?<=[{0}])(?{1}[{0}])|(?<![{0}])(?{2}[{0}]))",
                                       kWordClass, at ? '!' : '=', at ? '=' : '!'));
            }
            case 'p':
            case 'P':
                return property();
            case 'x':
            case 'u':
                return code_point();
            case 'v':
                return put(R"(\x0b)");
            case 'A':
            case 'z':
                if (in_class) refuse(whole);
                return copy(2);
            case 'n':
            case 'r':
            case 't':
            case 'f':
                return copy(2);
            default:
                if (std::isalnum(static_cast<unsigned char>(kind))) refuse(whole);
        }
        if ((static_cast<unsigned char>(kind) & 0x80U) != 0)
            rest_.remove_prefix(1);  // the backslash
        else
            copy(2);
    }

    std::string_view all_, rest_;
    std::string out_;
};

constexpr std::size_t kLongest = 16'384;  // bytes of an expression

}  // namespace

std::string pcre2_expression(std::string_view expression) {
    if (expression.size() > kLongest)
        TokenizerStep::fault(fmt::format("has an expression of {}; expected at most {}",
                                         counted(expression.size(), "byte"), kLongest));
    return Translator(expression).result();
}

struct Expression::Code {
    pcre2_code* compiled = nullptr;
    explicit Code(pcre2_code* code) : compiled(code) {}
    Code(const Code&) = delete;
    Code& operator=(const Code&) = delete;
    ~Code() { pcre2_code_free(compiled); }
};

Expression Expression::parse(std::string_view expression) {
    const std::string pattern = pcre2_expression(expression);
    const std::unique_ptr<pcre2_compile_context, decltype(&pcre2_compile_context_free)> context(
        pcre2_compile_context_create(nullptr), &pcre2_compile_context_free);
    pcre2_set_newline(context.get(), PCRE2_NEWLINE_LF);
    int fault = 0;
    PCRE2_SIZE at = 0;
    constexpr std::uint32_t kOptions = PCRE2_UTF | PCRE2_UCP | PCRE2_MULTILINE |
                                       PCRE2_NO_AUTO_CAPTURE | PCRE2_USE_OFFSET_LIMIT |
                                       PCRE2_NEVER_BACKSLASH_C;
    pcre2_code* const code = pcre2_compile(reinterpret_cast<PCRE2_SPTR>(pattern.data()),
                                           pattern.size(), kOptions, &fault, &at, context.get());
    if (code == nullptr) {
        std::array<PCRE2_UCHAR, 128> why{};
        pcre2_get_error_message(fault, why.data(), why.size());
        TokenizerStep::fault(fmt::format("has the expression '{}', which PCRE2 does not read: {}",
                                         shortened(expression),
                                         reinterpret_cast<const char*>(why.data())));
    }
    Expression made;
    made.code_ = std::make_shared<const Code>(code);
    return made;
}

namespace {

/// One search after another through one text.
class Search {
  public:
    Search(const pcre2_code* code, std::string_view text, TextBudget& budget)
        : code_(code),
          text_(text),
          budget_(budget),
          data_(pcre2_match_data_create(1, nullptr)),
          context_(pcre2_match_context_create(nullptr)) {
        pcre2_set_heap_limit(context_, kMostKibibytes);
    }
    ~Search() {
        pcre2_match_data_free(data_);
        pcre2_match_context_free(context_);
    }
    Search(const Search&) = delete;
    Search& operator=(const Search&) = delete;

    /// The first that begins at `from` or later.
    bool find(std::size_t from, Expression::Match& found) {
        // PCRE2 counts the steps of each start separately: if a search of many starts, with few steps each, exceeds them, each
        // start is searched alone, and the clock is read between them.
        for (std::size_t at = from; at <= text_.size();) {
            const std::size_t last = std::min(text_.size(), at + kStarts);
            const int result = search(at, last, kStarts);
            if (result == PCRE2_ERROR_MATCHLIMIT) {
                for (; at <= last; at = after(at))
                    if (search_one(at, found)) return true;
                continue;
            }
            if (result >= 0) return take(found);
            check(result);
            budget_.spend(kWorkOfStarts);
            at = last + 1;
            while (at < text_.size() && (static_cast<unsigned char>(text_[at]) & 0xC0U) == 0x80U)
                ++at;
        }
        return false;
    }
    std::size_t after(std::size_t at) const {
        return at + std::max<std::size_t>(1, first_code_point(text_.substr(at)).bytes);
    }

  private:
    static constexpr std::size_t kStarts = 2048;

    int search(std::size_t at, std::size_t last, std::size_t steps) {
        pcre2_set_match_limit(context_, static_cast<std::uint32_t>(steps));
        pcre2_set_offset_limit(context_, last);
        return pcre2_match(code_, reinterpret_cast<PCRE2_SPTR>(text_.data()), text_.size(), at,
                           PCRE2_NO_UTF_CHECK, data_, context_);
    }
    bool search_one(std::size_t at, Expression::Match& found) {
        const int result = search(at, at, Expression::kMostSteps);
        budget_.spend(kWorkOfOne);
        if (result < 0) check(result);
        return result >= 0 && take(found);
    }
    bool take(Expression::Match& found) const {
        const PCRE2_SIZE* const ends = pcre2_get_ovector_pointer(data_);
        found = {ends[0], std::max(ends[0], ends[1])};
        return true;
    }
    void check(int result) const {
        if (result == PCRE2_ERROR_NOMATCH) return;
        budget_.refuse(
            result == PCRE2_ERROR_MATCHLIMIT
                ? fmt::format("takes more than {} steps at one character", Expression::kMostSteps)
                : fmt::format("cannot be matched (PCRE2's error {})", result));
    }
    static constexpr std::size_t kWorkOfOne = 100'000, kWorkOfStarts = 50'000;  // for TextBudget
    static constexpr std::uint32_t kMostKibibytes = 256 * 1024;

    const pcre2_code* code_;
    std::string_view text_;
    TextBudget& budget_;
    pcre2_match_data* data_;
    pcre2_match_context* context_;
};

constexpr std::size_t kWorkOfMatch = 100;  // for TextBudget

}  // namespace

std::vector<Expression::Match> Expression::matches(std::string_view text,
                                                   TextBudget& budget) const {
    std::vector<Match> all;
    for (std::size_t at = 0; at < text.size();) {
        const CodePoint c = first_code_point(text.substr(at));
        if (c.value == kReplacement && c.bytes == 1)
            budget.refuse("makes bytes that are not UTF-8");
        at += c.bytes;
    }
    Search search(code_->compiled, text, budget);
    Match found{};
    std::size_t from = 0;
    while (from <= text.size() && search.find(from, found)) {
        budget.spend(kWorkOfMatch + found.end - from);
        const bool again = found.begin == found.end && !all.empty() && all.back().end == found.end;
        if (!again) all.push_back(found);
        from = again ? search.after(from) : found.end;
    }
    return all;
}

}  // namespace attn
