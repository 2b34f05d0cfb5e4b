#include "app/common/draw/typeset.h"

#include <algorithm>
#include <string>

#include <cctype>

namespace attn::ui {
namespace {

using view::Color, view::Point;

constexpr std::string_view kRoot = "√", kSubscriptK = "ₖ";

// Of the size of the line.
constexpr float kIndex = 0.74F;
// Of the em.
constexpr float kLower = 0.16F;
constexpr float kHook = 0.5F;  // width of a root's hook
constexpr float kTop = 0.82F;  // of its bar, above the baseline
constexpr float kStroke = 0.07F;

// Which letters have which indices.
constexpr std::pair<std::string_view, std::string_view> kSymbols[] = {
    {"d", " k v model "},    {"W", " Q K V O score "}, {"b", " Q K V O "},
    {"X", " kv "},           {"p", " max i j k "},     {"a", " i j k ij ii "},
    {"q", " i j c d "},      {"k", " i j c d "},       {"v", " i j c d "},
    {"s", " i j k ij max "}, {"x", " i j c "},         {"z", " i j k "},
    {"O", " A B "},          {"o", " i j "},           {"m", " i j "},
    {"M", " i j ij "},       {"S", " i j ij "},        {"Σ", " i j k c d n h "},
    {"max", " i j "},        {"softmax", " j "},       {"θ", " c i "},
    {"α", " ij "},           {"n", " q k "},           {"‖", " F 2 "},
    {")", " F 2 "}};

bool is_letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }
bool is_alnum(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; }

/// Whether a letter after `text` is part of the word or name that `text` ends with.
bool joins(std::string_view text) {
    return !text.empty() && (is_alnum(text.back()) || text.back() == '_' || text.back() == '.');
}

std::size_t alnum_length(std::string_view text) {
    const auto end = std::ranges::find_if_not(text, is_alnum);
    return static_cast<std::size_t>(end - text.begin());
}

/// How long the index is that follows the "_" at `at`; 0 where that is the line of a name.
std::size_t index_length(std::string_view text, std::size_t at) {
    const std::string_view before = text.substr(0, at);
    const std::string_view after = text.substr(at + 1);
    const std::size_t length = alnum_length(after);
    const std::string_view rest = after.substr(length);
    const bool goes_on =
        rest.starts_with('_') || (rest.starts_with('.') && rest.size() > 1 && is_alnum(rest[1]));
    if (length == 0 || goes_on) return 0;
    const std::string index = " " + std::string(after.substr(0, length)) + " ";
    const bool known = std::ranges::any_of(kSymbols, [&](const auto& symbol) {
        const auto& [letter, indices] = symbol;
        return before.ends_with(letter) && indices.find(index) != indices.npos &&
               (!is_letter(letter.front()) ||
                !joins(before.substr(0, before.size() - letter.size())));
    });
    return known ? length : 0;
}

/// How much of `text`, which stands after a root, its bar goes over; 0: no more than is plain.
std::size_t radicand_length(std::string_view text) {
    if (text.starts_with('(')) {
        const std::size_t end = text.find(')');
        return end == text.npos ? 0 : end + 1;
    }
    const std::size_t length = alnum_length(text);
    if (length > 0 && text.substr(length).starts_with(kSubscriptK))
        return length + kSubscriptK.size();
    if (length == 0 || length == text.size() || text[length] != '_') return length;
    const std::size_t index = index_length(text, length);
    return index == 0 ? 0 : length + 1 + index;
}

/// What begins in a line: the length of its own sign, and of what it is set with; 0: nothing.
struct Sign {
    std::size_t own = 1, length = 0;
    bool root = false;
};
Sign sign_at(std::string_view text, std::size_t at) {
    if (text[at] == '_') return {1, index_length(text, at), false};
    if (!text.substr(at).starts_with(kRoot)) return {};
    return {kRoot.size(), radicand_length(text.substr(at + kRoot.size())), true};
}

bool is_plain(std::string_view text) {
    return text.find('_') == text.npos && text.find(kRoot) == text.npos;
}

}  // namespace

/// What stands where, from the top left of the line.
struct TypesettingPainter::Line {
    struct TextRun {
        std::string_view text;
        view::Font font;
        Point at;
    };
    float width = 0.0F;
    std::vector<TextRun> runs;
    std::vector<std::vector<Point>> strokes;
};

void TypesettingPainter::add(std::string_view text, const view::Font& font, float y,
                             Line& line) const {
    if (text.empty()) return;
    line.runs.push_back({text, font, {line.width, y}});
    line.width += to_.text_size(font, text).x;
}

void TypesettingPainter::add_root(const view::Font& font, std::string_view radicand,
                                  Line& line) const {
    const float em = font.em();
    const float bottom = font.ascent();
    const float top = std::round(bottom - kTop * em);
    const float x = line.width;
    line.width += kHook * em;
    set(font, radicand, line);
    line.strokes.push_back({{x + 0.03F * em, bottom - 0.3F * em},
                            {x + 0.14F * em, bottom - 0.36F * em},
                            {x + 0.29F * em, bottom},
                            {x + 0.47F * em, top},
                            {line.width, top}});
}

void TypesettingPainter::set(const view::Font& font, std::string_view text, Line& line) const {
    const view::Font small{font.face, std::min(font.px, std::max(font.px * kIndex, least_px_))};
    const float lower = font.ascent() - small.ascent() + kLower * font.em();
    std::size_t plain = 0;
    for (std::size_t at = 0; at < text.size();) {
        const Sign sign = sign_at(text, at);
        if (sign.length == 0) {
            ++at;
            continue;
        }
        add(text.substr(plain, at - plain), font, 0.0F, line);
        const std::string_view part = text.substr(at + sign.own, sign.length);
        if (sign.root)
            add_root(font, part, line);
        else
            add(part, small, lower, line);
        plain = at = at + sign.own + sign.length;
    }
    add(text.substr(plain), font, 0.0F, line);
}

Point TypesettingPainter::text_size(const view::Font& font, std::string_view text) {
    if (is_plain(text)) return to_.text_size(font, text);
    Line line;
    set(font, text, line);
    return {line.width, font.px};
}

void TypesettingPainter::text(const view::Font& font, Point at, Color color,
                              std::string_view text) {
    if (is_plain(text)) return to_.text(font, at, color, text);
    Line line;
    set(font, text, line);
    for (const Line::TextRun& description : line.runs)
        to_.text(description.font, {at.x + description.at.x, at.y + description.at.y}, color,
                 description.text);
    for (std::vector<Point>& stroke : line.strokes) {
        for (Point& point : stroke) point = {at.x + point.x, at.y + point.y};
        to_.polyline(stroke, color, std::max(1.0F, kStroke * font.em()));
    }
}

}  // namespace attn::ui
