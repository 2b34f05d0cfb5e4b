#include "app/common/exercise/text.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include "app/common/format.h"
#include "core/shape.h"
#include "core/tex.h"

namespace attn::view {
namespace {

constexpr double kMostWhole = 1e15;  // written digit by digit below it
constexpr Index kLeastGrouped = 10000;
constexpr int kMostDigits = 12;
constexpr double kLeastWritten = 1e-4, kMostWritten = 1e9;  // without a power of ten

/// What stands after the ':' of a value.
struct Writing {
    bool parentheses = false, significant = false;
    int digits = -1;  // −1: as plain_number()
};

Result<Writing> writing_from(std::string_view format) {
    Writing writing;
    std::string_view rest = format;
    const auto take = [&](char c) {
        const bool there = rest.starts_with(c);
        if (there) rest.remove_prefix(1);
        return there;
    };
    writing.parentheses = take('p');
    writing.significant = take('s');
    const auto [end, failed] =
        std::from_chars(rest.data(), rest.data() + rest.size(), writing.digits);
    const bool read = rest.empty() || (failed == std::errc() && end == rest.data() + rest.size());
    if (!read || writing.digits > kMostDigits || (writing.significant && writing.digits < 1))
        return bad_input(
            fmt::format("the format ':{}' is unknown; expected p, s and digits", format));
    return writing;
}

std::string written(double value, const Writing& writing) {
    const std::string text = !std::isfinite(value) ? number(value)
                             : writing.significant ? rounded_number(value, writing.digits)
                             : writing.digits >= 0 ? fixed_number(value, writing.digits)
                                                   : plain_number(value);
    return writing.parentheses && value < 0.0 ? "(" + text + ")" : text;
}

std::string_view trimmed(std::string_view text) {
    while (text.starts_with(' ')) text.remove_prefix(1);
    while (text.ends_with(' ')) text.remove_suffix(1);
    return text;
}

/// "k: a | b": the k-th of the texts.
Result<std::string> chosen_text(std::string_view inside, const NamedMatrices& values) {
    const std::size_t colon = std::min(inside.find(':'), inside.size());
    const auto n = evaluate_formula(inside.substr(0, colon), values);
    if (!n) return tl::unexpected(n.error());
    inside.remove_prefix(std::min(colon + 1, inside.size()));
    double left = n->entries[0];
    while (left >= 1.0 && inside.find('|') != inside.npos) {
        inside.remove_prefix(inside.find('|') + 1);
        left -= 1.0;
    }
    if (!(left >= 0.0 && left < 1.0))
        return bad_input(fmt::format("'@{{?{}}}' has no text {}", inside, n->entries[0]));
    return std::string(trimmed(inside.substr(0, inside.find('|'))));
}

/// One "@{…}", as text or as the numbers of a matrix.
Result<ExercisePiece> value_piece(std::string_view inside, const NamedMatrices& values) {
    ExercisePiece piece;
    if (inside.starts_with('?')) {
        auto text = chosen_text(inside.substr(1), values);
        if (!text) return tl::unexpected(std::move(text.error()));
        piece.text = *std::move(text);
        return piece;
    }
    const std::size_t colon = std::min(inside.find(':'), inside.size());
    const auto value = evaluate_formula(inside.substr(0, colon), values);
    if (!value) return tl::unexpected(value.error());
    const auto writing = writing_from(inside.substr(std::min(colon + 1, inside.size())));
    if (!writing) return tl::unexpected(writing.error());
    if (value->is_number()) {
        piece.text = written(value->entries[0], *writing);
        return piece;
    }
    piece.numbers = value->entries;
    for (Index i = 0; i < value->rows; ++i) {
        auto& row = piece.matrix.emplace_back();
        for (Index j = 0; j < value->columns; ++j) row.push_back(written((*value)(i, j), *writing));
    }
    return piece;
}

/// Calls `word(text)` for what stands between values and `value(piece)` for each of them.
template <class Word, class Value>
Result<void> go_through(std::string_view text, const NamedMatrices& values, Word word,
                        Value value) {
    while (!text.empty()) {
        const std::size_t open = std::min(text.find("@{"), text.size());
        if (open > 0) word(text.substr(0, open));
        text.remove_prefix(open);
        if (text.empty()) break;
        const std::size_t close = text.find('}');
        if (close == text.npos) return bad_input(fmt::format("'{}' has no '}}' after '@{{'", text));
        auto piece = value_piece(text.substr(2, close - 2), values);
        if (!piece) return tl::unexpected(std::move(piece.error()));
        value(*std::move(piece));
        text.remove_prefix(close + 1);
    }
    return {};
}

/// Collects the pieces of a paragraph.
class LineWriter {
  public:
    void text(std::string_view text) {
        for (const char c : text) {
            if (c == ' ')
                end_word();
            else
                word_ += c;
        }
    }
    void value(ExercisePiece piece) {
        if (piece.matrix.empty()) return text(piece.text);
        add(std::move(piece));
    }
    void add(ExercisePiece piece) {
        flush();
        piece.glued = glued_;
        pieces_.push_back(std::move(piece));
        glued_ = true;
    }
    ExerciseParagraph take() {
        end_word();
        return std::move(pieces_);
    }

