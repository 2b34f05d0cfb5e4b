#include "app/common/draw/plot.h"

#include <numeric>
#include <optional>

#include "app/common/draw/draw.h"
#include "app/common/draw/focus.h"
#include "app/common/draw/items.h"
#include "app/common/draw/measured.h"
#include "app/common/draw/plot_parts.h"

namespace attn::ui {
namespace {

double share_of(double value, double low, double high, bool log) {
    return log ? std::log(value / low) / std::log(high / low) : (value - low) / (high - low);
}

void draw_title(const PlotCanvas& canvas, ImVec2 low, float width) {
    const Frame& frame = canvas.frame;
    const std::string& title = canvas.plot.title;
    const bool fits = frame.text_width(frame.fonts.body, title) <= width;
    const Font& font = fits ? frame.fonts.body : frame.fonts.small;
    frame.painter.text(font, low, frame.theme.text, fit_text(frame, font, title, width));
}

/// Of how many ticks of the x axis one is labelled, so that no label touches another.
std::size_t x_stride(const PlotCanvas& canvas) {
    const float widest =
        canvas.frame.widest(canvas.frame.fonts.digits_small, canvas.plot.x_tick_labels);
    const float step = canvas.x(canvas.plot.x_ticks[1]) - canvas.x(canvas.plot.x_ticks[0]);
    const float needed = std::ceil((widest + canvas.frame.px(6)) / std::max(step, 1.0F));
    return static_cast<std::size_t>(within(needed, 1.0F, 16.0F));
}

PlotInput read_marker(const PlotCanvas& canvas, const char* id) {
    ImGui::SetCursorScreenPos(canvas.low);
    invisible_button(id, {canvas.high.x - canvas.low.x, canvas.high.y - canvas.low.y});
    if (ImGui::IsItemHovered()) ImGui::SetMouseCursor(ImGuiMouseCursor_ResizeEW);
    PlotInput input;
    input.taken = ImGui::IsItemActivated();
    input.let_go = ImGui::IsItemDeactivated();
    if (ImGui::IsItemActive()) input.moved_to = canvas.value_at(ImGui::GetMousePos().x);
    input.steps = focus_stop(canvas.frame) ? arrow_steps(canvas.frame) : 0;
    const bool has_tooltip = !canvas.plot.title.empty() || !canvas.plot.tooltip.empty();
    if (has_tooltip && ImGui::IsItemHovered() && !ImGui::IsItemActive())
        tooltip_at_pointer(canvas.frame, canvas.plot.title, canvas.plot.tooltip);
    return input;
}

// ---- curves

// Design units.
constexpr float kLine = 2.0F, kDash = 6.0F;
constexpr float kLabelGap =
    kMarkerRing + 4.0F;  // a point at the right end stands free of the labels
constexpr float kDot = 2.5F, kMarkArm = 4.0F;
constexpr double kBandInk = 0.18;

Color ink(const PlotCanvas& canvas, const CurveView& curve, double strength) {
    return view::translucent(canvas.frame.theme.role(curve.role), strength);
}

/// From the low to the high end of each value; a value without ends parts it.
void draw_band(const PlotCanvas& canvas, const CurveView& curve) {
    std::vector<Point> upper, lower;
    const auto flush = [&] {
        if (upper.size() > 1)
            canvas.frame.painter.band(upper, lower, ink(canvas, curve, kBandInk * canvas.strength));
        upper.clear();
        lower.clear();
    };
    for (std::size_t n = 0; n < curve.low.size(); ++n) {
        if (std::isnan(curve.low[n])) {
            flush();
            continue;
        }
        upper.push_back({canvas.x(curve.x[n]), canvas.y(curve.high[n])});
        lower.push_back({canvas.x(curve.x[n]), canvas.y(curve.low[n])});
    }
    flush();
}

/// The pieces of one straight line that lie on the dashes of a longer one; `walked` is the length of
/// what came before.
void draw_dashes(Painter& painter, Point from, Point to, float walked, float dash, Color color,
                 float thickness) {
    const float length = std::hypot(to.x - from.x, to.y - from.y);
    const auto at = [&](float along) {
        const float t = within(along / length, 0.0F, 1.0F);
        return Point{from.x + (to.x - from.x) * t, from.y + (to.y - from.y) * t};
    };
    const float period = 1.7F * dash;
    for (float start = -std::fmod(walked, period); start < length; start += period)
        if (start + dash > 0.0F) painter.line(at(start), at(start + dash), color, thickness);
}

/// Between the values that part it; one piece where none does.
std::vector<std::vector<Point>> pieces_of(const PlotCanvas& canvas, const CurveView& curve) {
    std::vector<std::vector<Point>> pieces(1);
    for (std::size_t n = 0; n < curve.x.size(); ++n) {
        if (!std::isnan(curve.y[n]))
            pieces.back().push_back({canvas.x(curve.x[n]), canvas.y(curve.y[n])});
        else if (curve.parted && !pieces.back().empty())
            pieces.emplace_back();
    }
    return pieces;
}

void draw_piece(const PlotCanvas& canvas, const CurveView& curve,
                const std::vector<Point>& points) {
    if (points.size() < 2) return;
    const Color color = ink(canvas, curve, canvas.strength);
    const float thickness = canvas.frame.px(kLine);
    if (!curve.dashed) {
        canvas.frame.painter.polyline(points, color, thickness);
        return;
    }
    float walked = 0.0F;
    for (std::size_t n = 1; n < points.size(); ++n) {
        draw_dashes(canvas.frame.painter, points[n - 1], points[n], walked, canvas.frame.px(kDash),
                    color, thickness);
        walked += std::hypot(points[n].x - points[n - 1].x, points[n].y - points[n - 1].y);
    }
}

void draw_line(const PlotCanvas& canvas, const CurveView& curve) {
    const Titled titled(canvas.frame.painter, [&] { return curve.label; });
    for (const auto& piece : pieces_of(canvas, curve)) draw_piece(canvas, curve, piece);
}

std::string value_text(const PlotView& plot, std::size_t n) { return "● " + plot.marker_texts[n]; }

float label_height(const Frame& frame) {
    return frame.fonts.small.px + frame.fonts.digits_small.px + frame.px(6);
}

/// Tops of blocks of one height, each near its place, none over another, all within low … high.
std::vector<float> spread_out(const std::vector<float>& places, float height, float low,
                              float high) {
    std::vector<std::size_t> order(places.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t l, std::size_t r) { return places[l] < places[r]; });
    std::vector<float> tops(places.size());
    float free = low;
    for (const std::size_t n : order) {
        tops[n] = std::max(free, places[n]);
        free = tops[n] + height;
    }
    float ceiling = high - height;
    for (std::size_t n = order.size(); n-- > 0;) {
        tops[order[n]] = std::min(tops[order[n]], ceiling);
        ceiling = tops[order[n]] - height;
    }
    return tops;
}

/// Tops of labels that high, each beside the end of its curve.
std::vector<float> label_tops(const PlotCanvas& canvas, float height) {
    const Frame& frame = canvas.frame;
    std::vector<float> places;
    for (const CurveView& curve : canvas.plot.curves) {
        const float y = curve.y.empty() ? canvas.low.y : canvas.y(curve.y.back());
        places.push_back((std::isnan(y) ? canvas.low.y : y) - frame.fonts.small.px / 2);
    }
    return spread_out(places, height, canvas.low.y, canvas.high.y + frame.px(6));
}

}  // namespace

