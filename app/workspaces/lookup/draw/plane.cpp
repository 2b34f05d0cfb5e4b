// A plane of two numbers: points that are dragged, discs whose area is the weight.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "app/common/draw/draw.h"
#include "app/common/draw/focus.h"
#include "app/common/draw/items.h"
#include "app/common/draw/measured.h"
#include "app/common/draw/typing.h"
#include "app/common/format.h"
#include "app/common/inspector.h"
#include "app/workspaces/lookup/actions.h"
#include "app/workspaces/lookup/draw/parts.h"

namespace attn::ui {
namespace {

using view::MemoryView, view::PlanePointView, view::Point;

// Design units.
constexpr float kDot = 3.5F;
constexpr float kHandle = 11.0F;  // half of the box that the mouse takes hold of
constexpr float kDrags = 3.0F;    // so far the mouse moves before a press is a drag
constexpr double kEnd = view::kPlaneEnd + 0.25;
constexpr float kLargest = 0.16F;  // radius of a disc of weight 1, of the side
constexpr float kSmall = 180.0F;
constexpr float kAir = 5.0F;   // between two labels on one line
constexpr double kDisc = 0.4;  // its ink
constexpr double kHullInk = 0.1;
constexpr double kNudge = 0.1;  // of an arrow key

/// Position of the plane on screen.
struct PlaneAt {
    ImVec2 low, high;
    const Frame& frame;

    float side() const { return high.x - low.x; }
    /// Names alone have room, near their points.
    bool is_small() const { return side() < frame.px(kSmall); }
    Point at(const PlanePoint& p) const {
        const auto share = [](double v) { return static_cast<float>((v + kEnd) / (2.0 * kEnd)); };
        return {low.x + side() * share(p[0]), high.y - side() * share(p[1])};
    }
    std::optional<PlanePoint> under_mouse() const {
        const ImVec2 mouse = ImGui::GetMousePos();
        const auto value = [&](float from) { return (double{from} / side()) * 2.0 * kEnd - kEnd; };
        return view::on_plane(value(mouse.x - low.x), value(high.y - mouse.y));
    }
};

/// Words beside points: each where it covers none that were set before.
class Labels {
  public:
    Labels(const PlaneAt& plane) : plane_(plane) {}

    void keep_clear(Point middle, float radius) {
        taken_.push_back(
            {{middle.x - radius, middle.y - radius}, {middle.x + radius, middle.y + radius}});
    }
    void draw(Point beside, float away, const std::string& text, view::Color color,
              const Font& font) {
        const Frame& frame = plane_.frame;
        const float width = std::min(frame.text_width(font, text),
                                     plane_.side() * (plane_.is_small() ? 0.6F : 0.5F));
        const std::string fitted = fit_text(frame, font, text, width + 1.0F);
        const auto found = place(beside, away, {width, font.px});
        if (!found) return;
        const Box& box = *found;
        const float air = frame.px(kAir);
        taken_.push_back({{box.low.x - air, box.low.y}, {box.high.x + air, box.high.y}});
        const view::Color plate = view::translucent(frame.theme.surface, 0.7);
        frame.painter.rect({box.low.x - 2, box.low.y}, {box.high.x + 2, box.high.y}, plate,
                           frame.px(3));
        frame.painter.text(font, box.low, color, fitted);
    }

  private:
    bool fits(const Box& box) const {
        if (box.low.x < plane_.low.x || box.high.x > plane_.high.x || box.low.y < plane_.low.y ||
            box.high.y > plane_.high.y)
            return false;
        return std::ranges::none_of(taken_, [&](const Box& other) {
            return box.low.x < other.high.x && box.high.x > other.low.x &&
                   box.low.y < other.high.y && box.high.y > other.low.y;
        });
    }
    /// Right, left, above, below, then further away; nullopt where all are taken.
    std::optional<Box> place(Point at, float away, ImVec2 size) const {
        const float most = away + (plane_.is_small() ? 0.75F : 4.0F) * size.y;
        for (float far = away; far < most; far += size.y / 2) {
            const ImVec2 corners[] = {{at.x + far, at.y - size.y / 2},
                                      {at.x - far - size.x, at.y - size.y / 2},
                                      {at.x - size.x / 2, at.y - far - size.y},
                                      {at.x - size.x / 2, at.y + far},
                                      {at.x + far * 0.7F, at.y - far * 0.7F - size.y},
                                      {at.x + far * 0.7F, at.y + far * 0.7F}};
            for (const ImVec2& low : corners) {
                const Box box{low, {low.x + size.x, low.y + size.y}};
                if (fits(box)) return box;
            }
        }
        return std::nullopt;
    }

