#include "app/workspaces/step/draw/sentence.h"

#include <numbers>

#include "app/common/draw/draw.h"
#include "app/common/draw/focus.h"
#include "app/common/draw/items.h"

namespace attn::ui {
namespace {

// Design units.
constexpr float kRadius = 4.0F;
constexpr float kThickArc = 14.0F;   // of a weight of 1
constexpr double kHairline = 0.06;   // an arc of a smaller weight is one
constexpr double kLeastArc = 0.002;  // no arc of a smaller weight
constexpr float kLoop = 16.0F;       // an arc from a word to itself
constexpr float kThickLoop = 6.0F;   // and its width at most
constexpr float kLowestArc = 14.0F;
constexpr int kArcSteps = 32;
constexpr float kBetweenChips = 1.0F;

struct Scene {
    const SentenceView& view;
    const WordColumns& at;
    const Frame& frame;

    float middle(std::size_t n) const {
        return at.low.x + (static_cast<float>(n) + 0.5F) * at.pitch;
    }
    Point low(std::size_t n) const {
        return {at.low.x + static_cast<float>(n) * at.pitch + frame.px(kBetweenChips), at.low.y};
    }
    Point high(std::size_t n) const {
        return {at.low.x + static_cast<float>(n + 1) * at.pitch - frame.px(kBetweenChips),
                at.low.y + at.height};
    }
};

/// Half an ellipse, the higher the farther it goes.
void draw_arc(const Scene& scene, std::size_t from, std::size_t to, double weight) {
    const Frame& frame = scene.frame;
    const float most = scene.at.arcs - frame.px(kThickArc) / 2;
    const bool loop = from == to;
    const float count = static_cast<float>(scene.view.attended().chips.size());
    const float apart = std::abs(scene.middle(to) - scene.middle(from));
    const float half = loop ? frame.px(kLoop) / 2 : (scene.middle(to) - scene.middle(from)) / 2;
    const float middle = scene.middle(from) + (loop ? 0.0F : half);
    const float rise = loop ? frame.px(kLoop)
                            : within(most * std::sqrt(2 * apart / (count * scene.at.pitch)),
                                     frame.px(kLowestArc), most);
    std::array<Point, kArcSteps + 1> points;
    for (int n = 0; n <= kArcSteps; ++n) {
        const float angle = std::numbers::pi_v<float> * static_cast<float>(n) / kArcSteps;
        points[n] = {middle - half * std::cos(angle), scene.at.low.y - rise * std::sin(angle)};
    }
    const auto share = static_cast<float>(std::min(weight, 1.0));
    const float wide = loop ? std::min(kThickArc * share, kThickLoop) : kThickArc * share;
    const float thick = weight < kHairline ? 1.0F : wide;
    frame.painter.polyline(points, frame.theme.weight, frame.px(std::max(thick, 1.0F)));
}

/// The strongest last, over the others. None if the query is not a word of the columns.
void draw_arcs(const Scene& scene) {
    const auto& chips = scene.view.attended().chips;
    const auto query = std::ranges::find_if(chips, &WordChip::is_query);
    if (!scene.view.weighed || scene.at.arcs <= 0.0F || query == chips.end()) return;
    std::vector<std::size_t> order;
    for (std::size_t n = 0; n < chips.size(); ++n)
        if (chips[n].look == ChipLook::weighed && chips[n].weight >= kLeastArc) order.push_back(n);
    std::ranges::sort(order, {}, [&](std::size_t n) { return chips[n].weight; });
    for (const std::size_t n : order) {
        const Titled titled(scene.frame.painter, [&] { return chips[n].tooltip; });
        draw_arc(scene, static_cast<std::size_t>(query - chips.begin()), n, chips[n].weight);
    }
}

/// One for all words: the usual one where each of them fits.
const Font& chip_font(const Scene& scene) {
    const Font& usual = scene.frame.fonts.strong;
    const auto fits = [&](const WordChip& chip) {
        return scene.frame.text_width(usual, chip.text) + scene.frame.px(4) <= scene.at.pitch;
    };
    return std::ranges::all_of(scene.view.attended().chips, fits) ? usual : scene.frame.fonts.small;
}

void draw_chip(const Scene& scene, const WordChip& chip, std::size_t n) {
    const Frame& frame = scene.frame;
    const Titled titled(frame.painter, [&] { return chip.tooltip; });
    const Theme& theme = frame.theme;
    const bool plain = chip.look == ChipLook::plain;
    const bool masked = chip.look == ChipLook::masked;
    const Color ink = plain ? theme.text : masked ? theme.muted : chip.ink;
    const Point low = scene.low(n);
    const Point high = scene.high(n);
    const float radius = frame.px(kRadius);
    frame.painter.rect(low, high, plain ? theme.raised : chip.fill, radius);
    draw_fitted(frame, chip_font(scene), {low.x, low.y}, {high.x, high.y}, Align::center, ink,
                chip.text);
    if (chip.is_key) frame.painter.outline(low, high, theme.key, frame.px(2), radius);
    if (chip.is_query) frame.painter.outline(low, high, theme.query, frame.px(2), radius);
}

/// One chip and its mouse actions. Returns its cell while the pointer is over it.
std::optional<CellRef> chip_at(const Scene& scene, const WordChip& chip, std::size_t n,
                               Actions& out) {
    const Point low = scene.low(n);
    const Point high = scene.high(n);
    ImGui::SetCursorScreenPos({low.x, low.y});
    const bool clicked =
        invisible_button("chip", {std::max(high.x - low.x, 1.0F), std::max(high.y - low.y, 1.0F)});
    if (clicked && chip.cell) out.push_back(SelectCell{*chip.cell});
    tooltip_beside(scene.frame, {low.x, low.y}, {high.x, high.y}, Beside::below, chip.tooltip);
    draw_chip(scene, chip, n);
    return ImGui::IsItemHovered() ? chip.cell : std::nullopt;
}

/// One stop of the keyboard for all of them: the arrow keys select the next word.
void step_by_keys(const Scene& scene, Actions& out) {
    const auto& chips = scene.view.queries.chips;
    const Point end = scene.high(scene.view.attended().chips.size() - 1);
    if (!focus_stop(scene.frame, ImGui::GetID("words"), scene.at.low, {end.x, end.y})) return;
    const int step = arrow_steps(scene.frame);
    if (step == 0) return;
    const auto here = std::ranges::find_if(chips, &WordChip::is_query);
    const auto n = here == chips.end() ? 0 : (here - chips.begin()) + step;
    const auto& next = chips[within<std::ptrdiff_t>(n, 0, std::ssize(chips) - 1)];
    if (next.cell) out.push_back(SelectCell{*next.cell});
}

}  // namespace

std::optional<CellRef> draw_sentence(const SentenceView& view, const WordColumns& at,
                                     const Frame& frame, Actions& out) {
    if (view.empty()) return std::nullopt;
    const Scene scene{view, at, frame};
    draw_arcs(scene);
    std::optional<CellRef> hovered;
    const auto& chips = view.attended().chips;
    for (std::size_t n = 0; n < chips.size(); ++n) {
        ImGui::PushID(static_cast<int>(n));
        if (const auto over = chip_at(scene, chips[n], n, out)) hovered = over;
        ImGui::PopID();
    }
    step_by_keys(scene, out);
    return hovered;
}

}  // namespace attn::ui
