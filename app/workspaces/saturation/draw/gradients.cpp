// The four gradients over d_k: one large, its dead rows below on the same axis, all four as pictures beside it, and the numbers.

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "app/common/draw/draw.h"
#include "app/common/draw/focus.h"
#include "app/common/draw/items.h"
#include "app/common/draw/math.h"
#include "app/common/draw/plot_parts.h"
#include "app/common/draw/typing.h"
#include "app/workspaces/saturation/actions.h"
#include "app/workspaces/saturation/draw/parts.h"

namespace attn::ui {
namespace {

using view::GradientsOverWidth;
using view::Point;

// Design units.
constexpr float kTabTitle = 22.0F;
constexpr float kWidthTicks = 20.0F;
constexpr float kDeadShare = 0.2F;       // of the height: the rows that pass nothing
constexpr float kLowSpace = 280.0F;      // a lower one has none of them
constexpr float kBothHeight = 520.0F;    // of a sentence above the plot
constexpr float kSentenceShare = 0.45F;  // of the height
constexpr float kTabs = 200.0F;
constexpr float kTable = 272.0F;
constexpr float kTabGap = 10.0F;
constexpr float kLineHeight = 21.0F;
constexpr float kNumberColumn = 74.0F;  // of numbers
constexpr float kStripLane = 34.0F;     // of a strip
constexpr double kLostInk = 0.10;
constexpr double kTickInk = 0.45;

float box_width(const Box& box) { return box.high.x - box.low.x; }

/// Typeset in a line that begins at `low`; its width.
float math_in_line(const Frame& frame, const std::string& tex, ImVec2 low, float height,
                   float space) {
    const auto box = fitted_math(frame, tex, 16.0F, space);
    if (!box) return 0.0F;
    draw_formula(frame, *box, {low.x, low.y + (height + box->ascent - box->descent) / 2});
    return box->width;
}

// --- the large plot

constexpr float kMarkedValue = 64.0F;  // of the number right of the marker

/// Between the medians where less passes without.
void draw_lost(const PlotCanvas& canvas, const std::string& text) {
    const view::CurveView& with = canvas.plot.curves[0];
    const view::CurveView& without = canvas.plot.curves[1];
    std::vector<Point> upper, lower;
    for (std::size_t n = 0; n < with.x.size(); ++n) {
        if (!(without.y[n] < with.y[n])) continue;
        const float x = canvas.x(with.x[n]);
        upper.push_back({x, canvas.y(with.y[n])});
        lower.push_back({x, canvas.y(without.y[n])});
    }
    if (upper.size() < 2) return;
    const Frame& frame = canvas.frame;
    frame.painter.push_clip(canvas.low, canvas.high);
    frame.painter.band(upper, lower, view::translucent(frame.theme.text, kLostInk));
    frame.painter.pop_clip();
    const float half = frame.text_width(frame.fonts.small, text) / 2 + frame.px(4);
    const float x = canvas.high.x - half - frame.px(8);
    const float y = upper.back().y + frame.px(22);
    if (!text.empty() && x - half > canvas.x(canvas.plot.marker_x) + frame.px(kMarkedValue))
        draw_text_in(frame, frame.fonts.small, {x - half, y}, {x + half, y + frame.px(16)},
                     Align::center, frame.theme.muted, text);
}

void draw_width_grip(const PlotCanvas& canvas, float top, bool held) {
    const Frame& frame = canvas.frame;
    const view::Theme& theme = frame.theme;
    const std::string description = fmt::format("d_k = {}", canvas.plot.marker_x);
    const std::string text = frame.is_canvas_alone() ? description : "← " + description + " →";
    const float half = frame.text_width(frame.fonts.strong, text) / 2 + frame.px(8);
    const float line = std::round(canvas.x(canvas.plot.marker_x));
    const float x = within(line, canvas.low.x + half, canvas.high.x - half);
    if (frame.is_canvas_alone()) {  // a figure has no handle
        draw_text_in(frame, frame.fonts.strong, {x - half, top}, {x + half, top + frame.px(20)},
                     Align::center, theme.text, text);
        return frame.painter.line({line, top + frame.px(20)}, {line, canvas.low.y}, theme.muted,
                                  frame.px(1));
    }
    const view::Color fill = held ? view::blend(theme.accent, theme.text, 0.25) : theme.accent;
    frame.painter.rect({x - half, top}, {x + half, top + frame.px(20)}, fill, frame.px(6));
    draw_text_in(frame, frame.fonts.strong, {x - half, top}, {x + half, top + frame.px(20)},
                 Align::center, theme.on_accent, text);
    frame.painter.line({line, top + frame.px(20)}, {line, canvas.low.y}, theme.accent, frame.px(1));
}

/// All that lies over the x axis is one control. True while it is held.
bool read_width_handle(const PlotCanvas& canvas, float top, float bottom,
                       const GradientsOverWidth& view, view::Actions& out) {
    const Frame& frame = canvas.frame;
    const auto here = static_cast<Index>(canvas.plot.marker_x);
    ImGui::SetCursorScreenPos({canvas.low.x - frame.px(8), top});
    invisible_button("handle",
                     {canvas.high.x - canvas.low.x + frame.px(16), std::max(bottom - top, 1.0F)});
    report_gesture(false, out);
    const bool held = ImGui::IsItemActive();
    if (held || ImGui::IsItemHovered()) ImGui::SetMouseCursor(ImGuiMouseCursor_ResizeEW);
    const Index d_k = view::nearest_stop(canvas.value_at(ImGui::GetMousePos().x));
    if (held && d_k != here) out.push_back(view::SetSaturationWidth{d_k});
    if (!held)
        tooltip(frame, fmt::format("d_k = {}", d_k),
                view.tabs[view.tab].tooltip + "\nClick or drag: d_k goes there.");
    if (!focus_stop(frame)) return held;
    if (const int steps = arrow_steps(frame); steps != 0)
        if (const Index next = view::next_stop(here, steps); next != here)
            out.push_back(view::SetSaturationWidth{next});
    return held;
}

// --- rows that pass nothing

void draw_dead(const PlotCanvas& canvas, const GradientsOverWidth& view, float top, float bottom) {
    const Frame& frame = canvas.frame;
    const view::Theme& theme = frame.theme;
    const Font& font = frame.fonts.digits_small;
    draw_fitted(frame, frame.fonts.small, {canvas.low.x, top}, {canvas.high.x, top + frame.px(18)},
                Align::left, theme.text, view.dead_text);
    draw_fitted(frame, frame.fonts.small, {canvas.low.x, top + frame.px(18)},
                {canvas.high.x, top + frame.px(34)}, Align::left, theme.role(Role::weight),
                view.dead_scaled);
    const float ceiling = top + frame.px(36) + font.px;
    frame.painter.line({canvas.low.x, bottom}, {canvas.high.x, bottom}, theme.line, frame.px(1));
    TakenSpans taken(frame.px(4));
    const float half = std::max(2.0F, (canvas.x(2.0) - canvas.x(1.0)) * 0.27F);
    const auto draw = [&](const view::DeadBar& bar, bool here) {
        const float x = canvas.x(static_cast<double>(bar.d_k));
        const float y = bottom - (bottom - ceiling) * static_cast<float>(bar.share);
        frame.painter.rect({x - half, std::min(y, bottom - 1)}, {x + half, bottom},
                           here ? theme.text : theme.muted);
        const float width = frame.text_width(font, bar.text) / 2 + 1;
        if (taken.take(x - width, x + width))
            draw_text_in(frame, font, {x - width, y - font.px - frame.px(4)}, {x + width, y},
                         Align::center, here ? theme.text : theme.muted, bar.text);
    };
    for (const bool here : {true, false})  // the handle's number before the others
        for (const view::DeadBar& bar : view.dead)
            if ((static_cast<double>(bar.d_k) == canvas.plot.marker_x) == here) draw(bar, here);
}

void draw_large(const GradientsOverWidth& view, const Box& box, const Frame& frame,
                view::Actions& out) {
    const view::GradientTab& tab = view.tabs[view.tab];
    const float after = box.low.x + frame.px(10) +
                        math_in_line(frame, tab.tex, box.low, frame.px(kTabTitle), box_width(box));
    draw_fitted(frame, frame.fonts.body, {after, box.low.y},
                {box.high.x, box.low.y + frame.px(kTabTitle)}, Align::left, frame.theme.muted,
                view.plot.title);
    const float grip = box.low.y + frame.px(kTabTitle + 2);
    const bool has_bars = box.size().y >= frame.px(kLowSpace);
    const float bars =
        has_bars ? std::max(box.size().y * kDeadShare, frame.px(76)) + frame.px(kSpace8) : 0.0F;
    const float axis = box.high.y - frame.px(kWidthTicks);
    const PlotCanvas canvas{view.plot,
                            frame,
                            {box.low.x + y_labels_width(view.plot, frame), grip + frame.px(26)},
                            {box.high.x - curve_names_width(view.plot, frame),
                             std::max(axis - bars, grip + frame.px(60))},
                            view.stale ? 0.45 : 1.0};
    draw_y_axis(canvas);
    draw_lost(canvas, view.lost);
    draw_curves(canvas);
    draw_marker(canvas);
    draw_point_values(canvas, {0, 2}, true);   // with ÷√d_k: median, mean
    draw_point_values(canvas, {1, 3}, false);  // without
    draw_curve_names(canvas);
    const float from = canvas.high.y + frame.px(8);
    if (has_bars) draw_dead(canvas, view, from, axis);
    PlotCanvas below = canvas;
    below.high.y = axis;
    draw_x_axis(below);
    const bool held = read_width_handle(canvas, grip, axis, view, out);
    draw_width_grip(canvas, grip, held);
}

/// The sentence above the plot, where the height is enough for both.
void draw_collapse(const GradientsOverWidth& view, Box box, const Frame& frame,
                   view::Actions& out) {
    if (view.sentence_at && box.size().y >= frame.px(kBothHeight)) {
        const float middle = std::round(box.low.y + kSentenceShare * box.size().y);
        draw_sentence_at_width(*view.sentence_at, {box.low, {box.high.x, middle}}, frame);
        box.low.y = middle + frame.px(kSpace16);
    }
    draw_large(view, box, frame, out);
}

// --- the four

void draw_tab(const GradientsOverWidth& view, std::size_t n, const Box& box, const Frame& frame,
              view::Actions& out) {
    const view::GradientTab& tab = view.tabs[n];
    ImGui::SetCursorScreenPos(box.low);
    ImGui::PushID(static_cast<int>(n));
    const bool pressed = invisible_button("gradient", box.size());
    const bool on = focus_stop(frame) &&
                    (take_key(frame, view::Key::enter) || take_key(frame, view::Key::space));
    if (pressed || on) out.push_back(view::ShowGradient{tab.of});
    tooltip(frame, tab.plain, tab.tooltip);
    ImGui::PopID();
    const view::Theme& theme = frame.theme;
    const bool shown = n == view.tab;
    frame.painter.rect(box.low, box.high, shown ? theme.raised : theme.surface, frame.px(6));
    frame.painter.outline(box.low, box.high, shown ? theme.accent : theme.line,
                          frame.px(shown ? 1.5F : 1.0F), frame.px(6));
    const float pad = frame.px(8);
    const float width = math_in_line(frame, tab.tex, {box.low.x + pad, box.low.y + frame.px(3)},
                                     frame.px(kTabTitle), box_width(box));
    draw_fitted(frame, frame.fonts.small, {box.low.x + 2 * pad + width, box.low.y + frame.px(3)},
                {box.high.x - pad, box.low.y + frame.px(3 + kTabTitle)}, Align::right, theme.muted,
                tab.text);
    const PlotCanvas canvas{tab.plot,
                            frame,
                            {box.low.x + pad, box.low.y + frame.px(kTabTitle + 8)},
                            {box.high.x - pad, box.high.y - pad},
                            view.stale ? 0.45 : 1.0};
    draw_curves(canvas);
    draw_marker(canvas);
}

void draw_tabs(const GradientsOverWidth& view, const Box& box, bool in_a_row, const Frame& frame,
               view::Actions& out) {
    const float gap = frame.px(kTabGap);
    const auto count = static_cast<float>(view.tabs.size());
    const ImVec2 size = box.size();
    const ImVec2 step =
        in_a_row ? ImVec2{(size.x + gap) / count, 0.0F} : ImVec2{0.0F, (size.y + gap) / count};
    const ImVec2 one = in_a_row ? ImVec2{step.x - gap, size.y} : ImVec2{size.x, step.y - gap};
    for (std::size_t n = 0; n < view.tabs.size(); ++n) {
        const auto at = static_cast<float>(n);
        const ImVec2 low{box.low.x + at * step.x, box.low.y + at * step.y};
        draw_tab(view, n, {low, {low.x + one.x, low.y + one.y}}, frame, out);
    }
}

// --- the numbers

/// A table that is written from its top on.
struct Writer {
    const Frame& frame;
    float x, right, y;

