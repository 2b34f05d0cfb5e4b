#include "app/workspaces/step/draw/sentence.h"

#include <numbers>

#include "app/common/document/actions.h"
#include "app/common/draw/draw.h"
#include "app/common/draw/focus.h"
#include "app/common/draw/items.h"

namespace attn::ui {
namespace {

// Design units.
constexpr float kRadius = 4.0F;
constexpr float kThickArc = 14.0F;  // of a weight of 1
constexpr double kHairline = 0.06;  // an arc of a smaller weight is one
constexpr float kThinArc = 1.25F;
constexpr double kLeastArc = 0.002;  // no arc of a smaller weight
constexpr float kLoop = 16.0F;       // an arc from a word to itself
constexpr float kThickLoop = 6.0F;   // and its width at most
constexpr float kLowestArc = 14.0F;
constexpr float kAboveArcs = 8.0F;  // below the muted line and its ⓘ
constexpr int kArcSteps = 32;
constexpr float kBetweenChips = 1.0F;
constexpr float kChipAir = 6.0F;  // of a word within its chip, both sides
constexpr float kLevelChip = 28.0F;
constexpr float kUprightLine = 14.0F;     // a narrower column has no word
constexpr float kUprightAir = 12.0F;      // of a word that runs up, both ends
constexpr float kMiddlePart = 0.1F;       // of a column: as near its edges no chip has its middle
constexpr std::size_t kMostLetters = 14;  // longer words lose their middle

std::string shown(std::string_view word) { return middle_ellipsis(word, kMostLetters); }

std::vector<float> widths_of(const std::vector<std::string>& labels, const Frame& frame) {
    std::vector<float> widths;
    for (const std::string& label : labels)
        widths.push_back(frame.text_width(frame.fonts.small, shown(label)) +
                         frame.px(kChipAir + 2 * kBetweenChips));
    return widths;
}

std::vector<ChipSpan> even_spans(std::size_t count, float pitch) {
    std::vector<ChipSpan> spans;
    for (std::size_t n = 0; n < count; ++n)
        spans.push_back({static_cast<float>(n) * pitch, static_cast<float>(n + 1) * pitch});
    return spans;
}

/// As wide as their columns where all words fit into these.
std::vector<ChipSpan> spans_of(const std::vector<WordChip>& chips, const WordColumns& at,
                               const Frame& frame) {
    std::vector<std::string> labels;
    for (const WordChip& chip : chips) labels.push_back(chip.text);
    const std::vector<float> widths = widths_of(labels, frame);
    const bool fit = std::ranges::all_of(widths, [&](float width) { return width <= at.pitch; });
    if (at.form == ChipForm::level && !fit)
        if (auto spans = level_spans(widths, at.pitch); !spans.empty()) return spans;
    return even_spans(chips.size(), at.pitch);
}

struct Scene {
    const SentenceView& view;
    const WordColumns& at;
    const Frame& frame;
    std::vector<ChipSpan> spans;