    const PlaneAt& plane_;
    std::vector<Box> taken_;
};

// ---- content of the plane

void draw_ground(const PlaneAt& plane) {
    const Frame& frame = plane.frame;
    const view::Theme& theme = frame.theme;
    frame.painter.rect(plane.low, plane.high, theme.surface, frame.px(4));
    const auto end = static_cast<int>(view::kPlaneEnd);
    for (int n = -end; n <= end; ++n) {
        const view::Color color = n == 0 ? theme.control : theme.line;
        const double at = n;
        const Point across = plane.at({at, 0.0});
        const Point down = plane.at({0.0, at});
        frame.painter.line({std::round(across.x), plane.low.y},
                           {std::round(across.x), plane.high.y}, color, frame.px(1));
        frame.painter.line({plane.low.x, std::round(down.y)}, {plane.high.x, std::round(down.y)},
                           color, frame.px(1));
    }
}

/// The ends of both axes.
void draw_scale(const PlaneAt& plane, Labels& labels) {
    const Frame& frame = plane.frame;
    const Font& font = frame.fonts.digits_small;
    const double end = view::kPlaneEnd;
    for (const PlanePoint& at : {PlanePoint{end, 0.0}, {-end, 0.0}, {0.0, end}, {0.0, -end}})
        labels.draw(plane.at(at), frame.px(2), at[0] + at[1] < 0.0 ? "−4" : "4", frame.theme.muted,
                    font);
}

void draw_point(const PlaneAt& plane, const PlanePointView& point, view::Color color,
                Labels& labels) {
    const Frame& frame = plane.frame;
    const view::Titled titled(frame.painter, [&] { return point.name + "\n" + point.tooltip; });
    const view::Theme& theme = frame.theme;
    const Point at = plane.at(point.at);
    const auto root = static_cast<float>(std::sqrt(within(point.weight, 0.0, 1.0)));
    const float radius = root * kLargest * plane.side();
    if (radius > 0.5F)
        frame.painter.circle(at, radius, view::translucent(theme.role(Role::weight), kDisc));
    frame.painter.circle(at, frame.px(kDot + 1), theme.surface);
    frame.painter.circle(at, frame.px(kDot), color);
    if (point.selected || point.hovered)
        frame.painter.ring(at, frame.px(kHandle - 2), point.selected ? theme.accent : theme.text,
                           frame.px(1.5F));
    labels.keep_clear(at, frame.px(kDot + 3));
}

/// Those of keys with their weights.
void draw_names(const PlaneAt& plane, const std::vector<PlanePointView>& points, Role role,
                Labels& labels) {
    const Frame& frame = plane.frame;
    for (const PlanePointView& point : points)
        labels.draw(plane.at(point.at), frame.px(kHandle - 1),
                    role == Role::key && !plane.is_small()
                        ? fmt::format("{}  {}", point.name, view::percent(point.weight))
                        : point.name,
                    frame.theme.role(role), point.selected ? frame.fonts.strong : frame.fonts.body);
}

/// A square on its corner.
void draw_diamond(const Frame& frame, Point at, float radius, view::Color color) {
    const Point corners[] = {
        {at.x, at.y - radius}, {at.x + radius, at.y}, {at.x, at.y + radius}, {at.x - radius, at.y}};
    frame.painter.polygon(corners, color);
}

void draw_hull(const PlaneAt& plane, const std::vector<PlanePoint>& hull) {
    const Frame& frame = plane.frame;
    const view::Color value = frame.theme.role(Role::value);
    std::vector<Point> corners;
    for (auto corner = hull.rbegin(); corner != hull.rend(); ++corner)
        corners.push_back(plane.at(*corner));
    if (corners.size() > 2) frame.painter.polygon(corners, view::translucent(value, kHullInk));
    for (std::size_t n = 0; n < corners.size() && corners.size() > 1; ++n)
        frame.painter.line(corners[n], corners[(n + 1) % corners.size()],
                           view::translucent(value, 0.6), frame.px(1));
}

/// Threads from the output to each value, as strong as its weight.
void draw_threads(const PlaneAt& plane, const MemoryView& view) {
    const Frame& frame = plane.frame;
    for (const PlanePointView& value : view.values)
        if (value.weight > 1e-3)
            frame.painter.line(
                plane.at(view.output), plane.at(value.at),
                view::translucent(frame.theme.role(Role::weight), 0.3 + 0.6 * value.weight),
                frame.px(1.0F + 4.0F * static_cast<float>(value.weight)));
}

void draw_query(const PlaneAt& plane, const MemoryView& view, Labels& labels) {
    const Frame& frame = plane.frame;
    const view::Color color = frame.theme.role(Role::query);
    const Point at = plane.at(view.query);
    draw_arrow(frame, plane.at({0.0, 0.0}), at, color, frame.px(2));
    draw_diamond(frame, at, frame.px(8), frame.theme.surface);
    draw_diamond(frame, at, frame.px(6.5F), color);
    labels.keep_clear(at, frame.px(8));
    labels.draw(at, frame.px(10), "q", color, frame.fonts.strong);
}

/// The hard answer, the mean of V, the output.
void draw_answers(const PlaneAt& plane, const MemoryView& view, Labels& labels) {
    const Frame& frame = plane.frame;
    const view::Theme& theme = frame.theme;
    const Point hard = plane.at(view.hard);
    const Point mean = plane.at(view.mean);
    const Point output = plane.at(view.output);
    frame.painter.ring(hard, frame.px(kHandle + 3), theme.text, frame.px(2));
    for (const float arm : {frame.px(5), -frame.px(5)})
        frame.painter.line({mean.x - frame.px(5), mean.y - arm},
                           {mean.x + frame.px(5), mean.y + arm}, theme.muted, frame.px(2));
    draw_diamond(frame, output, frame.px(8.5F), theme.surface);
    draw_diamond(frame, output, frame.px(7), theme.role(Role::output));
    for (const Point at : {output, mean}) labels.keep_clear(at, frame.px(8));
    labels.draw(output, frame.px(10), "output o", theme.role(Role::output), frame.fonts.strong);
    labels.draw(mean, frame.px(8), "mean of V", theme.muted, frame.fonts.small);
    labels.draw(hard, frame.px(kHandle + 6), "hard", theme.text, frame.fonts.small);
}

// ---- the hand

/// The arrow keys on the point that has the keyboard.
std::optional<PlanePoint> nudged(const Frame& frame, const PlanePoint& at) {
    PlanePoint to = at;
    if (take_key(frame, view::Key::left, true)) to[0] -= kNudge;
    if (take_key(frame, view::Key::right, true)) to[0] += kNudge;
    if (take_key(frame, view::Key::up, true)) to[1] += kNudge;
    if (take_key(frame, view::Key::down, true)) to[1] -= kNudge;
    if (to == at) return std::nullopt;
    return view::on_plane(to[0], to[1]);
}

struct Held {
    std::optional<PlanePoint> to;  // dragged or nudged there
    bool hovered = false;
    bool pressed = false;
};

Held hold(const PlaneAt& plane, const std::string& id, const PlanePoint& at,
          const std::string& heading, const std::string& text, view::Actions& out,
          const std::optional<view::Action>& first) {
    const Frame& frame = plane.frame;
    const Point middle = plane.at(at);
    const float half = frame.px(kHandle);
    ImGui::SetCursorScreenPos({middle.x - half, middle.y - half});
    invisible_button(id.c_str(), {2 * half, 2 * half});
    Held held;
    held.hovered = ImGui::IsItemHovered() || ImGui::IsItemActive();
    held.pressed = ImGui::IsItemActivated();
    if (held.pressed && first) out.push_back(*first);
    report_gesture(false, out);
    if (held.hovered) ImGui::SetMouseCursor(ImGuiMouseCursor_Hand);
    if (ImGui::IsItemActive() && ImGui::IsMouseDragging(ImGuiMouseButton_Left, frame.px(kDrags)))
        held.to = plane.under_mouse();
    if (!ImGui::IsItemActive())
        tooltip_beside(frame, ImGui::GetItemRectMin(), ImGui::GetItemRectMax(), Beside::right,
                       heading, text);
    if (focus_stop(frame))
        if (const auto to = nudged(frame, at)) held.to = to;
    if (held.to == at) held.to.reset();
    return held;
}

std::optional<Index> hold_points(const PlaneAt& plane, Plane which, const MemoryView& view,
                                 view::Actions& out) {
    std::optional<Index> hovered;
    const auto& points = which == Plane::keys ? view.keys : view.values;
    for (std::size_t n = 0; n < points.size(); ++n) {
        const PlanePointView& point = points[n];
        const auto pair = static_cast<Index>(n);
        const auto first = point.selected
                               ? std::nullopt
                               : std::optional<view::Action>(view::SelectLookupPair{pair});
        const Held held = hold(plane, fmt::format("point {}", n), point.at, point.name,
                               point.tooltip, out, first);
        if (held.hovered) hovered = pair;
        if (!held.to) continue;
        const auto [x, y] = *held.to;
        out.push_back(which == Plane::keys ? view::Action(view::MoveLookupKey{pair, x, y})
                                           : view::MoveLookupValue{pair, x, y});
    }
    return hovered;
}

void hold_query(const PlaneAt& plane, const MemoryView& view, view::Actions& out) {
    const Held held =
        hold(plane, "query", view.query, "The query q",
             fmt::format("q = ({:.2f}, {:.2f})\nDrag it, or move it with the arrow keys.",
                         view.query[0], view.query[1]),
             out, std::nullopt);
    if (held.to) out.push_back(view::MoveLookupQuery{(*held.to)[0], (*held.to)[1]});
}

/// A pair is added where the plane of keys is double-clicked.
void read_ground(const PlaneAt& plane, view::Actions& out) {
    ImGui::SetCursorScreenPos(plane.low);
    invisible_button("ground", {plane.side(), plane.side()});
    if (!ImGui::IsItemHovered() || !ImGui::IsMouseDoubleClicked(ImGuiMouseButton_Left)) return;
    const auto at = plane.under_mouse();
    if (at) out.push_back(view::AddLookupPair{(*at)[0], (*at)[1]});
}

/// A square under its title.
PlaneAt place_plane(const Box& box, const Frame& frame) {
    const float title = frame.px(kTableRow);
    const float side = std::floor(std::min(box.size().x, box.size().y - title));
    const ImVec2 low{box.low.x, box.low.y + title};
    return {low, {low.x + side, low.y + side}, frame};
}

}  // namespace

std::optional<Index> draw_plane(const MemoryView& view, Plane which, const Box& box,
                                const Frame& frame, view::Actions& out) {
    const bool keys = which == Plane::keys;
    const PlaneAt plane = place_plane(box, frame);
    const Role role = keys ? Role::key : Role::value;
    ImGui::PushID(keys ? "keys" : "values");
    if (keys) hold_query(plane, view, out);
    const auto hovered = hold_points(plane, which, view, out);
    if (keys) read_ground(plane, out);
    ImGui::PopID();
    const std::string drag = frame.is_canvas_alone() ? "keys k" : "keys k: drag q or a key";
    const std::string whole = keys ? drag : "values v: o = Σ a v";
    const bool fits = frame.text_width(frame.fonts.body, whole) <= plane.side();
    draw_text_in(frame, frame.fonts.body, box.low, {plane.high.x, plane.low.y}, Align::left,
                 frame.theme.role(role),
                 fits   ? whole
                 : keys ? "keys k"
                        : "values v");
    Labels labels(plane);
    frame.painter.push_clip(plane.low, plane.high);
    record_rect_for_tests(frame.painter, Measuring::Kind::chart, plane.low, plane.high);
    draw_ground(plane);
    if (!keys) draw_hull(plane, view.hull);
    if (!keys) draw_threads(plane, view);
    const auto& points = keys ? view.keys : view.values;
    for (const PlanePointView& point : points)
        draw_point(plane, point, frame.theme.role(role), labels);
    if (keys)
        draw_query(plane, view, labels);
    else
        draw_answers(plane, view, labels);
    draw_names(plane, points, role, labels);
    draw_scale(plane, labels);
    frame.painter.pop_clip();
    return hovered;
}

}  // namespace attn::ui