void draw_y_axis(const PlotCanvas& canvas) {
    const Frame& frame = canvas.frame;
    const Font& font = frame.fonts.digits_small;
    TakenSpans taken(0.0F);
    for (std::size_t n = 0; n < canvas.plot.y_ticks.size(); ++n) {
        const float y = std::round(canvas.y(canvas.plot.y_ticks[n]));
        frame.painter.line({canvas.low.x, y}, {canvas.high.x, y}, frame.theme.line, frame.px(1));
        if (!taken.take(y - font.px / 2, y + font.px / 2)) continue;
        draw_text_in(frame, font, {canvas.low.x - frame.px(60), y - font.px},
                     {canvas.low.x - frame.px(6), y + font.px}, Align::right, frame.theme.muted,
                     canvas.plot.y_tick_labels[n]);
    }
}

/// Width of the label of the lowest tick, which is next to the name of the other axis; 0 without one.
float lowest_label_width(const PlotView& plot, const Frame& frame) {
    const auto lowest = std::ranges::find(plot.y_ticks, plot.y_low);
    if (lowest == plot.y_ticks.end()) return 0.0F;
    const auto n = static_cast<std::size_t>(lowest - plot.y_ticks.begin());
    return frame.text_width(frame.fonts.digits_small, plot.y_tick_labels[n]);
}

