#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "app/common/format.h"
#include "app/common/sheet.h"
#include "app/workspaces/heads/compute.h"
#include "app/workspaces/heads/view.h"
#include "app/workspaces/heads/words.h"
#include "core/head_views.h"

namespace attn::view {
namespace {

/// The order of columns: as they lie, or by how fast RoPE turns them.
std::vector<TurnedDimension> order_of(const AttentionSpec& spec, Index width) {
    if (!spec.rope) return turned_dimensions(width, 0, Rope{});
    return turned_dimensions(width, std::min(spec.rope->dims.value_or(width), width), *spec.rope);
}

std::string column_label(const AttentionSpec& spec, const TurnedDimension& each) {
    if (!spec.rope) return std::to_string(each.dimension);
    if (each.pair < 0) return fmt::format("{} fixed", each.dimension);
    return fmt::format("{} ω {}", each.dimension, significant(each.frequency, 2));
}

/// The products in the order of columns.
std::vector<float> in_order(const std::vector<float>& products,
                            const std::vector<TurnedDimension>& order) {
    std::vector<float> sorted;
    sorted.reserve(products.size());
    const std::size_t width = order.size();
    for (std::size_t row = 0; row < products.size(); row += width)
        for (const TurnedDimension& each : order)
            sorted.push_back(products[row + static_cast<std::size_t>(each.dimension)]);
    return sorted;
}

SideVector sums_of(std::span<const float> q, MatrixView<const float> k) {
    SideVector sums{"q·k", "Σ_d q_d k_d: the score, before the scale", {}, Role::score};
    for (Index j = 0; j < k.rows; ++j) {
        double sum = 0.0;
        for (Index d = 0; d < k.columns; ++d)
            sum += double{q[static_cast<std::size_t>(d)]} * k(j, d);
        sums.cells.push_back(cell_number(sum, 2));
    }
    return sums;
}

/// ", over 8 (linear)"; "" where they are not scaled.
std::string rope_scaling_words(const RopeScaling& scaling) {
    switch (scaling.kind) {
        case RopeScale::linear:
            return fmt::format(", over {} (linear scaling)", significant(scaling.factor, 6));
        case RopeScale::llama3:
            return fmt::format(", the slow ones over {} (llama3 scaling)",
                               significant(scaling.factor, 6));
        default:
            return {};
    }
}

std::vector<std::string> legend_of(const AttentionSpec& spec) {
    std::vector<std::string> legend(1);
    legend[0] = "each cell q_d k_d, blue − and orange +; their sum is the score before the scale";
    if (!spec.rope) return legend;
    legend.push_back(fmt::format(
        "after RoPE; pairs turn by ω = {}^(−2c/{}) radians a position{}, the "
        "fastest first",
        significant(spec.rope->base, 6), spec.rope->dims ? std::to_string(*spec.rope->dims) : "d_k",
        rope_scaling_words(spec.rope->scaling)));
    return legend;
}

}  // namespace

HeadDimensionsView head_dimensions(const AppState& state, HeadPlace place) {
    HeadDimensionsView view;
    const HeadsResult& result = *heads_look(state).result;
    const HeadsLayer& layer = result.layers[static_cast<std::size_t>(place.layer)];
    const AttentionSpec& spec = state.document().spec;
    if (spec.score != Score::dot)
        view.lacks = "A score is a sum over dimensions only where it is a dot product.";
    else if (layer.q.empty() || layer.k.empty())
        view.lacks = "There are no queries and keys: only weights are known.";
    if (!view.lacks.empty()) return view;
    const Index query = std::min(heads_look(state).pair.row, layer.tq - 1);
    const auto q = layer.q.matrix(result.batch, place.head).row(query);
    const auto k = layer.k.matrix(result.batch, layer.key_head(place.head));
    const auto order = order_of(spec, k.columns);
    const std::vector<float> products = in_order(products_by_dimension(q, k), order);
    Sheet sheet;
    sheet.id = Stage::weights;
    sheet.values = {products.data(), k.rows, k.columns, k.columns};
    sheet.row_labels = axis_labels(state.document(), Axis::key, k.rows);
    for (const TurnedDimension& each : order)
        sheet.column_labels.push_back(column_label(spec, each));
    sheet.role = sheet.column_role = Role::score;
    sheet.row_role = Role::key;
    GridView grid = make_grid(state, sheet, {ColorScale::diverging, false, {}});
    grid.title = fmt::format("{}: {} · every key", head_name(place),
                             axis_label(state.document(), Axis::query, query));
    grid.tooltip = "q_d k_d of each key and dimension";
    grid.editable = false;
    grid.selected.reset();
    grid.focus_row = std::min(heads_look(state).pair.column, k.rows - 1);
    grid.sides = {sums_of(q, k)};
    view.grid = std::move(grid);
    view.legend = legend_of(spec);
    return view;
}

}  // namespace attn::view
