#include "app/workspaces/step/draw/sentence.h"

#include <imgui.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <span>

#include "app/common/draw/draw.h"
#include "app/common/draw/focus.h"
#include "app/workspaces/step/draw/layout.h"
#include "app/workspaces/step/draw/sentence_layout.h"

namespace attn::ui {
namespace {

using view::CellRef, view::ChipLook, view::Point, view::SentenceView, view::WordChip;

// Design units.
constexpr float kRadius = 4.0F, kThinArc = 1.0F;
constexpr float kThickArc = 5.0F;  // more of a weight of 1
constexpr float kLowestArc = 7.0F;
constexpr float kLoop = 12.0F;      // an arc from a word to itself
constexpr float kRise = 0.25F;      // of an arc, of its width
constexpr double kLeastArc = 0.02;  // no arc of a smaller weight
constexpr int kArcSteps = 24;
constexpr float kNarrow = 40.0F;  // a word's room
constexpr float kBeforeReadOut = 24.0F;

struct Scene {
    const SentenceView& view;
    const SentenceLayout& layout;
    const Frame& frame;
    ImVec2 origin;

    Point at(Point place) const { return {origin.x + place.x, origin.y + place.y}; }
};

void draw_arc(const Scene& scene, const ChipPlace& from, const ChipPlace& to, double weight) {
    const Frame& frame = scene.frame;
    const float start = (from.low.x + from.high.x) / 2;
    const float end = (to.low.x + to.high.x) / 2;
    const bool loop = start == end;
    const float half = loop ? frame.px(kLoop) / 2 : (end - start) / 2;
    const float middle = loop ? start : (start + end) / 2;
    const float rise = loop ? frame.px(kLoop)
                            : within(std::abs(half) * 2 * kRise, frame.px(kLowestArc),
                                     scene.layout.arcs - frame.px(kThickArc));
    std::array<Point, kArcSteps + 1> points;
    for (int n = 0; n <= kArcSteps; ++n) {
        const float angle = std::numbers::pi_v<float> * static_cast<float>(n) / kArcSteps;
        points[static_cast<std::size_t>(n)] =
            scene.at({middle - half * std::cos(angle), to.low.y - rise * std::sin(angle)});
    }
    const auto share = static_cast<float>(std::min(weight, 1.0));
    frame.painter.polyline(points, frame.theme.weight, frame.px(kThinArc + kThickArc * share));
}

const ChipPlace* query_place(const Scene& scene) {
    const auto& chips = scene.view.queries.chips;
    for (std::size_t n = 0; n < chips.size(); ++n)
        if (chips[n].is_query) return &scene.layout.queries[n];
    return nullptr;
}

/// The strongest last, over the others.
void draw_arcs(const Scene& scene) {
    const ChipPlace* const from = query_place(scene);
    if (!scene.view.weighed || scene.layout.arcs <= 0.0F || from == nullptr) return;
    const bool self = scene.view.keys.chips.empty();
    const auto& places = self ? scene.layout.queries : scene.layout.keys;
    const auto& chips = scene.view.attended().chips;
    std::vector<std::size_t> order;
    for (std::size_t n = 0; n < chips.size(); ++n)
        if (chips[n].look == ChipLook::weighed && chips[n].weight >= kLeastArc) order.push_back(n);
    std::ranges::sort(order, {}, [&](std::size_t n) { return chips[n].weight; });
    for (const std::size_t n : order) draw_arc(scene, *from, places[n], chips[n].weight);
}

view::Color fill_of(const WordChip& chip, const view::Theme& theme) {
    return chip.look == ChipLook::plain ? theme.raised : chip.fill;
}
view::Color ink_of(const WordChip& chip, const view::Theme& theme) {
    if (chip.look == ChipLook::left_out) return theme.muted;
    return chip.look == ChipLook::plain ? theme.text : chip.ink;
}

/// In a narrow chip as many letters as fit: with "…" there would be one.
std::string cut_word(const Frame& frame, const Font& font, const std::string& word, float room) {
    if (room >= frame.px(kNarrow) || frame.text_width(font, word) <= room)
        return fit_text(frame, font, word, room);
    return std::string(cut_text(frame, font, word, room));
}

void draw_chip(const Scene& scene, const WordChip& chip, const ChipPlace& place) {
    const Frame& frame = scene.frame;
    const Point low = scene.at(place.low);
    const Point high = scene.at(place.high);
    const float radius = frame.px(kRadius);
    if (chip.look != ChipLook::left_out) {
        frame.painter.rect(low, high, fill_of(chip, frame.theme), radius);
        frame.painter.outline(low, high, frame.theme.line, frame.px(1), radius);
    }
    const float room = place.high.x - place.low.x - 2 * scene.layout.padding + 1.0F;
    Font font;
    static_cast<view::Font&>(font) = scene.layout.font;
    draw_text_in(frame, font, {low.x, low.y}, {high.x, high.y}, Align::center,
                 ink_of(chip, frame.theme), cut_word(frame, font, chip.text, room));
    if (chip.look == ChipLook::masked) {
        const float y = (low.y + high.y) / 2;
        frame.painter.line({low.x + frame.px(2), y}, {high.x - frame.px(2), y},
                           ink_of(chip, frame.theme), frame.px(1));
    }
    if (chip.is_key) frame.painter.outline(low, high, frame.theme.key, frame.px(2), radius);
    if (chip.is_query) frame.painter.outline(low, high, frame.theme.query, frame.px(2), radius);
}

/// One chip with what the mouse does to it; the cell that it stands for while it is pointed at.
std::optional<CellRef> chip_at(const Scene& scene, const WordChip& chip, const ChipPlace& place,
                               view::Actions& out) {
    const Point low = scene.at(place.low);
    ImGui::SetCursorScreenPos({low.x, low.y});
    const bool clicked =
        ImGui::InvisibleButton("chip", {place.high.x - place.low.x, place.high.y - place.low.y});
    if (clicked && chip.cell) out.push_back(view::SelectCell{*chip.cell});
    tooltip(scene.frame, chip.tooltip);
    draw_chip(scene, chip, place);
    return ImGui::IsItemHovered() ? chip.cell : std::nullopt;
}

std::optional<CellRef> draw_row(const Scene& scene, std::span<const WordChip> chips,
                                std::span<const ChipPlace> places, const char* id,
                                view::Actions& out) {
    std::optional<CellRef> hovered;
    ImGui::PushID(id);
    for (std::size_t n = 0; n < chips.size(); ++n) {
        if (places[n].is_empty()) continue;
        ImGui::PushID(static_cast<int>(n));
        if (const auto over = chip_at(scene, chips[n], places[n], out)) hovered = over;
        ImGui::PopID();
    }
    ImGui::PopID();
    return hovered;
}

/// One stop of the keyboard for all of them: the arrow keys select the next word.
void step_by_keys(const Scene& scene, view::Actions& out) {
    const auto& chips = scene.view.queries.chips;
    const Point low = scene.at({0.0F, scene.layout.arcs});
    float right = 0.0F;
    for (const ChipPlace& place : scene.layout.queries) right = std::max(right, place.high.x);
    if (right == 0.0F) right = scene.frame.text_width(scene.frame.fonts.body, scene.view.words);
    const Point high = scene.at({right, std::max(scene.layout.words, scene.frame.fonts.body.px)});
    if (!focus_stop(scene.frame, ImGui::GetID("words"), {low.x, low.y}, {high.x, high.y})) return;
    const int step = arrow_steps(scene.frame);
    if (step == 0) return;
    const auto here = std::ranges::find_if(chips, &WordChip::is_query);
    const auto n = here == chips.end() ? 0 : (here - chips.begin()) + step;
    const auto& next =
        chips[static_cast<std::size_t>(within<std::ptrdiff_t>(n, 0, std::ssize(chips) - 1))];
    if (next.cell) out.push_back(view::SelectCell{*next.cell});
}

void draw_more(const Scene& scene) {
    for (const ChipPlace& place : scene.layout.more)
        draw_text_in(scene.frame, scene.frame.fonts.body, scene.at(place.low), scene.at(place.high),
                     Align::center, scene.frame.theme.muted, "…");
}

/// At the right end of the line of words; the room that it takes, half the line at most.
float draw_read_out(const Scene& scene) {
    const Frame& frame = scene.frame;
    const std::string& whole = scene.view.read_out;
    if (whole.empty()) return 0.0F;
    const Font& font = frame.fonts.body;
    const float width = ImGui::GetWindowSize().x;
    const std::string shown = fit_text(frame, font, whole, width / 2);
    const float taken = frame.text_width(font, shown);
    const Point at = scene.at({width - taken, scene.layout.words});
    frame.painter.text(font, at, frame.theme.text, shown);
    ImGui::SetCursorScreenPos({at.x, at.y});
    ImGui::InvisibleButton("read-out", {std::max(taken, 1.0F), std::max(font.px, 1.0F)});
    tooltip(frame, whole);
    return taken + frame.px(kBeforeReadOut);
}

void draw_words(const Scene& scene) {
    const Frame& frame = scene.frame;
    const Point at = scene.at({0.0F, scene.layout.words});
    const float width = ImGui::GetWindowSize().x - draw_read_out(scene);
    const Font& font = frame.fonts.body;
    const std::string shown = fit_text(frame, font, scene.view.words, width);
    const view::Color color = scene.view.weighed ? frame.theme.text : frame.theme.muted;
    frame.painter.text(font, at, color, shown);
    ImGui::SetCursorScreenPos({at.x, at.y});
    ImGui::InvisibleButton("in words", {std::max(width, 1.0F), std::max(font.px, 1.0F)});
    if (shown != scene.view.words) tooltip(frame, scene.view.words);
}

using view::SentenceView, view::WordChip;

// Design units.
constexpr float kArcs = 24.0F, kLineGap = 3.0F, kLeastChip = 6.0F;
constexpr float kBetween = 32.0F;                   // the queries' words and the keys'
constexpr float kSentenceLayoutLowWindow = 800.0F;  // under this many design units high
constexpr float kLowerWindow = 640.0F;
constexpr float kReadable = 30.0F;      // a chip with three letters
constexpr float kMore = 20.0F;          // "…"
constexpr float kWidestOfPart = 90.0F;  // a chip among those around the query
// The loaded size above it has the letters of every script.
constexpr float kSmallWords = 12.5F;
constexpr int kHalvings = 10;

/// How chips may be set, the best first.
struct Style {
    float font, padding, gap;
};
constexpr Style kWide{14.0F, 12.0F, 24.0F};
constexpr Style kRoomy{14.0F, 8.0F, 6.0F};
constexpr Style kDense{kSmallWords, 4.0F, 3.0F};

struct Item {
    float natural = 0.0F;
    bool begins_keys = false;
};

std::vector<Item> items_of(const SentenceView& view, const view::Font& font, float padding,
                           const Frame& frame) {
    std::vector<Item> items;
    const auto add = [&](const WordChip& chip, bool begins) {
        items.push_back({frame.text_width(font, chip.text) + 2 * padding, begins});
    };
    for (const WordChip& chip : view.queries.chips) add(chip, false);
    for (std::size_t n = 0; n < view.keys.chips.size(); ++n) add(view.keys.chips[n], n == 0);
    return items;
}

/// What the lines of chips are filled with.
struct Lines {
    float width = 0.0F;
    float gap = 0.0F;
    float between = 0.0F;  // before the keys, where they follow on the same line
    int most = 1;
    bool break_at_keys = false;
    float line = 0.0F;  // from one to the next
    float chip = 0.0F;  // height
};

/// No item wider than `widest`; nullopt where they do not fit.
std::optional<std::vector<ChipPlace>> flow(const std::vector<Item>& items, const Lines& lines,
                                           float widest) {
    std::vector<ChipPlace> places;
    float x = 0.0F;
    int line = 0;
    for (const Item& item : items) {
        const float width = std::min(item.natural, widest);
        if (item.begins_keys && !lines.break_at_keys) x += lines.between;
        if (x > 0.0F && (x + width > lines.width || (item.begins_keys && lines.break_at_keys))) {
            x = 0.0F;
            ++line;
        }
        if (line >= lines.most || width > lines.width) return std::nullopt;
        const float y = static_cast<float>(line) * lines.line;
        places.push_back({{x, y}, {x + width, y + lines.chip}});
        x += width + lines.gap;
    }
    return places;
}

/// With the longest words cut as little as it takes.
struct CutFlow {
    std::vector<ChipPlace> places;
    float widest = 0.0F;
};
CutFlow cut_flow(const std::vector<Item>& items, Lines lines, const Frame& frame) {
    float low = frame.px(kLeastChip);
    float high = lines.width;
    for (int n = 0; n < kHalvings; ++n) {
        const float middle = (low + high) / 2;
        (flow(items, lines, middle) ? low : high) = middle;
    }
    if (auto places = flow(items, lines, low)) return {*places, low};
    lines.width = 1e6F;  // narrower than its words can be: the clip cuts it
    return {*flow(items, lines, low), low};
}

/// The words from `first` to before `last`, and "…" where others are left out.
std::optional<std::vector<ChipPlace>> flow_part(const std::vector<Item>& items, std::size_t first,
                                                std::size_t last, const Lines& lines,
                                                const Frame& frame) {
    std::vector<Item> part(items.begin() + static_cast<std::ptrdiff_t>(first),
                           items.begin() + static_cast<std::ptrdiff_t>(last));
    const Item more{frame.px(kMore), false};
    if (first > 0) part.insert(part.begin(), more);
    if (last < items.size()) part.push_back(more);
    return flow(part, lines, frame.px(kWidestOfPart));
}

struct Part {
    std::size_t first = 0;
    std::size_t last = 0;
};

/// As many words around one as fit.
Part part_around(const std::vector<Item>& items, std::size_t middle, const Lines& lines,
                 const Frame& frame) {
    Part part{middle, middle + 1};
    for (bool grows = true; grows;) {
        grows = false;
        if (part.last < items.size() && flow_part(items, part.first, part.last + 1, lines, frame)) {
            ++part.last;
            grows = true;
        }
        if (part.first > 0 && flow_part(items, part.first - 1, part.last, lines, frame)) {
            --part.first;
            grows = true;
        }
    }
    return part;
}

bool is_lower_than(float height, const Frame& frame) {
    return ImGui::GetIO().DisplaySize.y < frame.px(height);
}

std::size_t query_of(const SentenceView& view) {
    const auto& chips = view.queries.chips;
    const auto found = std::ranges::find_if(chips, &WordChip::is_query);
    return found == chips.end() ? 0 : static_cast<std::size_t>(found - chips.begin());
}

/// The words around the query that fit; the others have no place.
std::vector<ChipPlace> shown_part(const SentenceView& view, const std::vector<Item>& items,
                                  const Lines& lines, const Frame& frame, SentenceLayout& layout) {
    const Part part = part_around(items, query_of(view), lines, frame);
    std::vector<ChipPlace> places(items.size());
    const auto drawn = flow_part(items, part.first, part.last, lines, frame);
    if (!drawn) return places;
    const std::size_t before = part.first > 0 ? 1 : 0;
    for (std::size_t n = part.first; n < part.last; ++n)
        places[n] = (*drawn)[n - part.first + before];
    if (before > 0) layout.more.push_back(drawn->front());
    if (part.last < items.size()) layout.more.push_back(drawn->back());
    return places;
}

/// Chips that do not all fit: cut, or those around the query.
std::vector<ChipPlace> narrow_places(const SentenceView& view, const std::vector<Item>& items,
                                     const Lines& lines, const Frame& frame,
                                     SentenceLayout& layout) {
    CutFlow cut = cut_flow(items, lines, frame);
    const bool readable = cut.widest >= frame.px(kReadable) || !view.keys.chips.empty();
    return readable ? std::move(cut.places) : shown_part(view, items, lines, frame, layout);
}

SentenceLayout words_alone(const SentenceView& view, const Frame& frame) {
    SentenceLayout layout;
    layout.queries.resize(view.queries.chips.size());
    layout.keys.resize(view.keys.chips.size());
    layout.height = frame.fonts.body.px;
    return layout;
}

SentenceLayout finished(const SentenceView& view, std::vector<ChipPlace> places,
                        const SentenceLayout& so_far, int lines, const Frame& frame) {
    SentenceLayout layout = so_far;
    for (ChipPlace& place : places) {
        place.low.y += layout.arcs;
        place.high.y += layout.arcs;
    }
    const auto keys = places.begin() + static_cast<std::ptrdiff_t>(view.queries.chips.size());
    layout.queries.assign(places.begin(), keys);
    layout.keys.assign(keys, places.end());
    layout.words = layout.arcs + frame.px(kTableRow) * static_cast<float>(lines) +
                   frame.px(kLineGap) * static_cast<float>(lines - 1) + frame.px(kSpace4);
    layout.height = layout.words + frame.fonts.body.px + frame.px(4);
    return layout;
}

}  // namespace

float sentence_height(const SentenceView& view, const Frame& frame, float width) {
    return view.empty() ? 0.0F : lay_out_sentence(view, frame, width).height;
}

std::optional<CellRef> draw_sentence(const SentenceView& view, const Frame& frame,
                                     view::Actions& out) {
    if (view.empty()) return std::nullopt;
    const SentenceLayout layout = lay_out_sentence(view, frame, ImGui::GetWindowSize().x);
    const Scene scene{view, layout, frame, ImGui::GetCursorScreenPos()};
    draw_arcs(scene);
    const auto query = draw_row(scene, view.queries.chips, layout.queries, "queries", out);
    const auto key = draw_row(scene, view.keys.chips, layout.keys, "keys", out);
    draw_more(scene);
    step_by_keys(scene, out);
    draw_words(scene);
    return query ? query : key;
}

SentenceLayout lay_out_sentence(const SentenceView& view, const Frame& frame, float width) {
    if (has_room_for_matrix_alone(view.queries.chips.size(), frame))
        return words_alone(view, frame);
    const bool low = is_lower_than(kSentenceLayoutLowWindow, frame);
    const float chip = frame.px(kTableRow);
    Lines lines{.width = width,
                .between = frame.px(kBetween),
                .line = chip + frame.px(kLineGap),
                .chip = chip};
    SentenceLayout layout;
    layout.arcs = low ? 0.0F : frame.px(kArcs);
    for (const Style& style : {kWide, kRoomy, kDense}) {
        lines.gap = frame.px(style.gap);
        layout.font = {view::Face::sans, frame.px(style.font)};
        layout.padding = frame.px(style.padding);
        const auto items = items_of(view, layout.font, layout.padding, frame);
        if (auto places = flow(items, lines, width))
            return finished(view, std::move(*places), layout, 1, frame);
    }
    const auto items = items_of(view, layout.font, layout.padding, frame);
    layout.arcs = 0.0F;
    if (!is_lower_than(kLowerWindow, frame)) {
        lines.most = 2;
        lines.break_at_keys = !view.keys.chips.empty();
    }
    auto places = narrow_places(view, items, lines, frame, layout);
    return finished(view, std::move(places), layout, lines.most, frame);
}

}  // namespace attn::ui
