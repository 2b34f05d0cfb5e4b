#include "app/workspaces/masks/view.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "app/common/document/mask_rules.h"
#include "app/common/format.h"
#include "app/workspaces/masks/view_parts.h"
#include "core/masks.h"

namespace attn::view {
namespace {

using Pairs = std::vector<std::uint8_t>;

/// How many keys each row has left.
SideVector keys_left(const AppState& state, std::span<const std::uint8_t> allowed) {
    const auto keys = static_cast<std::size_t>(state.document().size.tk);
    SideVector side{"keys left", "how many keys the row has left", {}, Role::weight};
    for (std::size_t at = 0; at < allowed.size(); at += keys)
        side.cells.push_back(fmt::format("{}", count_allowed(allowed.subspan(at, keys))));
    return side;
}

GridView masked_scores(const AppState& state, const Pairs& allowed) {
    return pair_grid(state, {"masked scores", "M: the score where the mask allows, −∞ elsewhere",
                             Role::score, ColorScale::diverging,
                             sheet_of(state, Stage::masked).values, forbidden_of(allowed)});
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
    const auto values = sheet_of(state, Stage::weights).values;
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
std::string not_kept_words(const AppState& state) {
    if (is_kept(state, Stage::masked) && is_kept(state, Stage::weights)) return {};
    return fmt::format(
        "The backend {} keeps neither masked scores nor weights: the mask alone is shown.",
        state.backend_used);
}

void add_composition(const AppState& state, MasksView& view) {
    const Pairs allowed = pairs_allowed_by(state, state.document().spec.mask);
    view.painted = painted_pairs(state);
    GridView mask = mask_grid_of(state, allowed, view.painted);
    mask.sides.push_back(keys_left(state, allowed));
    view.grids.push_back(std::move(mask));
    view.unavailable = not_kept_words(state);
    if (view.unavailable.empty()) {
        view.grids.push_back(masked_scores(state, allowed));
        view.grids.push_back(weights(state, allowed));
    }
    view.paints = true;
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
        fmt::format("{} → {}: {}", axis_label(document, Axis::query, pair->query),
                    axis_label(document, Axis::key, pair->key), allowed ? "allowed" : "forbidden");
    for (const RuleVerdict& verdict : rule_verdicts(state, *pair))
        view.hover_words +=
            fmt::format("{}{} {}: {}", view.hover_words.empty() ? "" : "\n", verdict.name,
                        verdict.allows ? "allows" : "forbids", verdict.words);
    if (view.hover_words.empty()) view.hover_words = "no rule is set";
}

}  // namespace

MasksView build_masks_view(const AppState& state) {
    MasksView view;
    view.tab = masks_look(state).tab;
    view.controls = mask_controls(state);
    view.corner = masks_look(state).corner;
    if (state.gesture) view.brush = masks_look(state).brush;
    add_hover(state, view);
    if (view.tab == MasksTab::compose)
        add_composition(state, view);
    else
        add_comparison(state, view);
    return view;
}

bool toggled_value(const AppState& state, Pair pair) {
    return !may_attend(state.document().spec.mask, state.document().size, state.batch, state.head,
                       pair.query, pair.key);
}

}  // namespace attn::view
