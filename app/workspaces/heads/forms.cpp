#include <fmt/format.h>

#include "app/common/document/document.h"
#include "app/common/document/heads.h"
#include "app/common/format.h"
#include "app/common/inspector.h"
#include "app/common/sheet.h"
#include "app/common/state.h"
#include "app/workspaces/heads/shown.h"
#include "app/workspaces/heads/text.h"
#include "app/workspaces/heads/view.h"
#include "core/rope_scale.h"
#include "core/spec_arrays.h"
#include "core/stages.h"

namespace attn::view {
namespace {

/// What a head's forms are made of.
struct Drawn {
    HeadMatrix matrix;
    HeadColors colors;
    ThemeName theme;

    /// 0 … 1 as the curve of colours has it, by size.
    double strength(double value) const {
        const double position = position_of(colors.range, value);
        return colors.range.scale == ColorScale::unit ? position : std::abs(2.0 * position - 1.0);
    }
};
Drawn drawn_of(const AppState& state, HeadPlace place) {
    return {head_matrix(*heads_look(state).result, heads_look(state).show, place),
            head_colors(heads_look(state), place, color_look(state)), state.theme};
}

/// What the lines leave out.
struct Undrawn {
    double all = 0.0, thin = 0.0, clipped = 0.0;
    Index none = 0;  // NaN or infinite
};

void add_line(const Drawn& drawn, Index query, Index key, std::vector<HeadLine>& lines,
              Undrawn& undrawn) {
    const double value = drawn.matrix.values(query, key);
    if (!std::isfinite(value)) {
        ++undrawn.none;
        return;
    }
    const double size = std::abs(value);
    undrawn.all += size;
    if (drawn.colors.is_clipped(key)) {
        undrawn.clipped += size;
        return;
    }
    if (size < kLeastLine * drawn.colors.range.high) {
        undrawn.thin += size;
        return;
    }
    // The full colour of its sign: opacity says how much.
    const ColorRange& range = drawn.colors.range;
    lines.push_back({query, key, static_cast<float>(drawn.strength(value)),
                     color_of(range, value < 0.0 ? range.low : range.high, drawn.theme)});
}

/// More pairs than can be told apart: only the lines of the chosen query and of the chosen key.
constexpr Index kMostLinedPairs = 4 * kMostCells;  // 512 × 512

std::vector<std::string> lines_legend(const Drawn& drawn, const Undrawn& undrawn) {
    const double high = drawn.colors.range.high;
    const auto share = [&](double part) {
        return percent(undrawn.all > 0.0 ? part / undrawn.all : 0.0);
    };
    std::vector<std::string> legend;
    legend.push_back(fmt::format("full width and opacity at {}", tick(high)));
    legend.push_back(fmt::format("lines under {} hidden ({} of the total)", tick(kLeastLine * high),
                                 share(undrawn.thin)));
    if (!drawn.colors.clipped.empty())
        legend.push_back(
            fmt::format("lines to clipped keys hidden ({} of the total)", share(undrawn.clipped)));
    if (undrawn.none > 0)
        legend.push_back(fmt::format("{} NaN or infinite values hidden", undrawn.none));
    return legend;
}

HeadChip weighed_chip(const Drawn& drawn, std::string text, Index query, Index key) {
    HeadChip chip;
    chip.text = std::move(text);
    const Theme& colors = theme(drawn.theme);
    const double value = drawn.matrix.values(query, key);
    chip.tooltip = cell_number(value, 4);
    chip.look = HeadChipLook::number;
    chip.fill = color_of(drawn.colors.range, value, drawn.theme);
    if (drawn.colors.is_clipped(key)) {
        chip.look = HeadChipLook::clipped;
        chip.fill = clipped_color(drawn.theme);
        chip.tooltip += ", clipped";
    }
    if (std::isnan(value)) {
        chip.look = HeadChipLook::not_a_number;
        chip.fill = colors.nan;
    } else if (!drawn.matrix.may(query, key)) {
        chip.look = HeadChipLook::masked;
        chip.fill = colors.masked;
        chip.tooltip = "masked";
    }
    chip.ink = ink_on(chip.fill, drawn.theme);
    return chip;
}

bool same_tokens(const AppState& state, MatrixView<const float> values) {
    const Document& document = state.document();
    return document.inputs->x_kv.empty() && document.tokens_kv.empty() &&
           values.rows == values.columns && document.size.query_offset == 0;
}

// ---- dimensions

/// RoPE by position times frequency: tables have no frequencies.
bool turns_by_frequency(const AttentionSpec& spec) { return spec.rope && !spec.rope->tables; }

std::string column_label(const AttentionSpec& spec, const TurnedDimension& each) {
    if (!turns_by_frequency(spec)) return std::to_string(each.dimension);
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
    SideVector sums{"q·k", "Σ_d q_d k_d: the unscaled score", {}, Role::score};
    for (Index j = 0; j < k.rows; ++j) {
        double sum = 0.0;
        for (Index d = 0; d < k.columns; ++d) sum += double{q[d]} * k(j, d);
        sums.cells.push_back(cell_number(sum, 2));
    }
    return sums;
}

/// ", over 8 (linear)"; "" where they are not scaled.
std::string rope_scaling_description(const RopeScaling& scaling) {
    return fmt::format(fmt::runtime(info(scaling.kind).effect), significant(scaling.factor, 6),
                       significant(scaling.low, 3));
}

std::vector<std::string> legend_of(const AttentionSpec& spec) {
    std::vector<std::string> legend{
        "cell: q_d k_d, coloured by sign; a row sums to the unscaled score"};
    if (!spec.rope) return legend;
    if (spec.rope->tables) {
        legend.emplace_back("after RoPE, by given cosines and sines");
        return legend;
    }
    legend.push_back(fmt::format(
        "after RoPE; pairs turn by ω = {}^(−2c/{}) radians per position{}, fastest first",
        significant(spec.rope->base, 6), spec.rope->dims ? std::to_string(*spec.rope->dims) : "d_k",
        rope_scaling_description(spec.rope->scaling)));
    return legend;
}

}  // namespace

HeadLinesView head_lines(const AppState& state, HeadPlace place) {
    const Drawn drawn = drawn_of(state, place);
    const auto& values = drawn.matrix.values;
    HeadLinesView view;
    view.title = shown_name(heads_look(state).show, place);
    view.queries = axis_labels(state, Axis::query, values.rows);
    view.keys = axis_labels(state, Axis::key, values.columns);
    view.query = std::min(heads_look(state).pair.row, values.rows - 1);
    view.key = std::min(heads_look(state).pair.column, values.columns - 1);
    const bool all = values.rows * values.columns <= kMostLinedPairs;
    Undrawn undrawn;
    for (const auto [i, j] : each_cell(values)) {
        if (!all && i != view.query && j != view.key) continue;
        if (drawn.matrix.may(i, j)) add_line(drawn, i, j, view.lines, undrawn);
    }
    std::ranges::stable_sort(view.lines, {}, &HeadLine::strength);
    view.legend = lines_legend(drawn, undrawn);
    if (!all)
        view.legend.insert(
            view.legend.begin(),
            fmt::format("drawn: the lines of the selected query and key, of {} pairs",
                        grouped(values.rows * values.columns)));
    return view;
}

HeadTextView head_text(const AppState& state, HeadPlace place) {
    const Drawn drawn = drawn_of(state, place);
    const auto& values = drawn.matrix.values;
    const Index query = std::min(heads_look(state).pair.row, values.rows - 1);
    const Index key = std::min(heads_look(state).pair.column, values.columns - 1);
    const bool same = same_tokens(state, values);
    const auto queries = axis_labels(state, Axis::query, values.rows);
    const auto keys = axis_labels(state, Axis::key, values.columns);
    HeadTextView view;
    view.title = fmt::format("{}: {} {}", shown_name(heads_look(state).show, place),
                             heads_look(state).show == HeadShow::rollout ? "sources of" : "keys of",
                             queries[query]);
    if (!same)
        for (Index i = 0; i < values.rows; ++i)
            view.queries.push_back({.text = queries[i], .is_query = i == query});
    for (Index j = 0; j < values.columns; ++j) {
        view.keys.push_back(weighed_chip(drawn, keys[j], query, j));
        view.keys.back().is_query = same && j == query;
        view.keys.back().is_key = j == key;
    }
    view.legend.push_back(
        fmt::format("colours up to {}; click {}", tick(drawn.colors.range.high),
                    same ? "another token to make it the query" : "a query above or a key"));
    if (!drawn.colors.clipped.empty()) view.legend.push_back("clipped keys have a separate colour");
    return view;
}

HeadDimensionsView head_dimensions(const AppState& state, HeadPlace place) {
    HeadDimensionsView view;
    const HeadsResult& result = *heads_look(state).result;
    const HeadsLayer& layer = result.layers[place.layer];
    const AttentionSpec& spec = spec_of(state.document(), place.layer);
    if (spec.score != Score::dot)
        view.missing_data = "Dimensions are shown only for dot-product scores.";
    else if (layer.q.empty() || layer.k.empty())
        view.missing_data = "Queries and keys are missing: only weights are known.";
    if (!view.missing_data.empty()) return view;
    const Index query = std::min(heads_look(state).pair.row, layer.tq - 1);
    const auto q = layer.q.matrix(result.batch, place.head).row(query);
    const auto k = layer.k.matrix(result.batch, layer.key_head(place.head));
    // columns as they lie, or by how fast RoPE turns them
    const Index turned =
        turns_by_frequency(spec) ? std::min(spec.rope->dims.value_or(k.columns), k.columns) : 0;
    const auto order = turned_dimensions(k.columns, turned, spec.rope.value_or(Rope{}));
    const std::vector<float> products = in_order(products_by_dimension(q, k), order);
    Sheet sheet;
    sheet.id = Stage::weights;
    sheet.values = {products.data(), k.rows, k.columns, k.columns};
    sheet.row_labels = axis_labels(state, Axis::key, k.rows);
    for (const TurnedDimension& each : order)
        sheet.column_labels.push_back(column_label(spec, each));
    sheet.role = sheet.column_role = Role::score;
    sheet.row_role = Role::key;
    GridView grid = make_grid(state, sheet, {ColorScale::diverging, false, {}});
    grid.title =
        fmt::format("{}: {} · every key", head_name(place), axis_label(state, Axis::query, query));
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
