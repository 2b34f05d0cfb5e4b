#include <array>
#include <cmath>

#include <fmt/format.h>

#include "app/common/colormap.h"
#include "app/common/draw/draw.h"
#include "app/common/draw/items.h"
#include "app/common/inspector.h"
#include "app/workspaces/heads/actions.h"
#include "app/workspaces/heads/draw/parts.h"

namespace attn::ui {
namespace {

// Design units.
constexpr float kNodeWidth = 112.0F, kNodeHeight = 44.0F, kNodeLine = 28.0F, kNodeGap = 10.0F,
                kThickEdge = 14.0F, kEdgeReach = 5.0F, kEdgeLegend = 24.0F;
// Of the rise of a curve, its handles.
constexpr float kTurn = 0.95F, kEven = 0.45F;
constexpr std::size_t kCurvePoints = 33;

using Curve = std::array<view::Point, kCurvePoints>;

/// The places of nodes and edges.
struct EdgeLayout {
    const HeadEdgesView& edges;
    Box box;  // of the middles of nodes
    ImVec2 node;
    float one_line;

    EdgeLayout(const HeadEdgesView& view, const Box& whole, const Frame& frame)
        : edges(view), one_line(frame.px(kNodeLine)) {
        float pitch = whole.size().x;
        for (const auto& each : view.nodes)
            if (each.node.kind == NodeKind::head && each.node.at == HeadPlace{0, 0})
                pitch = 2.0F * static_cast<float>(each.x) * whole.size().x;
        node = {std::min(frame.px(kNodeWidth), pitch - frame.px(kNodeGap)), frame.px(kNodeHeight)};
        box = {{whole.low.x, whole.low.y + one_line / 2},
               {whole.high.x, whole.high.y - one_line / 2 - frame.px(kEdgeLegend)}};
    }
    ImVec2 middle(Index n) const {
        const auto& each = edges.nodes[static_cast<std::size_t>(n)];
        return {std::round(box.low.x + static_cast<float>(each.x) * box.size().x),
                std::round(box.high.y - static_cast<float>(each.y) * box.size().y)};
    }
    Box box_of(Index n) const {
        const bool two = !edges.nodes[static_cast<std::size_t>(n)].text.empty();
        const ImVec2 at = middle(n), half{node.x / 2, (two ? node.y : one_line) / 2};
        return {{at.x - half.x, at.y - half.y}, {at.x + half.x, at.y + half.y}};
    }
    /// From the top of the sender to the bottom of the reader, past the heads between them: from the embedding it turns late, to
    /// the logits and to the first MLP early.
    Curve curve(const large::Cell& nodes) const {
        const view::Point from{middle(nodes.row).x, box_of(nodes.row).low.y};
        const view::Point to{middle(nodes.column).x, box_of(nodes.column).high.y};
        const float rise = from.y - to.y;
        const ModelNode& sender = edges.nodes[static_cast<std::size_t>(nodes.row)].node;
        const ModelNode& reader = edges.nodes[static_cast<std::size_t>(nodes.column)].node;
        const bool turns_early =
            reader.kind == NodeKind::logits || reader == ModelNode{NodeKind::mlp, {0, 0}};
        const float late = sender.kind == NodeKind::embedding && !turns_early ? kTurn : kEven;
        const float early = turns_early ? kTurn : kEven;
        Curve points;
        for (std::size_t n = 0; n < kCurvePoints; ++n) {
            const float t = static_cast<float>(n) / static_cast<float>(kCurvePoints - 1),
                        u = 1.0F - t;
            const float a = u * u * u, b = 3 * u * u * t, c = 3 * u * t * t, d = t * t * t;
            points[n] = {
                a * from.x + b * from.x + c * to.x + d * to.x,
                a * from.y + b * (from.y - late * rise) + c * (to.y + early * rise) + d * to.y};
        }
        return points;
    }
};

float distance_to(const Curve& curve, ImVec2 at) {
    float least = HUGE_VALF;
    for (std::size_t n = 1; n < curve.size(); ++n) {
        const float x = curve[n].x - curve[n - 1].x, y = curve[n].y - curve[n - 1].y;
        const float dx = at.x - curve[n - 1].x, dy = at.y - curve[n - 1].y;
        const float length = x * x + y * y;
        const float t = length > 0 ? std::clamp((dx * x + dy * y) / length, 0.0F, 1.0F) : 0.0F;
        least = std::min(least, std::hypot(dx - t * x, dy - t * y));
    }
    return least;
}

view::Color sign_color(double change, const Frame& frame) {
    return view::color_at(ColorScale::diverging, change < 0.0 ? 0.12 : 0.88, frame.theme.name);
}

float thickness_of(const HeadEdgesView::Edge& edge, const Frame& frame) {
    return std::max(frame.px(kThickEdge) * static_cast<float>(edge.width), frame.px(1));
}

/// An edge, or {n, n} of a node, under the pointer.
std::optional<large::Cell> found_at(const EdgeLayout& layout, const Frame& frame) {
    const ImVec2 mouse = ImGui::GetIO().MousePos;
    for (Index n = 0; n < std::ssize(layout.edges.nodes); ++n) {
        const Box box = layout.box_of(n);
        if (mouse.x >= box.low.x && mouse.x < box.high.x && mouse.y >= box.low.y &&
            mouse.y < box.high.y)
            return large::Cell{n, n};
    }
    std::optional<large::Cell> found;
    float least = frame.px(kEdgeReach);
    for (const auto& edge : layout.edges.edges)
        if (const float away = std::max(
                distance_to(layout.curve(edge.nodes), mouse) - thickness_of(edge, frame) / 2, 0.0F);
            away <= least)
            least = away, found = edge.nodes;
    return found;
}

void draw_curves(const EdgeLayout& layout, const std::optional<large::Cell>& hovered,
                 const Frame& frame) {
    const bool node = hovered && hovered->row == hovered->column;
    for (const auto& edge : layout.edges.edges) {
        const bool touched =
            hovered && (node ? edge.nodes.row == hovered->row || edge.nodes.column == hovered->row
                             : edge.nodes == *hovered);
        const bool selected = edge.nodes == layout.edges.selected;
        const double share =
            touched || selected ? 1.0 : (hovered ? 0.25 : 1.0) * (0.25 + 0.65 * edge.width);
        const view::Titled titled(frame.painter, [&] { return edge.text; });
        const Curve curve = layout.curve(edge.nodes);
        if (selected) {
            const float thickness = thickness_of(edge, frame);
            frame.painter.polyline(curve, frame.theme.accent, thickness + frame.px(5));
            frame.painter.polyline(curve, frame.theme.background, thickness + frame.px(1));
        }
        frame.painter.polyline(curve, view::translucent(sign_color(edge.change, frame), share),
                               thickness_of(edge, frame));
    }
}

void draw_nodes(const EdgeLayout& layout, HeadPlace here, const std::optional<large::Cell>& hovered,
                const Frame& frame) {
    for (Index n = 0; n < std::ssize(layout.edges.nodes); ++n) {
        const auto& node = layout.edges.nodes[static_cast<std::size_t>(n)];
        const Box box = layout.box_of(n);
        const bool head = node.node.kind == NodeKind::head;
        const bool shown = head && node.node.at == here;
        const bool under = hovered == large::Cell{n, n};
        frame.painter.rect(box.low, box.high, under ? frame.theme.raised : frame.theme.surface,
                           frame.px(6));
        frame.painter.outline(box.low, box.high, shown ? frame.theme.accent : frame.theme.control,
                              frame.px(shown ? 2.0F : 1.0F), frame.px(6));
        const float split = node.text.empty() ? box.high.y : (box.low.y + box.high.y) / 2;
        draw_fitted(frame, frame.fonts.small, box.low, {box.high.x, split}, Align::center,
                    frame.theme.text, node.name);
        if (!node.text.empty())
            draw_fitted(frame, frame.fonts.small, {box.low.x, split - frame.px(2)},
                        {box.high.x, box.high.y - frame.px(2)}, Align::center, frame.theme.weight,
                        node.text);
    }
}

void draw_edge_legend(const HeadEdgesView& edges, const Box& box, const Frame& frame) {
    const float top = box.high.y - frame.px(kEdgeLegend) + frame.px(8), height = frame.px(16);
    float x = box.low.x;
    const auto put = [&](const std::string& text) {
        const float width = frame.painter.text_size(frame.fonts.small, text).x;
        draw_fitted(frame, frame.fonts.small, {x, top},
                    {std::min(x + width + 1, box.high.x), top + height}, Align::left,
                    frame.theme.muted, text);
        x += width + frame.px(16);
    };
    put(edges.legend);
    for (const auto& [text, change] :
         {std::pair{edges.lowers, -1.0}, std::pair{edges.raises, 1.0}}) {
        frame.painter.line({x, top + height / 2}, {x + frame.px(20), top + height / 2},
                           sign_color(change, frame), frame.px(6));
        x += frame.px(26);
        put(text);
    }
    if (!edges.undefined.empty()) put(edges.undefined);
}

}  // namespace

void draw_head_edges(const HeadEdgesView& edges, HeadPlace here,
                     const std::optional<large::Cell>& hovered, const Box& box, const Frame& frame,
                     Actions& out) {
    const EdgeLayout layout(edges, box, frame);
    ImGui::SetCursorScreenPos(box.low);
    const bool clicked = invisible_button("edges", box.size());
    const auto found = ImGui::IsItemHovered() ? found_at(layout, frame) : std::nullopt;
    draw_curves(layout, hovered, frame);
    draw_nodes(layout, here, hovered, frame);
    draw_edge_legend(edges, box, frame);
    if (found != hovered) out.push_back(HoverCircuit{found});
    if (!found) return;
    const auto& node = edges.nodes[static_cast<std::size_t>(found->row)];
    if (found->row != found->column) {
        const auto edge = std::ranges::find(edges.edges, *found, &HeadEdgesView::Edge::nodes);
        const std::size_t end = edge->text.find('\n');
        tooltip_at_pointer(frame, edge->text.substr(0, end), edge->text.substr(end + 1));
        if (clicked) out.push_back(SelectCircuitCell{found->row, found->column});
    } else if (node.node.kind == NodeKind::head) {
        tooltip_at_pointer(frame, node.name,
                           node.tip + (node.tip.empty() ? "" : "\n") + "Click to show this head");
        if (clicked) press_head(node.node.at, false, out);
    }
}

}  // namespace attn::ui
