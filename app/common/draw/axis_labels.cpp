#include "app/common/draw/axis_labels.h"

#include <numbers>

#include "app/common/draw/draw.h"
#include "app/common/draw/measured.h"
#include "app/common/draw/typeset.h"

namespace attn::ui {
namespace {

// Design units.
constexpr float kFlatHeight = 20.0F, kSpaciousPitch = 26.0F;
constexpr float kBetween = 0.5F;   // two lines of words
constexpr float kTightly = -0.6F;  // of the smallest: their line has air of its own

constexpr float kLeastTurn = 45.0F;  // degrees
constexpr float kMostTurn = 90.0F;
constexpr Index kStaggered = 2;  // columns of row labels where rows are lower than a line
constexpr Index kSparse = 3;  // of so many columns one has room: none but the marked ones is named
constexpr std::size_t kLongestLabel = 14;  // longer ones lose their middle
constexpr std::size_t kLongestTight = 11;

view::Font font_of(const AxisLabels& labels, const Frame& frame) {
    if (labels.pitch >= frame.px(kSpaciousPitch)) return frame.fonts.body;
    const bool tight = labels.pitch < frame.fonts.small.px + frame.px(kBetween);
    return tight ? view::Font{Face::sans, frame.px(kLeastText)} : view::Font(frame.fonts.small);
}

bool is_tight(const AxisLabels& labels, const Frame& frame) {
    return font_of(labels, frame).px <= frame.px(kLeastText);
}

std::string shown(const AxisLabels& labels, const Frame& frame, Index n) {
    return middle_ellipsis(labels.text[n], is_tight(labels, frame) ? kLongestTight : kLongestLabel);
}

float widest(const AxisLabels& labels, const Frame& frame) {
    const view::Font font = font_of(labels, frame);
    float width = 0.0F;
    for (Index n = 0; n < std::ssize(labels.text); ++n)
        width = std::max(width, frame.text_width(font, shown(labels, frame, n)));
    return width;
}

bool are_numbers(const std::vector<std::string>& items) {
    return std::ranges::all_of(items, [](const std::string& word) {
        return std::ranges::all_of(word, [](char c) { return c >= '0' && c <= '9'; });
    });
}

/// The line of one label, across its direction.
float line_of(const AxisLabels& labels, const Frame& frame) {
    return font_of(labels, frame).px + frame.px(is_tight(labels, frame) ? kTightly : kBetween);
}

/// Every how many places a label has room.
Index stride_of(float pitch, float needed) {
    return std::max<Index>(1, static_cast<Index>(std::ceil(needed / std::max(pitch, 0.01F))));
}

Color color_of(const AxisLabels& labels, const Frame& frame, Index n) {
    const bool marked = labels.selected == n || labels.focus == n;
    return marked ? frame.theme.role(labels.role) : frame.theme.text;
}

/// Every `stride`-th place, and the marked ones always: what is too near to those has none.
template <class Draw>
void draw_each(const AxisLabels& labels, Index stride, Draw draw) {
    const Index count = std::ssize(labels.text);
    const auto near = [&](std::optional<Index> mark, Index n) {
        return mark && std::abs(n - *mark) < stride;
    };
    for (Index n = 0; n < count; n += stride)
        if (!near(labels.selected, n) && !near(labels.focus, n)) draw(n);
    const auto marked = [&](std::optional<Index> n) {
        if (n && *n >= 0 && *n < count) draw(*n);
    };
    if (labels.focus != labels.selected &&
        !(labels.selected && near(labels.focus, *labels.selected)))
        marked(labels.selected);
    marked(labels.focus ? labels.focus : labels.selected);
}

bool is_turned(const AxisLabels& labels, const Frame& frame) {
    return !are_numbers(labels.text) && widest(labels, frame) > labels.pitch - frame.px(4);
}

/// Degrees up from the horizontal: as little as keeps the lines apart.
float turn_of(const AxisLabels& labels, const Frame& frame) {
    const float sine = std::min(line_of(labels, frame) / std::max(labels.pitch, 0.01F), 1.0F);
    const float degrees = std::asin(sine) * 180.0F / std::numbers::pi_v<float>;
    return within(degrees, kLeastTurn, kMostTurn);
}

bool is_staggered(const AxisLabels& labels, const Frame& frame) {
    return labels.pitch < line_of(labels, frame) && std::ssize(labels.text) > 1;
}

/// Turned words where even upright lines have no room beside each other.
bool is_sparse(const AxisLabels& labels, const Frame& frame) {
    return is_turned(labels, frame) && stride_of(labels.pitch, line_of(labels, frame)) >= kSparse;
}

/// How far the labels reach along their axis.
float reach_of(const AxisLabels& labels) {
    return labels.pitch * static_cast<float>(std::ssize(labels.text));
}

/// Over the middle of its column, as far as it stands over the columns.
void draw_level_label(const AxisLabels& labels, const Frame& frame, float left, float bottom,
                      Index n) {
    const view::Font font = font_of(labels, frame);
    const std::string text = shown(labels, frame, n);
    const float width = frame.text_width(font, text);
    const float middle = left + (static_cast<float>(n) + 0.5F) * labels.pitch;
    const float last = std::max(left + reach_of(labels) - width, left);
    const float low = within(middle - width / 2, left, last);
    draw_text_in(frame, font, {low, bottom - frame.px(kFlatHeight)}, {low + width, bottom},
                 Align::left, color_of(labels, frame, n), text);
}

/// The marked columns alone, level; of two that lie near each other the focused one.
void draw_marked_columns(const AxisLabels& labels, const Frame& frame, float left, float bottom) {
    const auto draw = [&](Index n) { draw_level_label(labels, frame, left, bottom, n); };
    const auto index = [&](std::optional<Index> n) {
        return n && *n >= 0 && *n < std::ssize(labels.text) ? n : std::nullopt;
    };
    const auto focus = index(labels.focus);
    const auto selected = index(labels.selected);
    if (focus) draw(*focus);
    const float apart = widest(labels, frame) + frame.px(kSpace8);
    const bool near = focus && selected &&
                      static_cast<float>(std::abs(*focus - *selected)) * labels.pitch < apart;
    if (selected && !near) draw(*selected);
}

void draw_row_label(const AxisLabels& labels, const Frame& frame, float right, float top, Index n,
                    bool aside) {
    const view::Font font = font_of(labels, frame);
    const float middle = top + (static_cast<float>(n) + 0.5F) * labels.pitch;
    const Color color = color_of(labels, frame, n);
    const float end =
        right - frame.px(kSpace8) - (aside ? widest(labels, frame) + frame.px(kSpace8) : 0);
    draw_text_in(frame, font, {end, middle - font.px / 2}, {end, middle + font.px / 2},
                 Align::right, color, shown(labels, frame, n));
    if (aside)
        frame.painter.line({end + frame.px(3), middle}, {right - frame.px(2), middle},
                           view::translucent(frame.theme.muted, 0.5), frame.px(0.75F));
}

}  // namespace

float row_labels_width(const AxisLabels& labels, const Frame& frame) {
    const float one = widest(labels, frame) + frame.px(kSpace8);
    return is_staggered(labels, frame) ? one * static_cast<float>(kStaggered) : one;
}

void draw_row_labels(const AxisLabels& labels, const Frame& frame, float right, float top) {
    record_rect_for_tests(frame.painter, Measuring::Kind::labels,
                          {right - row_labels_width(labels, frame), top},
                          {right, top + reach_of(labels)});
    const bool staggered = is_staggered(labels, frame);
    const float space = labels.pitch * static_cast<float>(staggered ? kStaggered : 1);
    const Index stride = stride_of(space, line_of(labels, frame));
    draw_each(labels, stride, [&](Index n) {
        const bool aside = staggered && (n / stride) % kStaggered == 1;
        draw_row_label(labels, frame, right, top, n, aside);
    });
}

float column_labels_height(const AxisLabels& labels, const Frame& frame) {
    if (!is_turned(labels, frame) || is_sparse(labels, frame)) return frame.px(kFlatHeight);
    const float turn = turn_of(labels, frame) * std::numbers::pi_v<float> / 180.0F;
    const float line = font_of(labels, frame).px;
    return widest(labels, frame) * std::sin(turn) + line / 2 * std::cos(turn) + frame.px(kSpace8);
}

float column_labels_overhang(const AxisLabels& labels, const Frame& frame) {
    if (!is_turned(labels, frame) || is_sparse(labels, frame)) return 0.0F;
    const float turn = turn_of(labels, frame) * std::numbers::pi_v<float> / 180.0F;
    const view::Font font = font_of(labels, frame);
    const float line = font.px / 2 * std::sin(turn);
    float most = 0.0F;
    for (Index n = 0; n < std::ssize(labels.text); ++n) {
        const float middle = (static_cast<float>(n) + 0.5F) * labels.pitch;
        const float width = frame.text_width(font, shown(labels, frame, n));
        most = std::max(most, middle + width * std::cos(turn) + line - reach_of(labels));
    }
    return most;
}

void draw_column_labels(const AxisLabels& labels, const Frame& frame, float left, float bottom) {
    const float height = column_labels_height(labels, frame);
    record_rect_for_tests(frame.painter, Measuring::Kind::labels, {left, bottom - height},
                          {left + reach_of(labels) + height, bottom});
    const view::Font font = font_of(labels, frame);
    if (is_sparse(labels, frame)) return draw_marked_columns(labels, frame, left, bottom);
    if (is_turned(labels, frame)) {
        const float turn = turn_of(labels, frame);
        draw_each(labels, stride_of(labels.pitch, line_of(labels, frame)), [&](Index n) {
            const float middle = left + (static_cast<float>(n) + 0.5F) * labels.pitch;
            draw_rotated_text(frame, font, {middle, bottom - frame.px(kSpace8 / 2)}, -turn,
                              color_of(labels, frame, n), shown(labels, frame, n));
        });
        return;
    }
    const Index stride = stride_of(labels.pitch, widest(labels, frame) + frame.px(2));
    draw_each(labels, stride, [&](Index n) { draw_level_label(labels, frame, left, bottom, n); });
}

}  // namespace attn::ui
