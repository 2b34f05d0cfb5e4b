#include "app/workspaces/masks/view.h"

#include <cmath>

#include <fmt/format.h>

#include "app/common/document/document.h"
#include "app/common/document/mask_rules.h"
#include "app/common/document/paint.h"
#include "app/common/format.h"
#include "app/common/sheet.h"
#include "app/common/state.h"
#include "app/workspaces/masks/long.h"
#include "app/workspaces/masks/view_parts.h"
#include "core/backend.h"
#include "core/bias.h"
#include "core/mask_conventions.h"
#include "core/masks.h"
#include "core/softmax.h"
#include "core/stages.h"

namespace attn::view {
namespace {

using Pairs = std::vector<std::uint8_t>;

/// How many keys each row has left.
SideVector keys_left(const AppState& state, std::span<const std::uint8_t> allowed) {
    const auto keys = static_cast<std::size_t>(state.document().size.tk);
    SideVector side{"keys left", "number of keys the row may attend to", {}, Role::weight};
    for (std::size_t at = 0; at < allowed.size(); at += keys)
        side.cells.push_back(fmt::format("{}", count_allowed(allowed.subspan(at, keys))));
    return side;
}

GridView masked_scores(const AppState& state, const Pairs& allowed) {
    return pair_grid(
        state,
        {"masked scores", "M: the score where the mask allows the pair, −∞ elsewhere", Role::score,
         ColorScale::diverging, masks_values(state, Stage::masked), forbidden_of(allowed)});
}

/// Cells that look masked: the forbidden ones, but no NaN of an empty row.
Pairs hidden_weights(MatrixView<const float> values, const Pairs& allowed) {
    Pairs hidden = forbidden_of(allowed);
    for (std::size_t n = 0; n < hidden.size(); ++n) {
        const auto at = static_cast<Index>(n);
        if (std::isnan(values(at / values.columns, at % values.columns))) hidden[n] = 0;
    }
    return hidden;
}

GridView weights(const AppState& state, const Pairs& allowed) {
    const auto values = masks_values(state, Stage::weights);
    GridView grid = pair_grid(state, {"weights", "A = softmax over keys of M", Role::weight,
                                      ColorScale::unit, values, hidden_weights(values, allowed)});
    grid.sides.push_back(sums_of(values, Role::weight));
    return grid;
}

/// Cells that the painted mask forbids.
Pairs painted_pairs(const AppState& state) {
    const MaskSpec& mask = state.document().spec.mask;
    if (!mask.custom) return {};
    return forbidden_of(pairs_allowed_by(state, rule_alone(mask, MaskRule::paint)));
}

/// Weights or masked scores that the backend does not keep.
std::string not_stored_text(const AppState& state) {
    if (masks_values(state, Stage::masked).rows > 0 && masks_values(state, Stage::weights).rows > 0)
        return {};
    if (const std::string lack = scores_lack(state); !lack.empty())
        return lack + ": only the mask is shown.";
    return fmt::format(
        "The backend {} stores neither masked scores nor weights: only the mask is shown.",
        state.backend_used);
}

/// The bias of each pair of the head and sequence shown.
std::vector<float> bias_values(const AppState& state) {
    const Document& document = state.document();
    std::vector<float> values;
    for (const auto [i, j] : each_cell(document.size.tq, document.size.tk))
        values.push_back(
            static_cast<float>(bias_at(document.spec.mask, state.batch, state.head, i, j)));
    return values;
}

GridView bias_grid(const AppState& state, std::span<const float> values, const Pairs& allowed) {
    const Index keys = state.document().size.tk;
    return pair_grid(state, {"bias",
                             state.document().spec.bias_before_softcap
                                 ? "added to the score of the pair before the soft cap"
                                 : "added to the score of the pair",
                             Role::score,
                             ColorScale::diverging,
                             {values.data(), state.document().size.tq, keys, keys},
                             forbidden_of(allowed)});
}

void add_grids(const AppState& state, const Pairs& allowed, MasksView& view) {
    view.paints = true;
    if (view.bias_value) {
        view.bias = bias_values(state);
        view.grids.push_back(bias_grid(state, view.bias, allowed));
    } else {
        view.painted = painted_pairs(state);
        GridView mask = mask_grid_of(state, allowed, view.painted);
        mask.sides.push_back(keys_left(state, allowed));
        view.grids.push_back(std::move(mask));
    }
    view.both = view.grids.front().title + " and weights";
    if (!view.unavailable.empty()) return;
    view.grids.push_back(weights(state, allowed));
    view.grids.push_back(masked_scores(state, allowed));
}

/// Softmax of the row's scores before the mask. Not where a sink takes part of a row.
std::optional<RowChange> row_change(const AppState& state) {
    const MasksLook& look = masks_look(state);
    const Index row = look.hovered.value_or(look.pair).query;
    const auto scores = unmasked_scores(state);
    const auto weights = masks_values(state, Stage::weights);
    if (has_sinks(state.document()) || row >= scores.rows || row >= weights.rows)
        return std::nullopt;
    RowChange change{row, {}, {}, {weights.row(row).begin(), weights.row(row).end()}};
    const std::vector<double> given(scores.row(row).begin(), scores.row(row).end());
    change.before.resize(given.size());
    softmax_row(given, change.before, state.document().spec.empty_rows);
    change.text = fmt::format("{}: outlined bars without a mask, filled bars with this mask",
                              axis_label(state, Axis::query, row));
    return change;
}

/// A stage that is in memory as long as its trace is.
MapCellsPtr stage_cells(const AppState& state, const MasksLong& found, Stage stage, Pairs hidden) {
    const auto values = masks_values(state, stage);
    const bool weighs = stage == Stage::weights;
    return make_cells({.title = weighs ? "weights" : "masked scores",
                       .noun = weighs ? "weight" : "masked score",
                       .role = weighs ? Role::weight : Role::score,
                       .values = values,
                       .owner = found.own ? std::shared_ptr<const void>(found.own) : found.of.trace,
                       .masked = std::move(hidden),
                       .range = weighs ? weights_range(values) : signed_range(values)});
}

void add_cells(const AppState& state, const Pairs& allowed, const MasksView& view,
               MasksLong& found) {
    found.cells = {make_cells({.title = "mask",
                               .noun = "mask",
                               .masked = forbidden_of(allowed),
                               .support = true,
                               .painted = painted_pairs(state)},
                              {allowed.begin(), allowed.end()}, state.document().size.tk)};
    if (!view.unavailable.empty()) return;
    found.cells.push_back(stage_cells(state, found, Stage::masked, forbidden_of(allowed)));
    found.cells.push_back(
        stage_cells(state, found, Stage::weights,
                    hidden_weights(masks_values(state, Stage::weights), allowed)));
}

void add_composition(const AppState& state, MasksView& view, MasksLong* found) {
    const Pairs allowed = pairs_allowed_by(state, state.document().spec.mask);
    view.unavailable = not_stored_text(state);
    view.takes_bias = takes_bias(state.document());
    view.bias_value = bias_brush(state);
    found != nullptr ? add_cells(state, allowed, view, *found) : add_grids(state, allowed, view);
    view.flagged = empty_rows(state, allowed);
    view.warns = std::ranges::count(view.flagged, true) > 0;
    view.point = compose_point(state, allowed);
    view.notes = empty_row_notes(state, allowed);
    if (!view.unavailable.empty()) view.notes.push_back(view.unavailable);
    view.switches = mask_switches(state);
}

/// "sat → cat: forbidden", and what each rule says.
void add_hover(const AppState& state, MasksView& view) {
    const auto& pair = masks_look(state).hovered;
    if (!pair) return;
    const Document& document = state.document();
    view.hovered = pair;
    const bool allowed = may_attend(document.spec.mask, document.size, state.batch, state.head,
                                    pair->query, pair->key);
    view.hover_title =
        fmt::format("{} → {}: {}", axis_label(state, Axis::query, pair->query),
                    axis_label(state, Axis::key, pair->key), allowed ? "allowed" : "forbidden");
    for (const RuleVerdict& verdict : rule_verdicts(state, *pair))
        view.hover_text +=
            fmt::format("{}{} {}: {}", view.hover_text.empty() ? "" : "\n", verdict.name,
                        verdict.allows ? "allows" : "forbids", verdict.text);
    if (view.hover_text.empty()) view.hover_text = "no rule is set";
}

/// The pointed row and column, else the selected ones, have their numbers at any size.
void focus_pair(const AppState& state, GridView& grid) {
    const Pair pair = masks_look(state).hovered.value_or(masks_look(state).pair);
    grid.focus_row = pair.query;
    grid.focus_column = pair.key;
}

/// What lasts as long as the document and the settings do.
MasksView lasting_view(const AppState& state, MasksLong* found) {
    MasksView view;
    view.tab = masks_look(state).tab;
    view.controls = mask_controls(state);
    if (view.tab == MasksTab::compose)
        add_composition(state, view, found);
    else
        add_comparison(state, view, found);
    return view;
}

/// The maps at their present place, and the rule that forbids the pair under the pointer.
void add_maps(const AppState& state, const MasksLong& found, MasksView& view) {
    const MasksLook& look = masks_look(state);
    MapSelection selected{{look.pair.query, look.pair.key}};
    if (look.corner) selected.corner = {look.corner->query, look.corner->key};
    view.maps = cells_views(state, found.cells, selected);
    if (!view.hovered || view.maps.empty() || !found.cells.front()->support) return;
    for (const RuleVerdict& verdict : rule_verdicts(state, *view.hovered))
        if (!verdict.allows)
            view.maps.front().hover_text += fmt::format("; {}: {}", verdict.name, verdict.text);
}

}  // namespace

void fill_masks(const AppState& state, MasksLong& found) {
    found.view = lasting_view(state, &found);
}

MasksView build_masks_view(const AppState& state) {
    const MasksLong* const found = long_masks(state);
    MasksView view = found != nullptr ? found->view : lasting_view(state, nullptr);
    view.corner = masks_look(state).corner;
    if (state.gesture) view.brush = masks_look(state).brush;
    add_hover(state, view);
    if (view.tab == MasksTab::compose && view.maps.empty() && view.grids.size() > 1)
        view.change = row_change(state);
    if (found != nullptr) add_maps(state, *found, view);
    return view;
}

std::string too_many_text(const AppState& state) {
    const Dimensions& size = state.document().size;
    if (size.batch * size.heads * size.tq * size.tk <= kMostStagedPairs) return {};
    return fmt::format("{} × {} scores of every head are too many to compute here",
                       grouped(size.tq), grouped(size.tk));
}

std::string scores_lack(const AppState& state) {
    const MasksLong* const found = long_masks(state);
    if (found != nullptr && found->of.mask_scores) return found->of.mask_scores->fault;
    return requested_mask_scores(state)
               ? job_status_text(state, "mask scores", "The scores are still being computed")
               : too_many_text(state);
}

bool toggled_value(const AppState& state, Pair pair) {
    return !may_attend(state.document().spec.mask, state.document().size, state.batch, state.head,
                       pair.query, pair.key);
}

std::optional<double> bias_brush(const AppState& state) {
    return takes_bias(state.document()) ? masks_look(state).bias_value : std::nullopt;
}

double toggled_bias(double bias, double brush) {
    return static_cast<float>(bias) == static_cast<float>(brush) ? 0.0 : brush;
}

GridView pair_grid(const AppState& state, const PairValues& pairs) {
    const Document& document = state.document();
    Sheet sheet;
    sheet.id = Stage::weights;
    sheet.values = pairs.values;
    sheet.row_labels = axis_labels(state, Axis::query, document.size.tq);
    sheet.column_labels = axis_labels(state, Axis::key, document.size.tk);
    sheet.role = pairs.role;
    GridView grid = make_grid(state, sheet, {pairs.colors, false, pairs.hidden});
    grid.title = pairs.title;
    grid.tooltip = pairs.tooltip;
    const Pair& pair = masks_look(state).pair;
    grid.selected = {pair.query, pair.key};
    focus_pair(state, grid);
    return grid;
}

GridView mask_grid_of(const AppState& state, std::span<const std::uint8_t> allowed,
                      std::span<const std::uint8_t> painted) {
    const Document& document = state.document();
    const std::vector<float> values(allowed.begin(), allowed.end());
    const Index keys = document.size.tk;
    GridView grid =
        pair_grid(state, {"mask",
                          "1: the query may attend to the key; 0: forbidden, its score becomes −∞",
                          Role::weight,
                          ColorScale::unit,
                          {values.data(), document.size.tq, keys, keys},
                          forbidden_of(allowed)});
    const Theme& colors = theme(state.theme);
    for (std::size_t n = 0; n < grid.cells.size(); ++n) {
        const bool tinted = !painted.empty() && painted[n] != 0;
        grid.cells[n].fill = support_color(allowed[n] != 0 && !tinted, tinted, state.theme);
        grid.cells[n].ink = allowed[n] == 0 ? colors.muted : colors.text;
    }
    grid.ticks.clear();
    grid.legend = {"1  may attend",
                   painted.empty() ? "0  forbidden" : "0  forbidden, tinted: painted"};
    return grid;
}

SideVector sums_of(MatrixView<const float> values, Role role) {
    SideVector sums{"Σ", "Σ_j A[i,j], the sum of the row", {}, role};
    for (Index i = 0; i < values.rows; ++i) {
        double sum = 0.0;
        for (const float weight : values.row(i)) sum += weight;
        sums.cells.push_back(cell_number(sum, 2));
    }
    return sums;
}

std::vector<std::uint8_t> forbidden_of(std::span<const std::uint8_t> allowed) {
    std::vector<std::uint8_t> forbidden(allowed.size());
    std::ranges::transform(allowed, forbidden.begin(),
                           [](std::uint8_t each) { return std::uint8_t{each == 0}; });
    return forbidden;
}

}  // namespace attn::view
