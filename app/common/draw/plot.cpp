#include "app/common/draw/plot.h"

#include <algorithm>
#include <cmath>

#include "app/common/draw/draw.h"
#include "app/common/draw/focus.h"
#include "app/common/draw/plot_parts.h"

namespace attn::ui {
namespace {

using view::PlotView;

void draw_title(const PlotCanvas& canvas, ImVec2 low, float width) {
    const Frame& frame = canvas.frame;
    const std::string& title = canvas.plot.title;
    const bool fits = frame.text_width(frame.fonts.body, title) <= width;
    const Font& font = fits ? frame.fonts.body : frame.fonts.small;
    frame.painter.text(font, low, frame.theme.text, fit_text(frame, font, title, width));
}

/// Of how many ticks of the x axis one is labelled, so that no label touches another.
std::size_t x_stride(const PlotCanvas& canvas) {
    float widest = 0.0F;
    for (const std::string& label : canvas.plot.x_tick_labels)
        widest = std::max(widest, canvas.frame.text_width(canvas.frame.fonts.digits_small, label));
    const float step = canvas.x(canvas.plot.x_ticks[1]) - canvas.x(canvas.plot.x_ticks[0]);
    const float needed = std::ceil((widest + canvas.frame.px(6)) / std::max(step, 1.0F));
    return static_cast<std::size_t>(within(needed, 1.0F, 16.0F));
}

PlotInput read_marker(const PlotCanvas& canvas, const char* id) {
    ImGui::SetCursorScreenPos(canvas.low);
    ImGui::InvisibleButton(id, {canvas.high.x - canvas.low.x, canvas.high.y - canvas.low.y});
    if (ImGui::IsItemHovered()) ImGui::SetMouseCursor(ImGuiMouseCursor_ResizeEW);
    PlotInput input;
    input.taken = ImGui::IsItemActivated();
    input.let_go = ImGui::IsItemDeactivated();
    if (ImGui::IsItemActive()) input.moved_to = canvas.value_at(ImGui::GetMousePos().x);
    input.steps = focus_stop(canvas.frame) ? arrow_steps(canvas.frame) : 0;
    if (!ImGui::IsItemActive()) tooltip(canvas.frame, canvas.plot.title, canvas.plot.tooltip);
    return input;
}

}  // namespace

void draw_y_axis(const PlotCanvas& canvas) {
    const Frame& frame = canvas.frame;
    const Font& font = frame.fonts.digits_small;
    for (std::size_t n = 0; n < canvas.plot.y_ticks.size(); ++n) {
        const float y = std::round(canvas.y(canvas.plot.y_ticks[n]));
        frame.painter.line({canvas.low.x, y}, {canvas.high.x, y}, frame.theme.line, frame.px(1));
        draw_text_in(frame, font, {canvas.low.x - frame.px(60), y - font.px},
                     {canvas.low.x - frame.px(6), y + font.px}, Align::right, frame.theme.muted,
                     canvas.plot.y_tick_labels[n]);
    }
}

void draw_x_axis(const PlotCanvas& canvas) {
    const Frame& frame = canvas.frame;
    const Font& font = frame.fonts.digits_small;
    const float top = canvas.high.y + frame.px(4);
    const float foot = top + font.px + frame.px(2);
    const view::Color color = frame.theme.muted;
    const std::size_t stride = x_stride(canvas);
    for (std::size_t n = 0; n < canvas.plot.x_ticks.size(); n += stride) {
        const float x = canvas.x(canvas.plot.x_ticks[n]);
        const float half = frame.px(24);
        draw_text_in(frame, font, {x - half, top}, {x + half, foot}, Align::center, color,
                     canvas.plot.x_tick_labels[n]);
    }
    draw_text_in(frame, frame.fonts.small, {canvas.low.x - frame.px(60), top},
                 {canvas.low.x - frame.px(12), foot}, Align::right, color, canvas.plot.x_label);
}

PlotInput draw_plot(const PlotView& plot, const char* id, ImVec2 low, ImVec2 high, bool faded,
                    const Frame& frame) {
    const float line = frame.fonts.digits_small.px;
    PlotCanvas canvas{plot, frame, low, high, faded ? 0.45 : 1.0};
    canvas.low = {low.x + y_labels_width(plot, frame), low.y + frame.fonts.body.px + frame.px(14)};
    canvas.high = {high.x - curve_labels_width(plot, frame), high.y - line - frame.px(8)};
    draw_title(canvas, low, high.x - low.x);
    draw_y_axis(canvas);
    draw_x_axis(canvas);
    draw_levels(canvas);
    draw_curves(canvas);
    draw_marks(canvas);
    draw_marker(canvas);
    draw_curve_labels(canvas);
    return read_marker(canvas, id);
}

}  // namespace attn::ui