void draw_x_axis(const PlotCanvas& canvas) {
    const Frame& frame = canvas.frame;
    const Font& font = frame.fonts.digits_small;
    const float top = canvas.high.y + frame.px(4);
    const float bottom = top + font.px + frame.px(2);
    const Color color = frame.theme.muted;
    const std::size_t stride = x_stride(canvas);
    const std::string& name = canvas.plot.x_label;
    const float needed = frame.text_width(frame.fonts.small, name) + frame.px(2 * kSpace8);
    std::optional<float> between;  // ticks: the middle of the last gap that has room for the name
    for (std::size_t n = 0; n < canvas.plot.x_ticks.size(); n += stride) {
        const float x = canvas.x(canvas.plot.x_ticks[n]);
        const float half = frame.px(24);
        draw_text_in(frame, font, {x - half, top}, {x + half, bottom}, Align::center, color,
                     canvas.plot.x_tick_labels[n]);
        if (n < stride) continue;
        const auto half_of = [&](std::size_t tick) {
            return frame.text_width(font, canvas.plot.x_tick_labels[tick]) / 2;
        };
        const float left = canvas.x(canvas.plot.x_ticks[n - stride]) + half_of(n - stride);
        if (x - half_of(n) - left >= needed) between = (left + x - half_of(n)) / 2;
    }
    if (between)
        return draw_text_in(frame, frame.fonts.small, {*between - needed / 2, top},
                            {*between + needed / 2, bottom}, Align::center, color, name);
    const float right = canvas.low.x - frame.px(12) - lowest_label_width(canvas.plot, frame);
    draw_text_in(frame, frame.fonts.small, {right - frame.px(48), top}, {right, bottom},
                 Align::right, color, name);
}

namespace {

constexpr float kMostLabels = 0.4F;  // of the width; wider labels of curves stand above the area

/// Height of a line of the legend above the area.
float legend_line(const Frame& frame) { return frame.fonts.small.px + frame.px(4); }

/// A line for each curve: its name, and its value at the marker.
void draw_legend(const PlotCanvas& canvas, ImVec2 low, float right) {
    const Frame& frame = canvas.frame;
    float y = low.y;
    for (std::size_t n = 0; n < canvas.plot.curves.size(); ++n) {
        const Color color = ink(canvas, canvas.plot.curves[n], 1.0);
        const std::string value =
            canvas.plot.labels == CurveLabels::values ? value_text(canvas.plot, n) : std::string();
        const float width = frame.text_width(frame.fonts.digits_small, value);
        const std::string name = fit_text(frame, frame.fonts.small, canvas.plot.curves[n].label,
                                          right - low.x - width - frame.px(8));
        frame.painter.text(frame.fonts.small, {low.x, y}, color, name);
        frame.painter.text(frame.fonts.digits_small,
                           {low.x + frame.text_width(frame.fonts.small, name) + frame.px(8), y},
                           color, value);
        y += legend_line(frame);
    }
}

}  // namespace

PlotInput draw_plot(const PlotView& plot, const char* id, ImVec2 low, ImVec2 high, bool faded,
                    const Frame& frame) {
    const float line = frame.fonts.digits_small.px;
    PlotCanvas canvas{plot, frame, low, high, faded ? 0.45 : 1.0};
    const float labels = curve_labels_width(plot, frame), top = frame.fonts.body.px + frame.px(14);
    const float legend = legend_line(frame) * static_cast<float>(plot.curves.size());
    const float area = high.y - low.y - top - line - frame.px(8);
    const bool above = plot.labels != CurveLabels::none && legend < area / 2 &&
                       labels > kMostLabels * (high.x - low.x);
    canvas.low = {low.x + y_labels_width(plot, frame), low.y + top + (above ? legend : 0.0F)};
    canvas.high = {high.x - (above ? frame.px(kLabelGap) : labels), high.y - line - frame.px(8)};
    draw_title(canvas, low, high.x - low.x);
    draw_y_axis(canvas);
    draw_x_axis(canvas);
    draw_levels(canvas);
    draw_curves(canvas);
    draw_marks(canvas);
    draw_marker(canvas);
    above ? draw_legend(canvas, {low.x, low.y + frame.fonts.body.px + frame.px(4)}, high.x)
          : draw_curve_labels(canvas);
    return read_marker(canvas, id);
}

