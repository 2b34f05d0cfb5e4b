#include "app/workspaces/step/view_parts.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "app/common/format.h"
#include "app/workspaces/step/grids.h"
#include "core/metrics.h"

namespace attn::view {
namespace {

/// A row of one key has no evenness, which is not the NaN of a row that went wrong.
std::string evenness_text(const RowMetrics& row, Index allowed) {
    return allowed < 2 && !std::isnan(row.entropy) ? "–" : percent(row.evenness);
}

std::vector<Readout> readouts_of(const RowMetrics& row, Index allowed) {
    return {
        {"evenness", "H / ln n", evenness_text(row, allowed),
         "entropy of the row over that of n equal weights: 100 % even, 0 % all on one key; "
         "– where the row may attend to one key only"},
        {"p_max", "max_j a_j", percent(row.max_probability), "the largest weight of the row"},
        {"∂p_max/∂s_max", "p_max (1 − p_max)", cell_number(row.max_slope, 4),
         "∂p_max/∂s_max: how much the largest weight moves with its own scaled score s"},
        {"‖∂a/∂s‖_F", "‖diag(a) − a aᵀ‖_F", cell_number(row.jacobian_frobenius, 4),
         "size of softmax's Jacobian J with respect to its input s, the masked scaled scores: what "
         "is left of the gradient"},
        {"keys", "exp(H)", cell_number(row.effective_keys, 2),
         "effective number of keys attended to"},
    };
}

std::string tips_of(const RowReadouts& row) {
    std::string tips;
    for (const Readout& readout : row.readouts)
        tips += fmt::format("{}{} = {} = {}", tips.empty() ? "" : "\n", readout.label,
                            readout.formula, readout.text);
    return tips;
}

}  // namespace

std::vector<RowReadouts> row_readouts(const AppState& state) {
    const Sheet sheet = sheet_of(state, Stage::weights);
    const std::vector<std::uint8_t> allowed = allowed_pairs(state);
    std::vector<RowReadouts> rows;
    for (Index i = 0; i < sheet.values.rows; ++i) {
        const auto first = allowed.begin() + i * sheet.values.columns;
        const Index count = std::count(first, first + sheet.values.columns, std::uint8_t{1});
        const RowMetrics metrics = row_metrics(sheet.values.row(i), count);
        rows.push_back({sheet.row_labels[static_cast<std::size_t>(i)], readouts_of(metrics, count),
                        metrics.evenness});
    }
    return rows;
}

std::vector<SideVector> row_sides(const AppState& state, const StepView& view) {
    const auto column = [&](std::size_t n) {
        const Readout& head = view.rows.front().readouts[n];
        SideVector side{head.label, head.formula + ": " + head.tooltip, {}, Role::weight};
        for (const RowReadouts& row : view.rows) {
            side.cells.push_back(row.readouts[n].text);
            side.cell_tips.push_back(tips_of(row));
        }
        return side;
    };
    if (view.rows.empty()) return {};
    std::vector<SideVector> sides{column(0), column(1)};
    for (const RowReadouts& row : view.rows) sides[0].bars.push_back(row.evenness);
    for (SideVector& side : stage_grid(state, state.stage).sides) sides.push_back(std::move(side));
    if (!is_kept(state, Stage::masked) || state.stage != Stage::weights) return sides;
    for (SideVector& side : stage_grid(state, Stage::masked).sides)
        sides.push_back(std::move(side));
    return sides;
}

}  // namespace attn::view
