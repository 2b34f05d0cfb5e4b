#include "app/workspaces/step/draw/sentence.h"

#include <imgui.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <span>

#include "app/common/draw/draw.h"
#include "app/common/draw/focus.h"
#include "app/workspaces/step/draw/sentence_layout.h"

namespace attn::ui {
namespace {

using view::CellRef;
using view::ChipLook;
using view::Point;
using view::SentenceView;
using view::WordChip;

// Design units.
constexpr float kRadius = 4.0F;
constexpr float kThinArc = 1.0F;
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

}  // namespace attn::ui