float PlotCanvas::x(double value) const {
    const double share = share_of(value, plot.x_low, plot.x_high, plot.log_x);
    return low.x + (high.x - low.x) * static_cast<float>(share);
}

float PlotCanvas::y(double value) const {
    const double share = share_of(value, plot.y_low, plot.y_high, plot.log_y);
    return high.y - (high.y - low.y) * static_cast<float>(within(share, -0.5, 1.5));
}

double PlotCanvas::value_at(float x) const {
    const double share = within((x - low.x) / (high.x - low.x), 0.0F, 1.0F);
    if (!plot.log_x) return plot.x_low + (plot.x_high - plot.x_low) * share;
    return plot.x_low * std::pow(plot.x_high / plot.x_low, share);
}

void draw_curves(const PlotCanvas& canvas) {
    record_rect_for_tests(canvas.frame.painter, Measuring::Kind::chart, canvas.low, canvas.high);
    canvas.frame.painter.push_clip({canvas.low.x, canvas.low.y - canvas.frame.px(2)},
                                   {canvas.high.x, canvas.high.y + canvas.frame.px(2)});
    for (const CurveView& curve : canvas.plot.curves) draw_band(canvas, curve);
    for (const CurveView& curve : canvas.plot.curves) draw_line(canvas, curve);
    canvas.frame.painter.pop_clip();
}

void draw_marker(const PlotCanvas& canvas) {
    const float x = std::round(canvas.x(canvas.plot.marker_x));
    canvas.frame.painter.line({x, canvas.low.y}, {x, canvas.high.y}, canvas.frame.theme.accent,
                              canvas.frame.px(1));
    for (std::size_t n = 0; n < canvas.plot.curves.size(); ++n) {
        if (std::isnan(canvas.plot.marker_ys[n])) continue;
        const Titled titled(canvas.frame.painter, [&] {
            return canvas.plot.curves[n].label + ": " + canvas.plot.marker_texts[n];
        });
        const float y = within(canvas.y(canvas.plot.marker_ys[n]), canvas.low.y, canvas.high.y);
        canvas.frame.painter.circle({x, y}, canvas.frame.px(kMarkerRing),
                                    canvas.frame.theme.background);
        canvas.frame.painter.circle({x, y}, canvas.frame.px(kMarkerPoint),
                                    ink(canvas, canvas.plot.curves[n], 1.0));
    }
}

void draw_curve_points(const PlotCanvas& canvas) {
    for (const CurveView& curve : canvas.plot.curves)
        for (const auto& piece : pieces_of(canvas, curve))
            for (const Point& point : piece)
                canvas.frame.painter.circle(point, canvas.frame.px(kDot),
                                            ink(canvas, curve, canvas.strength));
}

void draw_levels(const PlotCanvas& canvas) {
    const Frame& frame = canvas.frame;
    const Font& font = frame.fonts.small;
    for (const PlotLevel& level : canvas.plot.levels) {
        const float y = std::round(canvas.y(level.y));
        if (y < canvas.low.y || y > canvas.high.y) continue;
        draw_dashed(frame, {canvas.low.x, y}, {canvas.high.x, y}, frame.theme.bad, frame.px(1.5F));
        frame.painter.text(font, {canvas.low.x + frame.px(6), y - font.px - frame.px(2)},
                           frame.theme.bad, level.text);
    }
}

