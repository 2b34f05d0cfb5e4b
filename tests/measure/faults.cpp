#include "tests/measure/faults.h"

#include <fmt/format.h>

namespace attn::test {
namespace {

using view::Point;
using Quad = std::array<Point, 4>;

// Design units.
constexpr double kLeastText = 12.8;    // 11 an em
constexpr double kLeastScript = 11.0;  // "Q" of W_Q
constexpr float kHair = 1.5F;          // rounding is no cut
// Of a line's height: what has no ink above capitals and beneath the base line.
constexpr float kAirAbove = 0.22F;
constexpr float kAirBeneath = 0.2F;

Point between(Point a, Point b, float t) { return {a.x + (b.x - a.x) * t, a.y + (b.y - a.y) * t}; }

/// The corners without the air of the line, and a hair less wide.
Quad inked(const TextLine& text) {
    const auto& [a, b, c, d] = text.corners;
    const float width = std::hypot(b.x - a.x, b.y - a.y);
    const float side = width > 0.0F ? std::min(0.25F, kHair / width) : 0.0F;
    const Point top_left = between(a, d, kAirAbove);
    const Point top_right = between(b, c, kAirAbove);
    const Point low_left = between(a, d, 1.0F - kAirBeneath);
    const Point low_right = between(b, c, 1.0F - kAirBeneath);
    return {between(top_left, top_right, side), between(top_right, top_left, side),
            between(low_right, low_left, side), between(low_left, low_right, side)};
}

/// Whether a line across some edge of `a` has all of `b` on its other side.
bool has_gap(const Quad& a, const Quad& b) {
    for (std::size_t n = 0; n < 4; ++n) {
        const Point from = a[n];
        const Point to = a[(n + 1) % 4];
        const Point normal{to.y - from.y, from.x - to.x};
        const auto across = [&](Point p) {
            return (p.x - from.x) * normal.x + (p.y - from.y) * normal.y;
        };
        if (std::ranges::all_of(b, [&](Point p) { return across(p) >= 0.0F; })) return true;
    }
    return false;
}

/// Of a formula, or the index of a word: "Q", "max", " if ".
bool is_script(const TextLine& text) {
    const bool formula =
        text.font.face == view::Face::italic || text.font.face == view::Face::roman;
    const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
    const auto letters = std::ranges::count_if(text.text, letter);
    return formula || (letters <= 3 && std::ranges::all_of(text.text, [&](char c) {
                           return c == ' ' || letter(c);
                       }));
}

bool is_seen(const TextLine& text) {
    return !shared_part(around(inked(text)), text.clip).is_empty();
}

/// "" when all of it shows. Up and down it may be scrolled.
std::string what_is_cut(const TextLine& text, const Rect& window, float hair) {
    const Rect ink = around(inked(text));
    const Rect clip = shared_part(text.clip, window);
    const auto beyond = [hair](float by, const char* side) {
        return by > hair ? fmt::format("{:.0f} px beyond the {}", by, side) : std::string();
    };
    for (const auto& cut :
         {beyond(clip.low.x - ink.low.x, "left"), beyond(ink.high.x - clip.high.x, "right")})
        if (!cut.empty()) return cut;
    if (text.scrolls) return {};
    for (const auto& cut :
         {beyond(clip.low.y - ink.low.y, "top"), beyond(ink.high.y - clip.high.y, "bottom")})
        if (!cut.empty()) return cut;
    return {};
}

/// From left to right: words that begin right of where others end are over none of these.
void add_overlaps(std::vector<Fault>& faults, std::vector<TextLine> seen) {
    std::ranges::sort(seen, {}, [](const TextLine& text) { return text.bounds().low.x; });
    for (std::size_t n = 0; n < seen.size(); ++n)
        for (std::size_t m = n + 1;
             m < seen.size() && seen[m].bounds().low.x < seen[n].bounds().high.x; ++m)
            if (overlap(seen[n], seen[m]))
                faults.push_back({Fault::Kind::overlap,
                                  fmt::format("{} over {}", where(seen[m]), where(seen[n]))});
}

/// The first letters of a token, which a cut label still has.
std::string_view beginning(std::string_view token) { return token.substr(0, 1); }

bool names(const TextLine& text, std::string_view token) {
    return text.text == token ||
           (text.text.find("…") != std::string::npos && text.text.starts_with(beginning(token)));
}

/// Whether some word names what lies between low and high: a row, left of the cells or right of them, or a column, over
/// which a turned label begins or ends.
bool has_label(const std::vector<TextLine>& seen, std::string_view token, bool row, float low,
               float high) {
    return std::ranges::any_of(seen, [&](const TextLine& text) {
        const Rect at = text.bounds();
        const auto [from, to] =
            row ? std::pair(at.low.y, at.high.y) : std::pair(at.low.x, at.high.x);
        const float middle = (from + to) / 2;
        const bool over = middle >= low && middle <= high;
        const bool touches = !row && text.turned && from <= high && to >= low;
        return names(text, token) && (over || touches);
    });
}

}  // namespace

std::string where(const TextLine& text) {
    const Rect at = text.bounds();
    return fmt::format("\"{}\" at {:.0f},{:.0f}…{:.0f},{:.0f} in {}", text.text, at.low.x, at.low.y,
                       at.high.x, at.high.y, text.window);
}

std::vector<TextLine> seen_of(const Log& log) {
    std::vector<TextLine> seen;
    for (const TextLine& text : log.lines)
        if (is_seen(text)) seen.push_back(text);
    return seen;
}

const char* name_of(Fault::Kind kind) {
    constexpr const char* kNames[] = {"small",  "overlap", "cut",     "unlabelled",
                                      "elided", "faint",   "missing", "covered"};
    return kNames[static_cast<std::size_t>(kind)];
}

bool overlap(const TextLine& a, const TextLine& b) {
    if (shared_part(shared_part(a.bounds(), a.clip), shared_part(b.bounds(), b.clip)).is_empty())
        return false;
    const Quad one = inked(a);
    const Quad other = inked(b);
    return !has_gap(one, other) && !has_gap(other, one);
}

std::vector<Fault> faults_of_text(const Log& log, const Rect& window, double scale) {
    std::vector<Fault> faults;
    const std::vector<TextLine> seen = seen_of(log);
    for (const TextLine& text : seen) {
        if (text.font.px < (is_script(text) ? kLeastScript : kLeastText) * scale - 0.01)
            faults.push_back({Fault::Kind::small,
                              fmt::format("{:.1f} px: {}", text.font.px / scale, where(text))});
        if (const std::string cut = what_is_cut(text, window, kHair * static_cast<float>(scale));
            !cut.empty())
            faults.push_back({Fault::Kind::cut, fmt::format("{}: {}", cut, where(text))});
    }
    add_overlaps(faults, seen);
    return faults;
}

std::vector<Fault> missing_labels(const Log& log, const view::GridView& grid, const Hero& hero,
                                  const Asked& asked) {
    std::vector<Fault> faults;
    const std::vector<TextLine> seen = seen_of(log);
    const float row = hero.at.height() / static_cast<float>(grid.rows);
    const float column = hero.at.width() / static_cast<float>(grid.columns);
    const auto miss = [&](const char* what, const std::string& token) {
        faults.push_back({Fault::Kind::unlabelled, fmt::format("the {} \"{}\"", what, token)});
    };
    for (Index n = 0; n < grid.rows; ++n) {
        const float low = hero.at.low.y + row * static_cast<float>(n);
        const std::string& token = grid.row_labels[n];
        const bool wanted = asked.rows || (grid.selected && grid.selected->first == n);
        if (wanted && !has_label(seen, token, true, low, low + row)) miss("row", token);
    }
    for (Index n = 0; n < grid.columns; ++n) {
        const float low = hero.at.low.x + column * static_cast<float>(n);
        const std::string& token = grid.column_labels[n];
        const bool wanted = asked.columns || (grid.selected && grid.selected->second == n);
        if (wanted && !has_label(seen, token, false, low, low + column)) miss("column", token);
    }
    return faults;
}

}  // namespace attn::test
