#include "app/workspaces/step/draw/sentence_layout.h"

#include <imgui.h>

#include <algorithm>

#include "app/workspaces/step/draw/layout.h"

namespace attn::ui {
namespace {

using view::SentenceView;
using view::WordChip;

// Design units.
constexpr float kArcs = 24.0F;
constexpr float kChip = 22.0F;
constexpr float kLineGap = 3.0F;
constexpr float kWordsGap = 4.0F;
constexpr float kLeastChip = 6.0F;
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
    layout.words = layout.arcs + frame.px(kChip) * static_cast<float>(lines) +
                   frame.px(kLineGap) * static_cast<float>(lines - 1) + frame.px(kWordsGap);
    layout.height = layout.words + frame.fonts.body.px + frame.px(4);
    return layout;
}

}  // namespace

SentenceLayout lay_out_sentence(const SentenceView& view, const Frame& frame, float width) {
    if (has_room_for_matrix_alone(view.queries.chips.size(), frame))
        return words_alone(view, frame);
    const bool low = is_lower_than(kSentenceLayoutLowWindow, frame);
    const float chip = frame.px(kChip);
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
