#include "tests/measure/contrasts.h"

#include <fmt/format.h>

namespace attn::test {
namespace {

using view::Color;
using view::Point;

std::uint32_t packed(Color c) {
    return (static_cast<std::uint32_t>(c.r) << 16) | (static_cast<std::uint32_t>(c.g) << 8) | c.b;
}

/// The pixels within a rectangle, of which the window shows some.
std::vector<Color> pixels_in(const Camera::Shot& shot, const Rect& at) {
    std::vector<Color> pixels;
    for (int y = static_cast<int>(std::ceil(at.low.y)); y < static_cast<int>(at.high.y); ++y)
        for (int x = static_cast<int>(std::ceil(at.low.x)); x < static_cast<int>(at.high.x); ++x)
            pixels.push_back(shot.at(x, y));
    return pixels;
}

Color commonest(const std::vector<Color>& pixels) {
    std::map<std::uint32_t, std::pair<int, Color>> counts;
    for (const Color& c : pixels) {
        auto& [count, color] = counts[packed(c)];
        ++count;
        color = c;
    }
    const auto most = std::ranges::max_element(
        counts, [](const auto& a, const auto& b) { return a.second.first < b.second.first; });
    return most == counts.end() ? Color{} : most->second.second;
}

/// What shows of a colour that is partly clear.
Color over(Color base, Color ink) {
    const double share = ink.a / 255.0;
    ink.a = 255;
    return view::blend(base, ink, share);
}

Color behind(const Camera::Shot& shot, const Rect& at) { return commonest(pixels_in(shot, at)); }

Rect grown(const Rect& at, float by) {
    return {{at.low.x - by, at.low.y - by}, {at.high.x + by, at.high.y + by}};
}

/// The commonest pixel of a frame just outside of a rectangle.
Color outside(const Camera::Shot& shot, const Rect& at, float width) {
    const Rect wide = grown(at, width);
    std::vector<Color> pixels = pixels_in(shot, {wide.low, {wide.high.x, at.low.y - 1}});
    for (const Rect& side : {Rect{{wide.low.x, at.high.y + 1}, wide.high},
                             Rect{{wide.low.x, at.low.y}, {at.low.x - 1, at.high.y}},
                             Rect{{at.high.x + 1, at.low.y}, {wide.high.x, at.high.y}}})
        for (const Color& c : pixels_in(shot, side)) pixels.push_back(c);
    return commonest(pixels);
}

std::string place(const Rect& at) {
    return fmt::format("{:.0f},{:.0f}…{:.0f},{:.0f}", at.low.x, at.low.y, at.high.x, at.high.y);
}

std::string hex(Color c) { return fmt::format("#{:02x}{:02x}{:02x}", c.r, c.g, c.b); }

std::vector<Contrast> sorted(std::vector<Contrast> all) {
    std::ranges::stable_sort(all, {}, &Contrast::ratio);
    return all;
}

bool is_same_place(const Rect& a, const Rect& b) {
    return std::abs(a.low.x - b.low.x) < 1.5F && std::abs(a.low.y - b.low.y) < 1.5F &&
           std::abs(a.high.x - b.high.x) < 1.5F && std::abs(a.high.y - b.high.y) < 1.5F;
}

/// Two outlines of one box, one after the other, are a ring.
bool is_ring(const Mark& first, const Mark& second) {
    return first.kind == Mark::Kind::outline && second.kind == Mark::Kind::outline &&
           is_same_place(first.at, second.at) && first.thickness > second.thickness;
}

/// How the ink of a pen stands out where it passes `at`, along `way`: the largest contrast of a pixel that it
/// covers and one beside it. An antialiased line lies on one pixel or on two.
double step_across(const Camera::Shot& shot, Point at, Point direction, float thickness) {
    const float length = std::max(std::hypot(direction.x, direction.y), 0.01F);
    const auto pixel = [&](float by) {
        return shot.at(static_cast<int>(std::floor(at.x - direction.y / length * by)),
                       static_cast<int>(std::floor(at.y + direction.x / length * by)));
    };
    const float inner = std::max(thickness / 2, 1.0F);
    double most = 1.0;
    for (const float beside :
         {-inner - 3.0F, -inner - 2.0F, -inner - 1.0F, inner + 1.0F, inner + 2.0F, inner + 3.0F})
        for (float on = -inner; on <= inner; on += 0.5F)
            most = std::max(most, view::contrast(pixel(on), pixel(beside)));
    return most;
}

/// The steps at points evenly along one leg of a course, its ends and round corners apart: there other things begin.
void add_steps(const Camera::Shot& shot, const Mark& mark, Point from, Point to,
               std::vector<double>& steps) {
    constexpr float kApart = 4.0F;  // px
    const Point direction{to.x - from.x, to.y - from.y};
    const float length = std::hypot(direction.x, direction.y);
    const auto count = std::max(2, static_cast<int>(length / kApart));
    for (int n = 1; n < count; ++n) {
        const float t = static_cast<float>(n) / static_cast<float>(count);
        if (std::min(t, 1.0F - t) * length < mark.radius) continue;
        const Point at{from.x + direction.x * t, from.y + direction.y * t};
        if (!shared_part({at, {at.x + 1, at.y + 1}}, mark.clip).is_empty())
            steps.push_back(step_across(shot, at, direction, mark.thickness));
    }
}

/// That of three in four points along a line is larger: something else may cross it.
double usual(std::vector<double> steps) {
    if (steps.empty()) return 21.0;
    std::ranges::sort(steps);
    return steps[steps.size() / 4];
}

std::vector<double> steps_along(const Camera::Shot& shot, const Mark& mark) {
    std::vector<double> steps;
    for (std::size_t n = 1; n < mark.course.size(); ++n)
        add_steps(shot, mark, mark.course[n - 1], mark.course[n], steps);
    return steps;
}

/// Of the weakest of its four sides.
double weakest_side(const Camera::Shot& shot, const Mark& mark) {
    double least = 21.0;
    for (std::size_t n = 1; n < mark.course.size(); ++n) {
        std::vector<double> steps;
        add_steps(shot, mark, mark.course[n - 1], mark.course[n], steps);
        least = std::min(least, usual(std::move(steps)));
    }
    return least;
}

double least_step_around(const Camera::Shot& shot, const Mark& ring) {
    const std::vector<double> steps = steps_along(shot, ring);
    return steps.empty() ? 21.0 : *std::ranges::min_element(steps);
}

/// From side to side of what cuts it: the shading of a row, and no control.
bool is_row(const Mark& fill) {
    return fill.at.width() > 0.9F * fill.clip.width() && fill.at.height() < fill.clip.height();
}

/// A box with words, such as a button's, that has no edge of its own.
bool is_bare_box(const Log& log, const Mark& fill, const view::Theme& theme) {
    if (fill.kind != Mark::Kind::fill || fill.color != theme.raised || is_row(fill)) return false;
    return std::ranges::none_of(log.marks, [&](const Mark& mark) {
        return mark.kind == Mark::Kind::outline && is_same_place(mark.at, fill.at);
    });
}

/// What marks a filled row as the current one, along its left end.
const Mark* strip_of(const Log& log, const Mark& row, const view::Theme& theme) {
    const auto found = std::ranges::find_if(log.marks, [&](const Mark& mark) {
        return mark.kind == Mark::Kind::fill && mark.color == theme.accent &&
               std::abs(mark.at.low.x - row.at.low.x) < 1.5F && row.at.contains(mark.at);
    });
    return found == log.marks.end() ? nullptr : &*found;
}

/// Nothing depends on a hairline.
bool matters(const Mark& mark, const view::Theme& theme) {
    const bool edge = mark.kind != Mark::Kind::fill;
    return edge && mark.color != theme.line && mark.color != theme.background &&
           !shared_part(grown(mark.at, 0.5F), mark.clip).is_empty();
}

const char* name_of(Mark::Kind kind) {
    constexpr const char* kNames[] = {"fill", "edge", "line", "disc", "curve"};
    return kNames[static_cast<std::size_t>(kind)];
}

constexpr float kBeside = 2.5F;  // px
constexpr float kThin = 6.0F;

/// Lines, edges and curves by the pixels across them, the rest by what lies around.
double ratio_of(const Camera::Shot& shot, const Mark& mark) {
    if (mark.kind == Mark::Kind::outline) return weakest_side(shot, mark);
    if (!mark.course.empty()) return usual(steps_along(shot, mark));
    const Color base = outside(shot, mark.at, kBeside);
    return view::contrast(over(base, mark.color), base);
}

}  // namespace

std::vector<Contrast> of_text(const Camera::Shot& shot) {
    std::vector<Contrast> all;
    for (const TextLine& text : shot.log.lines) {
        const Rect seen = shared_part(text.bounds(), text.clip);
        if (seen.is_empty()) continue;
        // within a single thin letter most pixels are its own, blurred
        const Color base = behind(shot, seen.width() < kThin ? grown(seen, kBeside) : seen);
        const Color ink = over(base, text.ink);
        all.push_back({view::contrast(ink, base), fmt::format("\"{}\" {} on {} at {}", text.text,
                                                              hex(ink), hex(base), place(seen))});
    }
    return sorted(std::move(all));
}

std::vector<Contrast> of_controls(const Camera::Shot& shot, const view::Theme& theme) {
    std::vector<Contrast> all;
    for (const Mark& mark : shot.log.marks) {
        const bool bare = is_bare_box(shot.log, mark, theme);
        if (!bare && !matters(mark, theme)) continue;
        const Mark* const strip = bare ? strip_of(shot.log, mark, theme) : nullptr;
        const Mark& shown = strip != nullptr ? *strip : mark;
        all.push_back(
            {ratio_of(shot, shown),
             fmt::format("{} {} at {}",
                         bare && strip == nullptr ? "box without an edge" : name_of(shown.kind),
                         hex(shown.color), place(shown.at))});
    }
    return sorted(std::move(all));
}

std::vector<Contrast> of_rings(const Camera::Shot& shot) {
    std::vector<Contrast> all;
    for (std::size_t n = 1; n < shot.log.marks.size(); ++n) {
        const Mark& ring = shot.log.marks[n];
        if (!is_ring(shot.log.marks[n - 1], ring)) continue;
        all.push_back({least_step_around(shot, ring), "ring at " + place(ring.at)});
    }
    return sorted(std::move(all));
}

}  // namespace attn::test