    float middle(std::size_t n) const { return at.low.x + (spans[n].low + spans[n].high) / 2; }
    Point low(std::size_t n) const {
        return {at.low.x + spans[n].low + frame.px(kBetweenChips), at.low.y};
    }
    Point high(std::size_t n) const {
        return {at.low.x + spans[n].high - frame.px(kBetweenChips), at.low.y + at.height};
    }
};

/// Half an ellipse, the higher the farther it goes.
void draw_arc(const Scene& scene, std::size_t from, std::size_t to, double weight) {
    const Frame& frame = scene.frame;
    const float air = frame.is_canvas_alone() ? 0.0F : frame.px(kAboveArcs);
    const float most = scene.at.arcs - frame.px(kThickArc) / 2 - air;
    const bool loop = from == to;
    const float count = static_cast<float>(scene.view.attended().chips.size());
    const float apart = std::abs(scene.middle(to) - scene.middle(from));
    const float half = loop ? frame.px(kLoop) / 2 : (scene.middle(to) - scene.middle(from)) / 2;
    const float middle = scene.middle(from) + (loop ? 0.0F : half);
    const float rise = loop ? frame.px(kLoop)
                            : within(most * std::sqrt(2 * apart / (count * scene.at.pitch)),
                                     frame.px(kLowestArc), std::max(most, frame.px(kLowestArc)));
    std::array<Point, kArcSteps + 1> points;
    for (int n = 0; n <= kArcSteps; ++n) {
        const float angle = std::numbers::pi_v<float> * static_cast<float>(n) / kArcSteps;
        points[n] = {middle - half * std::cos(angle), scene.at.low.y - rise * std::sin(angle)};
    }
    const auto share = static_cast<float>(std::min(weight, 1.0));
    const float wide = loop ? std::min(kThickArc * share, kThickLoop) : kThickArc * share;
    const float thick = weight < kHairline ? kThinArc : wide;
    frame.painter.polyline(points, frame.theme.weight, frame.px(std::max(thick, kThinArc)));
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
    const bool level = scene.at.form == ChipForm::level;
    const bool all = level && std::ranges::all_of(scene.view.attended().chips, fits);
    return all ? usual : scene.frame.fonts.small;
}

void draw_word(const Scene& scene, const WordChip& chip, Color ink, Point low, Point high) {
    const Frame& frame = scene.frame;
    const Font& font = chip_font(scene);
    if (scene.at.form == ChipForm::level)
        return draw_fitted(frame, font, low, high, Align::center, ink,
                           &font == &frame.fonts.small ? shown(chip.text) : chip.text);
    draw_rotated_text(frame, font, {(low.x + high.x) / 2, high.y - frame.px(kUprightAir / 2)},
                      -90.0F, ink, shown(chip.text));
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
    draw_word(scene, chip, ink, low, high);
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

std::vector<ChipSpan> level_spans(std::span<const float> widths, float pitch) {
    // As far left as the columns and the chips before allow, then as far right: halfway keeps all of it.
    const auto count = static_cast<std::ptrdiff_t>(widths.size());
    const auto apart = [&](std::ptrdiff_t n) { return (widths[n - 1] + widths[n]) / 2; };
    const auto column = [&](std::ptrdiff_t n, float part) {
        return (static_cast<float>(n) + part) * pitch;
    };
    std::vector<float> low(widths.size()), high(widths.size());
    for (std::ptrdiff_t n = 0; n < count; ++n) {
        low[n] = column(n, kMiddlePart);
        if (n > 0) low[n] = std::max(low[n], low[n - 1] + apart(n));
        if (low[n] > column(n, 1.0F - kMiddlePart)) return {};
    }
    std::vector<ChipSpan> spans(widths.size());
    for (std::ptrdiff_t n = count - 1; n >= 0; --n) {
        high[n] = column(n, 1.0F - kMiddlePart);
        if (n + 1 < count) high[n] = std::min(high[n], high[n + 1] - apart(n + 1));
        const float middle = (low[n] + high[n]) / 2;
        spans[n] = {middle - widths[n] / 2, middle + widths[n] / 2};
    }
    return spans;
}

float level_pitch(const std::vector<std::string>& labels, const Frame& frame) {
    constexpr int kHalvings = 10;
    const std::vector<float> widths = widths_of(labels, frame);
    float high = widths.empty() ? 0.0F : *std::ranges::max_element(widths);
    float low = 0.0F;
    for (int n = 0; n < kHalvings; ++n) {
        const float middle = (low + high) / 2;
        (level_spans(widths, middle).empty() ? low : high) = middle;
    }
    return high;
}

ChipForm chip_form(const std::vector<std::string>& labels, float pitch, const Frame& frame) {
    if (pitch < frame.px(kUprightLine)) return ChipForm::none;
    const std::vector<float> widths = widths_of(labels, frame);
    return level_spans(widths, pitch).empty() ? ChipForm::upright : ChipForm::level;
}

float chip_height(const std::vector<std::string>& labels, ChipForm form, const Frame& frame) {
    if (form != ChipForm::upright) return frame.px(kLevelChip);
    float longest = 0.0F;
    for (const std::string& label : labels)
        longest = std::max(longest, frame.text_width(frame.fonts.small, shown(label)));
    return longest + frame.px(kUprightAir);
}

std::optional<CellRef> draw_sentence(const SentenceView& view, const WordColumns& at,
                                     const Frame& frame, Actions& out) {
    if (view.empty()) return std::nullopt;
    const auto& chips = view.attended().chips;
    const Scene scene{view, at, frame, spans_of(chips, at, frame)};
    draw_arcs(scene);
    std::optional<CellRef> hovered;
    for (std::size_t n = 0; n < chips.size(); ++n) {
        ImGui::PushID(static_cast<int>(n));
        if (const auto over = chip_at(scene, chips[n], n, out)) hovered = over;
        ImGui::PopID();
    }
    step_by_keys(scene, out);
    return hovered;
}

}  // namespace attn::ui