void draw_marks(const PlotCanvas& canvas) {
    const Frame& frame = canvas.frame;
    const float arm = frame.px(kMarkArm);
    const Font& font = frame.fonts.digits_small;
    bool above = false;  // in turn, so that neighbours keep clear of each other
    for (const PlotMark& mark : canvas.plot.marks) {
        above = !above;
        const float x = canvas.x(mark.x);
        const float y = within(canvas.y(mark.y), canvas.low.y, canvas.high.y);
        const Color color = frame.theme.role(mark.role);
        frame.painter.circle({x, y}, arm * 1.6F, frame.theme.background);
        if (mark.cross) {
            frame.painter.line({x - arm, y - arm}, {x + arm, y + arm}, color, frame.px(2));
            frame.painter.line({x - arm, y + arm}, {x + arm, y - arm}, color, frame.px(2));
        } else {
            frame.painter.ring({x, y}, arm, color, frame.px(2));
        }
        if (mark.text.empty()) continue;
        const Point at{x + arm * 1.6F, above ? y - font.px - frame.px(4) : y + frame.px(4)};
        const float right = at.x + frame.text_width(font, mark.text);
        frame.painter.rect({at.x - 2, at.y}, {right + 2, at.y + font.px},
                           view::translucent(frame.theme.background, 0.8), frame.px(3));
        frame.painter.text(font, at, color, mark.text);
    }
}

void draw_dashed(const Frame& frame, Point from, Point to, Color color, float thickness) {
    draw_dashes(frame.painter, from, to, 0.0F, frame.px(kDash), color, thickness);
}

void draw_curve_names(const PlotCanvas& canvas) {
    const Font& font = canvas.frame.fonts.strong;
    const std::vector<float> tops = label_tops(canvas, font.px + canvas.frame.px(2));
    TakenSpans taken(0.0F);
    for (std::size_t n = 0; n < tops.size(); ++n)
        if (taken.take(tops[n], tops[n] + font.px))
            canvas.frame.painter.text(font, {canvas.high.x + canvas.frame.px(kLabelGap), tops[n]},
                                      ink(canvas, canvas.plot.curves[n], 1.0),
                                      canvas.plot.curves[n].label);
}

void draw_curve_labels(const PlotCanvas& canvas) {
    if (canvas.plot.labels == CurveLabels::none) return;
    if (canvas.plot.labels == CurveLabels::names) return draw_curve_names(canvas);
    const Frame& frame = canvas.frame;
    const float height = label_height(frame);
    const std::vector<float> tops = label_tops(canvas, height);
    TakenSpans taken(0.0F);  // a plot may be too low for all of them
    for (std::size_t n = 0; n < tops.size(); ++n) {
        if (!taken.take(tops[n], tops[n] + height - frame.px(2))) continue;
        const Color color = ink(canvas, canvas.plot.curves[n], 1.0);
        const ImVec2 at{canvas.high.x + frame.px(kLabelGap), tops[n]};
        frame.painter.text(frame.fonts.small, at, color, canvas.plot.curves[n].label);
        frame.painter.text(frame.fonts.digits_small,
                           {at.x, at.y + frame.fonts.small.px + frame.px(2)}, color,
                           value_text(canvas.plot, n));
    }
}

float y_labels_width(const PlotView& plot, const Frame& frame) {
    const float label = frame.text_width(frame.fonts.small, plot.x_label) + frame.px(6) +
                        lowest_label_width(plot, frame);
    return std::max(label, frame.widest(frame.fonts.digits_small, plot.y_tick_labels)) +
           frame.px(6);
}

float curve_names_width(const PlotView& plot, const Frame& frame) {
    float width = 0.0F;
    for (const CurveView& curve : plot.curves)
        width = std::max(width, frame.text_width(frame.fonts.strong, curve.label));
    return width + frame.px(kLabelGap + 2.0F);
}

float curve_labels_width(const PlotView& plot, const Frame& frame) {
    if (plot.labels == CurveLabels::none) return frame.px(kLabelGap);
    if (plot.labels == CurveLabels::names) return curve_names_width(plot, frame);
    float width = frame.text_width(frame.fonts.digits_small, "● 100.0 %");
    for (std::size_t n = 0; n < plot.curves.size(); ++n)
        width = std::max({width, frame.text_width(frame.fonts.small, plot.curves[n].label),
                          frame.text_width(frame.fonts.digits_small, value_text(plot, n))});
    return width + frame.px(kLabelGap + 2.0F);
}

}  // namespace attn::ui
