#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "app/common/document/heads.h"
#include "app/common/document/swept.h"
#include "app/common/format.h"
#include "app/common/inspector.h"
#include "app/common/state.h"
#include "app/common/text.h"
#include "app/workspaces/heads/text.h"
#include "app/workspaces/heads/view.h"

namespace attn::view {
namespace {

// Of the picture: the columns of the heads, the MLP right of them and above.
constexpr double kHeadsWidth = 0.78, kMlpMiddle = 0.9, kMlpAbove = 0.42;

std::string node_name(const ModelNode& node) {
    switch (node.kind) {
        case NodeKind::embedding:
            return "embedding";
        case NodeKind::head:
            return head_name(node.at);
        case NodeKind::mlp:
            return fmt::format("MLP {}", node.at.layer);
        default:
            return "logits";
    }
}

std::string edge_name(const PathEdge& edge) {
    return fmt::format("{} → {}", node_name(edge.sender), node_name(edge.receiver));
}

bool is_between_heads(const PathEdge& edge) {
    return edge.sender.kind == NodeKind::head && edge.receiver.kind == NodeKind::head;
}

/// Embedding, the heads and the MLP of each layer, logits.
Index node_index(const PathEdges& made, const ModelNode& node) {
    const Index layer = 1 + node.at.layer * (made.heads + 1);
    switch (node.kind) {
        case NodeKind::embedding:
            return 0;
        case NodeKind::head:
            return layer + node.at.head;
        case NodeKind::mlp:
            return layer + made.heads;
        default:
            return 1 + made.layers * (made.heads + 1);
    }
}

large::Cell cell_of(const PathEdges& made, const PathEdge& edge) {
    return {node_index(made, edge.sender), node_index(made, edge.receiver)};
}

/// Of the edges between heads, or of all where a model has one layer.
std::vector<PathEdge> compared_edges(const PathEdges& made) {
    std::vector<PathEdge> some;
    std::ranges::copy_if(made.edges, std::back_inserter(some), is_between_heads);
    return some.empty() ? made.edges : some;
}

/// The edge that a cut lowers the difference by most; NaN last.
PathEdge standing_out(const std::vector<PathEdge>& edges) {
    return *std::ranges::min_element(edges, {}, [](const PathEdge& edge) {
        return std::isnan(edge.change) ? HUGE_VAL : edge.change;
    });
}

/// "tired .97": the largest weight of a head at the answer.
std::string weight_text(const ModelEdges& edges, HeadPlace at) {
    const auto found = std::ranges::find(edges.weights, at, &LargestWeight::at);
    if (found == edges.weights.end() || std::isnan(found->weight)) return {};
    const std::string weight = cell_number(found->weight, 2);
    return found->ties > 0 ? fmt::format("{} keys {}", found->ties + 1, weight)
                           : fmt::format("{} {}", shown_token(edges.tokens[found->key]), weight);
}

std::vector<HeadEdgesView::Node> nodes_of(const ModelEdges& edges) {
    const PathEdges& made = edges.made;
    const double top = static_cast<double>(made.layers) + 1.0;
    std::vector<HeadEdgesView::Node> nodes;
    const std::string at = shown_token(edges.tokens[static_cast<std::size_t>(made.position)]);
    const auto add = [&](const ModelNode& node, std::string text, double x, double y) {
        std::string tip;
        if (!text.empty()) tip = fmt::format("Largest attention weight at “{}”: {}.", at, text);
        nodes.push_back({node, node_name(node), std::move(text), std::move(tip), x, y / top});
    };
    add({}, {}, kHeadsWidth / 2, 0.0);
    for (Index layer = 0; layer < made.layers; ++layer) {
        const double y = static_cast<double>(layer) + 0.9;
        for (Index h = 0; h < made.heads; ++h)
            add({NodeKind::head, {layer, h}}, weight_text(edges, {layer, h}),
                kHeadsWidth * (static_cast<double>(h) + 0.5) / static_cast<double>(made.heads), y);
        add({NodeKind::mlp, {layer, 0}}, {}, kMlpMiddle, y + kMlpAbove);
    }
    add({NodeKind::logits, {}}, {}, kHeadsWidth / 2, top);
    return nodes;
}

std::string cut_text(const PathEdge& edge) {
    std::string text = "Cut: " + number(edge.change);
    if (edge.parts)
        for (std::size_t part = 0; part < std::size(kPathParts); ++part)
            text += fmt::format(" · {} {}", kPathParts[part], number((*edge.parts)[part]));
    return text;
}

}  // namespace

large::Cell edges_cell(const AppState& state, const SweptModel& swept) {
    const PathEdges& made = swept.edges->made;
    const large::Cell chosen = heads_look(state).circuit_cell;
    for (const PathEdge& edge : made.edges)
        if (cell_of(made, edge) == chosen) return chosen;
    return cell_of(made, standing_out(compared_edges(made)));
}

HeadEdgesView head_edges_view(const AppState& state, const SweptModel& swept) {
    const PathEdges& made = swept.edges->made;
    HeadEdgesView view;
    view.nodes = nodes_of(*swept.edges);
    view.selected = edges_cell(state, swept);
    double most = 0.0;
    Index undefined = 0;
    for (const PathEdge& edge : made.edges)
        if (std::isfinite(edge.change))
            most = std::max(most, std::abs(edge.change));
        else
            ++undefined;
    for (const PathEdge& edge : made.edges)
        if (std::isfinite(edge.change) && edge.change != 0.0)
            view.edges.push_back({cell_of(made, edge), std::abs(edge.change) / most, edge.change,
                                  edge_name(edge) + "\n" + cut_text(edge)});
    std::ranges::stable_sort(view.edges, {}, &HeadEdgesView::Edge::width);
    view.legend = fmt::format("{} when cut:", difference_name(swept));
    view.lowers = "down", view.raises = "up";
    if (undefined > 0)
        view.undefined = fmt::format("{} without a finite change", counted(undefined, "edge"));
    return view;
}

std::string edges_point(const SweptModel& swept) {
    const auto compared = compared_edges(swept.edges->made);
    if (!std::ranges::all_of(compared,
                             [](const PathEdge& each) { return std::isfinite(each.change); }))
        return {};
    const PathEdge most = standing_out(compared);
    const char* const among = is_between_heads(most) ? "between heads" : "in this model";
    if (most.change >= 0.0)
        return fmt::format("No cut of an edge {} lowers {}.", among, difference_name(swept));
    const auto others = std::ranges::count(compared, most.change, &PathEdge::change) - 1;
    return fmt::format("Of the edges {}, cutting {} lowers {} most: by {}{}.", among,
                       edge_name(most), difference_name(swept), number(-most.change),
                       as_much_text(others));
}

InspectorView edges_inspector(const AppState& state, const SweptModel& swept) {
    const ModelEdges& edges = *swept.edges;
    const large::Cell cell = edges_cell(state, swept);
    const PathEdge& edge = *std::ranges::find(
        edges.made.edges, cell, [&](const PathEdge& each) { return cell_of(edges.made, each); });
    InspectorView view = titled(edge_name(edge), Role::score);
    view.value = number(edge.change);
    add_line(view, "untouched", {Piece{number(edges.made.difference)}});
    add_line(view, "edge cut", {Piece{number(edges.made.difference + edge.change), Role::score}});
    if (edge.parts) {
        constexpr Role kRoles[] = {Role::query, Role::key, Role::value};
        for (std::size_t part = 0; part < std::size(kPathParts); ++part)
            add_line(view, fmt::format("{} cut", kPathParts[part]),
                     {Piece{number((*edge.parts)[part]), kRoles[part]}});
    }
    view.as_text = view.title + ": " + view.value + "\n" + view.as_text;
    return view;
}

}  // namespace attn::view