  private:
    void flush() {
        if (word_.empty()) return;
        pieces_.push_back({word_, false, {}, glued_});
        word_.clear();
        glued_ = true;
    }
    void end_word() {
        flush();
        glued_ = false;
    }

    ExerciseParagraph pieces_;
    std::string word_;
    bool glued_ = false;  // the next piece follows the last without a space
};

}  // namespace

std::string fixed_number(double value, int decimals) {
    const double unit = std::pow(10.0, decimals);
    double size = std::abs(value);
    if (size * unit < kMostWhole)
        size = std::round(size * unit) / unit;  // a tie away from 0, as by hand
    std::string text = fmt::format("{:.{}f}", size, decimals);
    const bool zero = text.find_first_not_of("0.") == text.npos;
    return value < 0.0 && !zero ? "−" + text : text;
}

std::string rounded_number(double value, int digits) {
    const double size = std::abs(value);
    if (!(size >= kLeastWritten && size < kMostWritten)) return significant(value, digits);
    const int places = digits - 1 - static_cast<int>(std::floor(std::log10(size)));
    const double unit = std::pow(10.0, -places);
    if (places <= 0) return plain_number(std::round(value / unit) * unit);
    std::string text = fixed_number(value, places);
    text.erase(text.find_last_not_of('0') + 1);
    if (text.ends_with('.')) text.pop_back();
    return text;
}

std::string plain_number(double value) {
    if (!std::isfinite(value)) return number(value);
    if (std::trunc(value) != value || std::abs(value) >= kMostWhole) return significant(value, 6);
    const auto whole = static_cast<Index>(std::abs(value));
    const std::string text = whole < kLeastGrouped ? std::to_string(whole) : grouped(whole);
    return value < 0.0 ? "−" + text : text;
}

Result<std::string> filled_text(std::string_view text, const NamedMatrices& values) {
    std::string filled;
    bool matrix = false;
    const auto done = go_through(
        text, values, [&](std::string_view description) { filled += description; },
        [&](const ExercisePiece& piece) {
            matrix = matrix || !piece.matrix.empty();
            filled += piece.text;
        });
    if (!done) return tl::unexpected(done.error());
    if (matrix) return bad_input(fmt::format("'{}' has a matrix where a number is expected", text));
    return filled;
}

Result<std::string> checked_tex(std::string_view tex, const NamedMatrices& values) {
    auto filled = filled_text(tex, values);
    if (!filled) return filled;
    std::string plain;
    for (std::size_t n = 0; n < filled->size(); ++n) {
        const std::string_view rest = std::string_view(*filled).substr(n);
        if (rest.starts_with("−"))
            plain += '-', n += 2;
        else if (rest.starts_with("∞"))
            plain += "\\infty ", n += 2;
        else
            plain += rest.front();
    }
    if (const auto parsed = tex::parse(plain); !parsed)
        return bad_input(fmt::format("the formula '{}': {}", plain, parsed.error().text()));
    return plain;
}

Result<ExerciseParagraph> exercise_paragraph(std::string_view text, const NamedMatrices& values) {
    LineWriter line;
    while (!text.empty()) {
        const std::size_t open = std::min(text.find('$'), text.size());
        const auto done = go_through(
            text.substr(0, open), values,
            [&](std::string_view description) { line.text(description); },
            [&](ExercisePiece piece) { line.value(std::move(piece)); });
        if (!done) return tl::unexpected(done.error());
        text.remove_prefix(std::min(open + 1, text.size()));
        if (text.empty()) break;
        const std::size_t close = text.find('$');
        if (close == text.npos) return bad_input(fmt::format("'${}' has no second '$'", text));
        auto math = checked_tex(text.substr(0, close), values);
        if (!math) return tl::unexpected(std::move(math.error()));
        line.add({*std::move(math), true});
        text.remove_prefix(close + 1);
    }
    return line.take();
}

}  // namespace attn::view