    float column(bool scaled) const { return scaled ? right - frame.px(kNumberColumn) : right; }
    void numbers(const Font& font, view::Color with, const std::string& scaled,
                 const std::string& unscaled) const {
        const float height = frame.px(kLineHeight);
        for (const bool first : {true, false})
            draw_text_in(frame, font, {column(first) - frame.px(kNumberColumn), y},
                         {column(first), y + height}, Align::right, first ? with : frame.theme.text,
                         first ? scaled : unscaled);
    }
    void head(const std::string& text, const char* scaled, const char* unscaled) {
        draw_text_in(frame, frame.fonts.small, {x, y}, {right, y + frame.px(kLineHeight)},
                     Align::left, frame.theme.muted, text);
        numbers(frame.fonts.small, frame.theme.role(Role::weight), scaled, unscaled);
        y += frame.px(kLineHeight);
        frame.painter.line({x, y - 1}, {right, y - 1}, frame.theme.line, frame.px(1));
    }
    void row(const view::GradientNumber& number) {
        ImGui::SetCursorScreenPos({x, y});
        ImGui::PushID(static_cast<int>(y));
        invisible_button("number", {right - x, frame.px(kLineHeight)});
        tooltip(frame, number.plain, number.tooltip);
        ImGui::PopID();
        const float space = column(true) - frame.px(kNumberColumn) - x;
        if (number.tex.empty())
            draw_fitted(frame, frame.fonts.body, {x, y},
                        {x + space + frame.px(24), y + frame.px(kLineHeight)}, Align::left,
                        frame.theme.text, number.plain);
        else
            math_in_line(frame, number.tex, {x, y}, frame.px(kLineHeight), space);
        numbers(frame.fonts.digits, frame.theme.role(Role::weight), number.scaled, number.unscaled);
        y += frame.px(kLineHeight);
    }
};

/// One tick for every percent, on the log axis; what lies below it at its left end.
void draw_strip(const GradientsOverWidth& view, const view::GradientStrip& strip, ImVec2 low,
                float right, const Frame& frame) {
    const view::Theme& theme = frame.theme;
    const view::Color color = strip.scaled ? theme.role(Role::weight) : theme.text;
    const float top = low.y + frame.px(14), bottom = low.y + frame.px(kStripLane - 4);
    draw_text_in(frame, frame.fonts.small, low, {right, top}, Align::left, color, strip.name);
    const auto at = [&](double value) {
        const double share = std::log(std::max(value, view.strip_low) / view.strip_low) /
                             std::log(view.strip_high / view.strip_low);
        return low.x + (right - low.x) * static_cast<float>(within(share, 0.0, 1.0));
    };
    frame.painter.line({low.x, bottom}, {right, bottom}, theme.line, frame.px(1));
    for (const double tick : strip.ticks)
        frame.painter.line({at(tick), top}, {at(tick), bottom}, view::translucent(color, kTickInk),
                           frame.px(1));
    frame.painter.line({at(strip.median), top - frame.px(3)},
                       {at(strip.median), bottom + frame.px(2)}, color, frame.px(2.5F));
    frame.painter.ring({at(strip.mean), (top + bottom) / 2}, frame.px(3.5F), color, frame.px(1.5F));
}

void draw_strips(const GradientsOverWidth& view, Writer& at) {
    const Frame& frame = at.frame;
    ImGui::SetCursorScreenPos({at.x, at.y});
    invisible_button("strips", {at.right - at.x, frame.px(2 * kStripLane + kLineHeight)});
    tooltip(
        frame, view.strip_text,
        "One tick for each percent. Line: median. Ring: mean. Values below the axis are drawn at "
        "its left end.");
    for (const view::GradientStrip& strip : view.strips) {
        draw_strip(view, strip, {at.x, at.y}, at.right, frame);
        at.y += frame.px(kStripLane);
    }
    for (const Align end : {Align::left, Align::right})
        draw_text_in(frame, frame.fonts.small, {at.x, at.y}, {at.right, at.y + frame.px(16)}, end,
                     frame.theme.muted, view.strip_ends[end == Align::left ? 0 : 1]);
    at.y += frame.px(kSpace24);
}

void draw_numbers(const GradientsOverWidth& view, const Box& box, const Frame& frame) {
    Writer at{frame, box.low.x, box.high.x, box.low.y};
    draw_text_in(frame, frame.fonts.small, {at.x, at.y}, {at.right, at.y + frame.px(34)},
                 Align::right, frame.theme.muted,
                 view.tab == static_cast<std::size_t>(view::GradientOf::w_q) ? "median batch"
                                                                             : "median row");
    draw_text_in(frame, frame.fonts.title, {at.x, at.y}, {at.right, at.y + frame.px(34)},
                 Align::left, frame.theme.text, view.typical);
    at.y += frame.px(44);
    draw_strips(view, at);
    at.head("median", "with", "without");
    for (const view::GradientNumber& number : view.medians) at.row(number);
    at.y += frame.px(8);
    at.head("mean", "", "");
    for (const view::GradientNumber& number : view.means) at.row(number);
    at.y += frame.px(8);
    at.row(view.none);
}

}  // namespace

void add_gradients(const GradientsOverWidth& view, Parts& parts, const Frame& frame,
                   view::Actions& out) {
    parts.hero = {"large", "one gradient",
                  [&](const Box& box) { draw_collapse(view, box, frame, out); }};
    if (view.ready)
        parts.others.push_back(
            {"numbers", "numbers", [&](const Box& box) { draw_numbers(view, box, frame); },
             CanvasPart::Where::right, 0.0F, [&](ImVec2) { return frame.px(kTable); }});
    parts.others.push_back(
        {"pictures", "all four",
         [&](const Box& box) { draw_tabs(view, box, box.size().x > box.size().y, frame, out); },
         CanvasPart::Where::inner, 0.0F, [&](ImVec2) { return frame.px(kTabs); }});
}

}  // namespace attn::ui
