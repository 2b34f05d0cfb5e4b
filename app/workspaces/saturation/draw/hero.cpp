#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "app/common/draw/draw.h"
#include "app/common/draw/focus.h"
#include "app/common/draw/items.h"
#include "app/common/draw/plot_parts.h"
#include "app/common/draw/typing.h"
#include "app/workspaces/saturation/actions.h"
#include "app/workspaces/saturation/draw/parts.h"

namespace attn::ui {
namespace {

using view::HeroView, view::Point;

// Design units.
constexpr float kRange = 16.0F;
constexpr float kLane = 26.0F;  // of the handle, above the area
constexpr float kGrip = 20.0F, kTicks = 20.0F, kChanges = 22.0F, kCaption = 18.0F;
constexpr double kGapInk = 0.16;

// --- content of the area

void draw_gaps(const PlotCanvas& canvas, const HeroView& hero) {
    const view::Color color = view::translucent(canvas.frame.theme.bad, kGapInk * canvas.strength);
    for (const view::GapView& gap : hero.gaps) {
        std::vector<Point> upper, lower;
        for (std::size_t n = 0; n < gap.x.size(); ++n) {
            upper.push_back({canvas.x(gap.x[n]), canvas.y(gap.high[n])});
            lower.push_back({canvas.x(gap.x[n]), canvas.y(gap.low[n])});
        }
        canvas.frame.painter.band(upper, lower, color);
    }
}

/// In the middle of the gap, clear of the handle's line; nothing where the gap is too low for it.
void draw_gap_label(const PlotCanvas& canvas, const HeroView& hero) {
    const Frame& frame = canvas.frame;
    const Font& font = frame.fonts.strong;
    const float half = frame.text_width(font, hero.gap_label) / 2 + frame.px(6);
    float x = within(canvas.x(hero.gap_x), canvas.low.x + half, canvas.high.x - half);
    const float handle = canvas.x(canvas.plot.marker_x);
    if (std::abs(x - handle) < half)
        x = handle + half + frame.px(4) <= canvas.high.x - half ? handle + half + frame.px(4)
                                                                : handle - half - frame.px(4);
    const float y = canvas.y(hero.gap_y);
    draw_text_in(frame, font, {x - half, y - font.px}, {x + half, y + font.px}, Align::center,
                 frame.theme.bad, hero.gap_label);
}

/// The pinned d_k: a dashed line, and a ring where the unscaled curve meets it.
void draw_pin(const PlotCanvas& canvas, const HeroView& hero) {
    const Frame& frame = canvas.frame;
    const float x = std::round(canvas.x(static_cast<double>(hero.pin)));
    draw_dashed(frame, {x, canvas.low.y}, {x, canvas.high.y}, frame.theme.muted, frame.px(1));
    if (std::isnan(hero.pin_y)) return;
    const float y = within(canvas.y(hero.pin_y), canvas.low.y, canvas.high.y);
    frame.painter.circle({x, y}, frame.px(kMarkerRing), frame.theme.background);
    frame.painter.ring({x, y}, frame.px(kMarkerPoint), frame.theme.role(Role::score), frame.px(2));
}

// --- the handle

/// "d_k = 64" on a grip above the area.
void draw_grip(const PlotCanvas& canvas, bool held) {
    const Frame& frame = canvas.frame;
    const std::string description = fmt::format("d_k = {}", canvas.plot.marker_x);
    const std::string text = frame.is_canvas_alone() ? description : "← " + description + " →";
    const float half = frame.text_width(frame.fonts.strong, text) / 2 + frame.px(8);
    const float x = within(canvas.x(canvas.plot.marker_x), canvas.low.x + half - frame.px(40),
                           canvas.high.x - half + frame.px(60));
    const float top = canvas.low.y - frame.px(kLane);
    const view::Theme& theme = frame.theme;
    const view::Color fill = held ? view::blend(theme.accent, theme.text, 0.25) : theme.accent;
    frame.painter.rect({x - half, top}, {x + half, top + frame.px(kGrip)}, fill, frame.px(6));
    draw_text_in(frame, frame.fonts.strong, {x - half, top}, {x + half, top + frame.px(kGrip)},
                 Align::center, theme.on_accent, text);
    const float line = std::round(canvas.x(canvas.plot.marker_x));
    frame.painter.line({line, top + frame.px(kGrip)}, {line, canvas.low.y}, theme.accent,
                       frame.px(2));
}

Index stop_under_mouse(const PlotCanvas& canvas) {
    return view::nearest_stop(canvas.value_at(ImGui::GetMousePos().x));
}

/// `click`: the effect of a click here.
void explain_stop(const PlotCanvas& canvas, const HeroView& hero, const char* click) {
    const auto found =
        std::ranges::find(hero.stops, stop_under_mouse(canvas), &view::StopView::d_k);
    const view::StopView& stop = found == hero.stops.end() ? hero.stops.front() : *found;
    tooltip(canvas.frame, fmt::format("d_k = {}", stop.d_k), stop.tooltip + click);
}

/// The stop that the arrows go to from `d_k`, or that one.
Index stop_by_keys(const Frame& frame, Index d_k) {
    const int steps = arrow_steps(frame);
    return steps == 0 ? d_k : view::next_stop(d_k, steps);
}

/// Area and lane are one control. True while it is held.
bool read_handle(const PlotCanvas& canvas, const HeroView& hero, view::Actions& out) {
    const Frame& frame = canvas.frame;
    const auto here = static_cast<Index>(canvas.plot.marker_x);
    const ImVec2 low{canvas.low.x - frame.px(8), canvas.low.y - frame.px(kLane)};
    ImGui::SetCursorScreenPos(low);
    invisible_button("handle", {canvas.high.x + frame.px(8) - low.x, canvas.high.y - low.y});
    report_gesture(false, out);
    const bool held = ImGui::IsItemActive();
    if (held || ImGui::IsItemHovered()) ImGui::SetMouseCursor(ImGuiMouseCursor_ResizeEW);
    const Index d_k = stop_under_mouse(canvas);
    if (held && d_k != here) out.push_back(view::SetSaturationWidth{d_k});
    if (!held) explain_stop(canvas, hero, "Click or drag: the handle goes there.");
    if (!focus_stop(frame)) return held;
    const Index next = stop_by_keys(frame, here);
    if (next != here) out.push_back(view::SetSaturationWidth{next});
    if (take_key(frame, view::Key::enter)) out.push_back(view::PinSaturation{here});
    return held;
}

// --- the row of changes

/// Of how many stops one has its number written, so that none touches another.
std::size_t change_stride(const PlotCanvas& canvas, const HeroView& hero) {
    float widest = 0.0F;
    for (const view::StopView& stop : hero.stops)
        widest =
            std::max(widest, canvas.frame.text_width(canvas.frame.fonts.digits_small, stop.change));
    const float step = canvas.x(2.0) - canvas.x(1.0);
    return static_cast<std::size_t>(
        std::max(1.0F, std::ceil((widest + canvas.frame.px(4)) / std::max(step, 1.0F))));
}

void draw_changes(const PlotCanvas& canvas, const HeroView& hero, float top) {
    const Frame& frame = canvas.frame;
    const std::size_t stride = change_stride(canvas, hero);
    const auto pin = static_cast<std::size_t>(std::log2(static_cast<double>(hero.pin)));
    const float half = (canvas.x(2.0) - canvas.x(1.0)) / 2;
    for (std::size_t n = pin % stride; n < hero.stops.size(); n += stride) {
        const view::StopView& stop = hero.stops[n];
        const float x = canvas.x(static_cast<double>(stop.d_k));
        const bool pinned = stop.d_k == hero.pin;
        const bool here = static_cast<double>(stop.d_k) == canvas.plot.marker_x;
        const float bottom = top + frame.px(kChanges - 2);
        if (pinned || here)
            frame.painter.rect({x - half + 2, top}, {x + half - 2, bottom}, frame.theme.raised,
                               frame.px(4));
        const view::Color plain = here ? frame.theme.text : frame.theme.role(Role::score);
        draw_text_in(frame, frame.fonts.digits_small, {x - half, top}, {x + half, bottom},
                     Align::center, pinned ? frame.theme.accent : plain, stop.change);
    }
}

void read_pin(const PlotCanvas& canvas, const HeroView& hero, float top, view::Actions& out) {
    const Frame& frame = canvas.frame;
    const float half = (canvas.x(2.0) - canvas.x(1.0)) / 2;
    ImGui::SetCursorScreenPos({canvas.low.x - half, top});
    invisible_button("pin", {canvas.high.x - canvas.low.x + 2 * half, frame.px(kChanges)});
    report_gesture(false, out);
    const Index d_k = stop_under_mouse(canvas);
    if (ImGui::IsItemActive() && d_k != hero.pin) out.push_back(view::PinSaturation{d_k});
    if (!ImGui::IsItemActive()) explain_stop(canvas, hero, "Click to compare with this one.");
    if (!focus_stop(frame)) return;
    const Index next = stop_by_keys(frame, hero.pin);
    if (next != hero.pin) out.push_back(view::PinSaturation{next});
}

/// The name of the plot; at the right what became of the gradient, and below that how sure it is.
void draw_title(const HeroView& hero, const Box& box, const Frame& frame) {
    const ImVec2 low = box.low, high = box.high;
    const Font& strong = frame.fonts.strong;
    const float space = frame.text_width(strong, hero.headline);
    const ImVec2 bottom{high.x, low.y + frame.px(kTitleRow)};
    draw_text_in(frame, strong, low, bottom, Align::right, frame.theme.text, hero.headline);
    draw_text_in(
        frame, frame.fonts.body, low, bottom, Align::left, frame.theme.text,
        fit_text(frame, frame.fonts.body, hero.plot.title, high.x - low.x - space - frame.px(16)));
    draw_text_in(frame, frame.fonts.small, {low.x, bottom.y}, {high.x, bottom.y + frame.px(kRange)},
                 Align::right, frame.theme.muted, hero.headline_range);
}

}  // namespace

void draw_hero(const HeroView& hero, const Box& box, bool faded, const Frame& frame,
               view::Actions& out) {
    const float top = box.low.y + frame.px(kTitleRow + kRange + kLane + 4);
    const float bottom = box.high.y - frame.px(kTicks + kChanges + kCaption);
    const PlotCanvas canvas{
        hero.plot,
        frame,
        {box.low.x + y_labels_width(hero.plot, frame), top},
        {box.high.x - curve_names_width(hero.plot, frame), std::max(bottom, top + frame.px(40))},
        faded ? 0.45 : 1.0};
    const float changes = canvas.high.y + frame.px(kTicks);
    draw_title(hero, box, frame);
    draw_y_axis(canvas);
    draw_x_axis(canvas);
    draw_gaps(canvas, hero);
    draw_gap_label(canvas, hero);
    draw_pin(canvas, hero);
    draw_curves(canvas);
    draw_curve_points(canvas);
    draw_marker(canvas);
    if (hero.plot.marker_ys.size() == 2) draw_point_values(canvas, {0, 1}, false);
    draw_curve_names(canvas);
    const bool held = read_handle(canvas, hero, out);
    draw_grip(canvas, held);
    draw_changes(canvas, hero, changes);
    read_pin(canvas, hero, changes, out);
    draw_fitted(frame, frame.fonts.small, {box.low.x, changes + frame.px(kChanges)},
                {box.high.x, changes + frame.px(kChanges + kCaption)}, Align::left,
                frame.theme.muted, hero.stops_caption);
}

}  // namespace attn::ui
