#include "app/common/draw/draw.h"
#include "app/common/draw/items.h"
#include "app/common/draw/measured.h"
#include "app/common/format.h"
#include "app/common/map/actions.h"
#include "app/workspaces/large/draw/panel.h"

namespace attn::ui {
namespace {

// Design units.
constexpr float kPoint = 4.0F, kBar = 6.0F;
constexpr float kLeastPass = 80.0F;  // of the room beside the badge

// Room around what is drawn, as factors of it.
constexpr double kLeft = 4.0;        // less than the lowest intensity
constexpr double kRight = 32.0;      // more than the highest: labels stand there
constexpr double kBelow = 2.0;       // under the lowest point
constexpr double kLeastSpan = 12.0;  // of GFLOP/s shown below the peak

/// How far along a logarithmic axis a value stands, 0…1.
float along(double value, double low, double high) {
    return static_cast<float>(std::log(value / low) / std::log(high / low));
}

/// Both axes logarithmic.
struct Axes {
    Area area;
    double x_low, x_high, y_low, y_high;

    float x(double intensity) const {
        return area.low.x + area.width() * along(intensity, x_low, x_high);
    }
    float y(double gflops) const {
        return area.high.y - area.height() * along(gflops, y_low, y_high);
    }
    ImVec2 at(double intensity, double gflops) const { return {x(intensity), y(gflops)}; }
};

bool is_drawable(const RooflineView::Point& point) {
    return point.intensity > 0.0 && point.gflops > 0.0 && std::isfinite(point.intensity) &&
           std::isfinite(point.gflops);
}

Axes axes_of(const RooflineView& roofline, const Area& area) {
    const double ridge = roofline.peak / roofline.bandwidth;
    Axes axes{area, ridge, ridge, roofline.peak / kLeastSpan, roofline.peak};
    for (const RooflineView::Point& point : roofline.points) {
        if (!is_drawable(point)) continue;
        axes.x_low = std::min(axes.x_low, point.intensity);
        axes.x_high = std::max(axes.x_high, point.intensity);
        axes.y_low = std::min(axes.y_low, point.gflops / kBelow);
        axes.y_high = std::max(axes.y_high, point.gflops);
    }
    axes.x_low /= kLeft;
    axes.x_high *= kRight;
    return axes;
}

/// bandwidth · intensity up to the ridge, the peak from there on.
void draw_roof(const RooflineView& roofline, const Axes& axes, const Frame& frame) {
    const double start = std::max(axes.x_low, axes.y_low / roofline.bandwidth);
    const Color color = frame.theme.text;
    const ImVec2 ridge = axes.at(roofline.peak / roofline.bandwidth, roofline.peak);
    frame.painter.line(axes.at(start, start * roofline.bandwidth), ridge, color, frame.px(1.5F));
    frame.painter.line(ridge, axes.at(axes.x_high, roofline.peak), color, frame.px(1.5F));
    frame.painter.line({axes.area.low.x, axes.area.high.y}, axes.area.high, frame.theme.line,
                       frame.px(1));
}

void draw_roof_labels(const RooflineView& roofline, const Axes& axes, const Frame& frame) {
    const Font& font = frame.fonts.small;
    const Color color = frame.theme.muted;
    const float roof = axes.y(roofline.peak);
    draw_text_in(frame, font, {axes.area.low.x, roof - font.px - frame.px(6)},
                 {axes.area.high.x, roof - frame.px(2)}, Align::right, color,
                 view::tick(roofline.peak) + " GFLOP/s");
    const float bottom = axes.area.high.y - frame.px(2);
    const double start = std::max(axes.x_low, axes.y_low / roofline.bandwidth);
    const double above = axes.y_low * std::pow(axes.y_high / axes.y_low,
                                               (font.px + frame.px(6)) / axes.area.height());
    const double clear = std::max(start, above / roofline.bandwidth);  // right of the slope there
    frame.painter.text(font, {axes.x(clear) + frame.px(6), bottom - font.px}, color,
                       view::tick(roofline.bandwidth) + " GB/s");
}

void draw_points(const RooflineView& roofline, const Axes& axes, const Frame& frame) {
    for (const RooflineView::Point& point : roofline.points) {
        if (!is_drawable(point)) continue;
        const ImVec2 at = axes.at(point.intensity, point.gflops);
        frame.painter.line({at.x, at.y}, {at.x, axes.area.high.y},
                           view::translucent(frame.theme.accent, 0.35), frame.px(1));
        frame.painter.circle(at, frame.px(kPoint), frame.theme.accent);
    }
}

/// Left of each point, or right of it; a label that would touch another is left out.
void draw_point_labels(const RooflineView& roofline, const Axes& axes, const Frame& frame) {
    const Font& font = frame.fonts.small;
    std::vector<float> taken;
    for (const RooflineView::Point& point : roofline.points) {
        if (!is_drawable(point)) continue;
        const ImVec2 at = axes.at(point.intensity, point.gflops);
        const float y = std::min(at.y + frame.px(kPoint), axes.area.high.y - 2 * font.px);
        const bool touches = std::ranges::any_of(
            taken, [&](float other) { return std::abs(other - y) < font.px + frame.px(2); });
        if (touches) continue;
        taken.push_back(y);
        const float width = frame.text_width(font, point.label);
        const float right = at.x + frame.px(8) + width;
        const float x = right <= axes.area.high.x ? at.x + frame.px(8) : at.x - frame.px(8) - width;
        frame.painter.text(font, {x, y}, frame.theme.accent, point.label);
    }
}

/// Each point in numbers, and what is counted.
std::string points_text(const RooflineView& roofline) {
    std::string text = "GFLOP/s over FLOP per byte of memory traffic; both axes logarithmic";
    for (const RooflineView::Point& point : roofline.points)
        text += "\n" + point.label + ": " + view::tick(point.gflops) + " GFLOP/s at " +
                view::tick(point.intensity) + " FLOP per byte";
    return text + "\n" + roofline.tooltip;
}

/// "sampled preview" and what is not finite on a filled plate, "● exact" in quiet letters. Returns its width.
float draw_badge(const LargeScene& scene, ImVec2 at, float height) {
    const Frame& frame = scene.frame;
    const Font& font = frame.fonts.strong;
    if (scene.view.quality.empty()) return 0.0F;
    const bool plate = scene.view.sampled || scene.view.flawed;
    const std::string text = (plate ? "" : "● ") + scene.view.quality;
    const float pad = plate ? frame.px(10) : 0.0F;
    const float width = frame.text_width(font, text) + 2 * pad;
    const ImVec2 high{at.x + width, at.y + height};
    const Color fill = scene.view.flawed ? frame.theme.nan : frame.theme.warning;
    if (plate) frame.painter.rect(at, high, fill, frame.px(4));
    const Color quiet = scene.view.pictures.empty() ? frame.theme.muted : frame.theme.good;
    draw_text_in(frame, font, at, high, Align::center, plate ? frame.theme.background : quiet,
                 text);
    return width;
}

// --- the exact pass

struct PassButton {
    std::string text;
    Tip tip;
    bool starts = false;
};

std::optional<PassButton> pass_button(const PassView& pass) {
    if (pass.offer_pause)
        return PassButton{
            "pause", {"Pauses the exact pass", "Finished parts stay.  Key: Space"}, false};
    if (pass.offer_start)
        return PassButton{
            pass.start_text,
            {"Every weight, once",
             "Computes the exact overview from Q and K; it may be paused.  Key: Space"},
            true};
    return std::nullopt;
}

Color pass_color(const PassView& pass, const Theme& theme) {
    return pass.offer_pause ? theme.accent : theme.muted;
}

void draw_bar(const LargeScene& scene, const Area& space) {
    const Frame& frame = scene.frame;
    const float height = frame.px(kBar);
    const float top = std::round((space.low.y + space.high.y - height) / 2);
    const auto fill = [&](double share, Color color) {
        frame.painter.rect(
            {space.low.x, top},
            {space.low.x + space.width() * static_cast<float>(within(share, 0.0, 1.0)),
             top + height},
            color, height / 2);
    };
    fill(1.0, frame.theme.line);
    if (scene.view.pass.fraction > 0.0)
        fill(scene.view.pass.fraction, pass_color(scene.view.pass, frame.theme));
}

/// "━━━━━━──── [pause]" until it is done; the line alone in a figure of the canvas, in which there is no button.
void draw_pass_line(const LargeScene& scene, const Area& line) {
    const auto offered =
        scene.frame.is_canvas_alone() ? std::nullopt : pass_button(scene.view.pass);
    float right = line.high.x;
    if (offered) {
        // The reader needs its time: the bar gives way, the button is never cut.
        const std::string text =
            fit_text(scene.frame, scene.frame.fonts.body, offered->text, line.width());
        right -= button_width(scene.frame, text);
        ImGui::SetCursorScreenPos(
            {right, std::round((line.low.y + line.high.y - ImGui::GetFrameHeight()) / 2)});
        if (button(around(scene.frame), "pass", text, offered->tip))
            scene.out.push_back(SetFullPass{offered->starts});
        right -= scene.frame.px(16);
    }
    if (right > line.low.x) draw_bar(scene, {line.low, {right, line.high.y}});
}

/// What the pass does and, while it is not done, how good the preview is.
void draw_pass_text(const LargeScene& scene, const Area& line) {
    const Frame& frame = scene.frame;
    const PassView& pass = scene.view.pass;
    const std::string whole = pass.text + (pass.detail.empty() ? "" : "  " + pass.detail);
    const bool fits = frame.text_width(frame.fonts.small, whole) <= line.width();
    draw_fitted(frame, frame.fonts.small, line.low, line.high, Align::left, frame.theme.muted,
                fits ? whole : pass.text);
    ImGui::SetCursorScreenPos(line.low);
    invisible_button("pass words", line.size());
    tooltip(frame, pass.text, pass.detail);
}

}  // namespace

void draw_roofline(const RooflineView& roofline, const Area& area, const Frame& frame) {
    const Font& font = frame.fonts.small;
    const float line = font.px + frame.px(6);
    const ImVec2 caption{area.low.x, area.high.y - line};
    draw_text_in(frame, font, caption, area.high, Align::left, frame.theme.muted,
                 fit_text(frame, font, roofline.text, area.width()));
    ImGui::SetCursorScreenPos(area.low);
    invisible_button("roofline", area.size());
    if (!roofline.ready || !(roofline.peak > 0.0) || !(roofline.bandwidth > 0.0)) return;
    const Axes axes = axes_of(
        roofline, {{area.low.x, area.low.y + line}, {area.high.x, caption.y - frame.px(2)}});
    record_rect_for_tests(frame.painter, Measuring::Kind::chart, axes.area.low, axes.area.high);
    draw_roof(roofline, axes, frame);
    draw_roof_labels(roofline, axes, frame);
    draw_points(roofline, axes, frame);
    draw_point_labels(roofline, axes, frame);
    tooltip(frame, roofline.text, points_text(roofline));
}

void draw_large_header(const LargeScene& scene, const Area& line) {
    const Frame& frame = scene.frame;
    const std::string& zoom = scene.view.zoom_text;
    const float plate = std::min(frame.px(24), line.height());
    const float top = std::round((line.low.y + line.high.y - plate) / 2);
    const float gap = frame.px(kSpace24);
    Area rest = line;
    rest.low.x += draw_badge(scene, {line.low.x, top}, plate) + gap;
    ImGui::SetCursorScreenPos(line.low);
    invisible_button("quality", {std::max(rest.low.x - gap - line.low.x, 1.0F), plate});
    tooltip(frame, scene.view.title, scene.view.quality + "; " + zoom);
    rest.high.x -= frame.text_width(frame.fonts.small, zoom) + gap;
    if (rest.width() < frame.px(kLeastPass)) return;
    draw_text_in(frame, frame.fonts.small, line.low, line.high, Align::right, frame.theme.muted,
                 zoom);
    Area bar = rest;
    if (!scene.view.pass.done) {
        const auto offered = frame.is_canvas_alone() ? std::nullopt : pass_button(scene.view.pass);
        const float needed =
            offered ? button_width(frame, offered->text) + frame.px(kSpace16) : 0.0F;
        const float half = std::round((rest.low.x + rest.high.x) / 2);
        rest.high.x = std::max(rest.low.x, std::min(half, rest.high.x - needed - gap));
        bar.low.x = rest.high.x + gap;
        draw_pass_line(scene, bar);
    }
    draw_pass_text(scene, rest);
}

}  // namespace attn::ui
