#include "tests/measure/measures.h"

#include <fmt/format.h>

#include <cctype>
#include <sstream>

namespace attn::test {
namespace {

using view::Color;
using view::Point;
using Kind = ui::Measuring::Kind;

// Design units.
constexpr double kBar = 48.0, kBottom = 32.0;
constexpr float kFreeSpace = 24.0F;  // beside a text that is cut short
constexpr double kLeastContrast = 4.5;
constexpr float kTile = 8.0F, kMargin = 24.0F;  // of what is not empty
constexpr double kBackground = 0.6;             // of the canvas: a larger fill is behind it

Point middle(const Rect& at) { return {(at.low.x + at.high.x) / 2, (at.low.y + at.high.y) / 2}; }

bool is_in(Point p, const Rect& at) {
    return p.x >= at.low.x && p.x <= at.high.x && p.y >= at.low.y && p.y <= at.high.y;
}

double area_of(const Rect& at) {
    return at.is_empty() ? 0.0 : static_cast<double>(at.width()) * at.height();
}

// ---- counting

/// "−0.5", "64", ".58 %"; not "d_k" nor "H1".
bool is_number(const std::string& part) {
    const auto first = std::ranges::find_if(
        part, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; });
    return first != part.end() && std::isdigit(static_cast<unsigned char>(*first));
}

/// Two letters in a row at least.
bool is_word(const std::string& part) {
    const auto letter = [](char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; };
    return std::adjacent_find(part.begin(), part.end(),
                              [&](char a, char b) { return letter(a) && letter(b); }) != part.end();
}

bool is_in_grid(const TextLine& text, const Log& log, const std::set<std::string>& tokens) {
    if (tokens.contains(text.text)) return true;
    return std::ranges::any_of(log.rects, [&](const RecordedRect& recorded) {
        return recorded.kind != Kind::chart && is_in(middle(text.bounds()), recorded.at);
    });
}

void count(const TextLine& text, Measures& measures) {
    if (text.window != "rail") measures.texts.push_back(text.text);
    std::istringstream parts(text.text);
    for (std::string part; parts >> part;) {
        if (is_number(part))
            ++measures.numbers;
        else if (is_word(part)) {
            ++measures.word_count;
            measures.rail += text.window == "rail" ? 1 : 0;
        }
    }
}

// ---- the largest picture

void find_hero(const Log& log, const Looking& at, Measures& measures) {
    const double canvas = at.window.height() - (kBar + kBottom) * at.scale;
    std::vector<Rect> pictures;
    for (const RecordedRect& recorded : log.rects)
        if (recorded.kind == Kind::cells || recorded.kind == Kind::chart)
            pictures.push_back(recorded.at);
    for (const Shown& shown : log.pictures) pictures.push_back(shared_part(shown.at, shown.clip));
    for (const Rect& each : pictures) {
        const double share = area_of(each) / area_of(at.window);
        if (share <= measures.hero_area) continue;
        measures.hero_area = share;
        measures.hero_height = each.height() / canvas;
    }
}

// ---- empty space

/// Between the rail and the inspector, or the window's edge; between bar and bottom line.
Rect canvas_of(const std::vector<TextLine>& seen, const Looking& at) {
    const auto scale = static_cast<float>(at.scale);
    Rect canvas{{at.window.low.x, at.window.low.y + static_cast<float>(kBar) * scale},
                {at.window.high.x, at.window.high.y - static_cast<float>(kBottom) * scale}};
    for (const TextLine& text : seen) {
        if (text.window == "rail") canvas.low.x = std::max(canvas.low.x, text.bounds().high.x);
        if (text.window == "inspector")
            canvas.high.x = std::min(canvas.high.x, text.bounds().low.x);
    }
    return canvas;
}

double empty_share(const Log& log, const std::vector<TextLine>& seen, const Looking& at) {
    const Rect canvas = canvas_of(seen, at);
    std::vector<Rect> drawn;
    for (const TextLine& text : seen) drawn.push_back(text.bounds());
    for (const Mark& mark : log.marks) drawn.push_back(shared_part(mark.at, mark.clip));
    for (const Shown& shown : log.pictures) drawn.push_back(shared_part(shown.at, shown.clip));
    for (const RecordedRect& recorded : log.rects) drawn.push_back(recorded.at);
    const auto scale = static_cast<float>(at.scale);
    const float tile = kTile * scale, margin = kMargin * scale;
    const auto across = static_cast<int>(canvas.width() / tile);
    const auto down = static_cast<int>(canvas.height() / tile);
    std::vector<bool> filled(static_cast<std::size_t>(std::max(across * down, 0)), false);
    for (const Rect& each : drawn) {
        const Rect near = shared_part({{each.low.x - margin, each.low.y - margin},
                                       {each.high.x + margin, each.high.y + margin}},
                                      canvas);
        if (near.is_empty() || area_of(shared_part(each, canvas)) > kBackground * area_of(canvas))
            continue;
        const auto tile_of = [&](float from, float low, int count) {
            return std::clamp(static_cast<int>((from - low) / tile), 0, count - 1);
        };
        for (int y = tile_of(near.low.y, canvas.low.y, down);
             y <= tile_of(near.high.y, canvas.low.y, down); ++y)
            for (int x = tile_of(near.low.x, canvas.low.x, across);
                 x <= tile_of(near.high.x, canvas.low.x, across); ++x)
                filled[static_cast<std::size_t>(y * across + x)] = true;
    }
    return static_cast<double>(std::ranges::count(filled, false)) /
           static_cast<double>(std::max<std::size_t>(filled.size(), 1));
}

// ---- contrast

/// What shows of a colour that is partly clear.
Color over(Color base, Color ink) {
    const double share = ink.a / 255.0;
    ink.a = 255;
    return view::blend(base, ink, share);
}

Color pixel_of(const Shown& shown, Point p) {
    const auto along = [](float at, float low, float high, float from, float to, int count) {
        const float share = from + (to - from) * (at - low) / std::max(high - low, 1.0F);
        return std::clamp(static_cast<int>(share * static_cast<float>(count)), 0, count - 1);
    };
    const Rect& at = shown.at;
    const int x =
        along(p.x, at.low.x, at.high.x, shown.part.low.x, shown.part.high.x, shown.image.width);
    const int y =
        along(p.y, at.low.y, at.high.y, shown.part.low.y, shown.part.high.y, shown.image.height);
    const std::uint8_t* c =
        &shown.image
             .rgba[4 * (static_cast<std::size_t>(y) * static_cast<std::size_t>(shown.image.width) +
                        static_cast<std::size_t>(x))];
    return {c[0], c[1], c[2], c[3]};
}

/// What lies under a point of a text, as it is drawn.
Color under(const Log& log, int order, Point p, Color base) {
    std::vector<std::pair<int, Color>> layers;
    for (const Mark& mark : log.marks)
        if (mark.order < order && mark.kind == Mark::Kind::fill && is_in(p, mark.at) &&
            is_in(p, mark.clip))
            layers.emplace_back(mark.order, mark.color);
    for (const Shown& shown : log.pictures)
        if (shown.order < order && is_in(p, shown.at) && is_in(p, shown.clip))
            layers.emplace_back(shown.order, pixel_of(shown, p));
    std::ranges::sort(layers, {}, [](const auto& layer) { return layer.first; });
    for (const auto& layer : layers) base = over(base, layer.second);
    return base;
}

void find_faint(const Log& log, const TextLine& text, const Looking& at, Measures& measures) {
    const Color base = under(log, text.order, middle(text.bounds()), at.background);
    const double ratio = view::contrast(over(base, text.ink), base);
    measures.least_contrast = std::min(measures.least_contrast, ratio);
    if (ratio < kLeastContrast)
        measures.faults.push_back(
            {Fault::Kind::faint, fmt::format("{:.2f}: {}", ratio, where(text))});
}

// ---- cut short

/// Up to the next thing at its right on its line, or to the end of what holds it.
float free_beside(const TextLine& text, const std::vector<TextLine>& seen, const Log& log,
                  const Rect& window) {
    const Rect at = text.bounds();
    float end = std::min(text.clip.high.x, window.high.x);
    const auto meet = [&](const Rect& other) {
        if (other.low.y >= at.high.y - 2 || other.high.y <= at.low.y + 2) return;
        if (other.low.x >= at.high.x - 2) end = std::min(end, other.low.x);
        if (other.low.x <= at.low.x && other.high.x >= at.high.x) end = std::min(end, other.high.x);
    };
    for (const TextLine& other : seen)
        if (other.order != text.order) meet(other.bounds());
    for (const Mark& mark : log.marks)
        if (mark.color.a > 0) meet(shared_part(mark.at, mark.clip));
    for (const Shown& shown : log.pictures) meet(shown.at);
    for (const RecordedRect& recorded : log.rects) meet(recorded.at);
    return end - at.high.x;
}

void find_elided(const Log& log, const std::vector<TextLine>& seen, const TextLine& text,
                 const Looking& at, Measures& measures) {
    const bool goes_on = text.text.ends_with(" …");  // "2, 3, …"
    if (text.turned || goes_on || !text.text.ends_with("…")) return;
    const float space = free_beside(text, seen, log, at.window);
    if (space >= kFreeSpace * static_cast<float>(at.scale))
        measures.faults.push_back(
            {Fault::Kind::elided, fmt::format("{:.0f} px free beside {}", space, where(text))});
}

}  // namespace

Measures measured(const Log& log, const Looking& at) {
    Measures measures;
    measures.least_text = measures.least_contrast = 1e9;
    measures.faults = faults_of_text(log, at.window, at.scale);
    find_hero(log, at, measures);
    const std::vector<TextLine> seen = seen_of(log);
    measures.empty = empty_share(log, seen, at);
    for (const TextLine& text : seen) {
        measures.least_text = std::min(measures.least_text, text.font.px / at.scale);
        if (!is_in_grid(text, log, at.tokens)) count(text, measures);
        find_faint(log, text, at, measures);
        find_elided(log, seen, text, at, measures);
        if (!text.missing.empty())
            measures.faults.push_back(
                {Fault::Kind::missing, fmt::format("'{}': {}", text.missing, where(text))});
    }
    return measures;
}

}  // namespace attn::test
