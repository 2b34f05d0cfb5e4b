#include "app/workspaces/kinds/view.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "app/common/format.h"
#include "app/common/pair.h"
#include "app/common/pair_grid.h"
#include "app/common/sheet.h"
#include "app/common/state.h"
#include "app/workspaces/kinds/compute.h"
#include "app/workspaces/kinds/state.h"
#include "app/workspaces/kinds/text.h"
#include "core/scores/score.h"
#include "core/stages.h"
#include "core/train/task_table.h"

namespace attn::view {
namespace {

/// Softmax over scores of pairs.
bool has_pair_scores(const AttentionKind& kind) {
    return kind.operation == Operation::softmax || kind.operation == Operation::chunked;
}

template <class Enum>
KindChoice choice_of(std::string_view setting, KindNames names, Enum current, std::string heading,
                     std::string tooltip) {
    KindChoice choice{setting, {}, {}, 0, heading, tooltip};
    for (std::size_t n = 0; n < names.size(); ++n) {
        if (names[n].key.empty()) continue;
        if (n == static_cast<std::size_t>(current))
            choice.current = static_cast<int>(choice.keys.size());
        choice.names.push_back(names[n].name);
        choice.keys.emplace_back(names[n].key);
    }
    return choice;
}

/// What an operation has no meaning for is left out, unless it is set: then it is what stands in the way.
std::vector<KindChoice> choices_of(const AttentionKind& kind) {
    const bool scores = has_pair_scores(kind);
    std::vector<KindChoice> choices;
    choices.push_back(choice_of("operation", operation_names(), kind.operation, "Operation",
                                "The operation that replaces softmax. Its implied weights are the "
                                "factors that multiply the values."));
    if (scores || kind.score != Score::dot)
        choices.push_back(choice_of("score", score_names(), kind.score, "Score",
                                    std::string(info(kind.score).text)));
    if (scores || kind.position != KindPosition::none)
        choices.push_back(choice_of("position", position_names(), kind.position, "Position",
                                    "RoPE rotates queries and keys before their product; ALiBi "
                                    "subtracts slope · distance from the score."));
    choices.push_back(choice_of(
        "mask", mask_names(), kind.mask, "Mask",
        "Which keys a query may attend to. A mask selected here replaces the document's."));
    choices.back().names.front() = "the document's mask";
    return choices;
}

void show_settings(KindSideView& side) {
    const AttentionKind& kind = side.kind;
    const bool scores = has_pair_scores(kind);
    const bool scales =
        kind.operation != Operation::linear && kind.operation != Operation::state_space;
    side.choices = choices_of(kind);
    side.shows_scaling = scales || !kind.scaled;
    side.shows_temperature = scales || kind.temperature != 1.0;
    side.shows_cap = scores || kind.softcap != 0.0;
    side.shows_sink = scores || kind.sink.has_value();
}

/// With the pair that is explained selected.
GridView shown_grid(const AppState& state, const Tensor& values, const GridStyle& style,
                    std::string title) {
    GridView grid = pair_grid(state, values.matrix(0, 0), style, std::move(title));
    look_at(grid, shown_pair(state));
    return grid;
}

bool are_maps(const AppState& state) { return !kinds_look(state).maps.empty(); }

IsMasked masked_of(const KindComputed& side) {
    IsMasked masked = side.allowed;
    for (std::uint8_t& one : masked) one = one == 0 ? 1 : 0;
    return masked;
}

SideVector entropy_column(const KindComputed& side) {
    SideVector column{
        "H",
        "H = −Σ a ln a of each row, in nats; the bar shows H / ln n for the row’s n allowed keys",
        {},
        Role::weight,
        {},
        {}};
    for (std::size_t i = 0; i < side.entropy.size(); ++i) {
        if (side.allowed_of_row[i] == 0) {
            column.cells.emplace_back("–");
            column.bars.push_back(0.0);
            column.cell_tips.emplace_back("no allowed key, so H is undefined");
            continue;
        }
        column.cells.push_back(cell_number(side.entropy[i], 2));
        column.bars.push_back(std::isfinite(side.evenness[i]) ? side.evenness[i] : 0.0);
        column.cell_tips.push_back(
            fmt::format("H = {} nats, allowed keys n = {}, H / ln n: {}", number(side.entropy[i]),
                        side.allowed_of_row[i],
                        std::isfinite(side.evenness[i]) ? percent(side.evenness[i]) : "undefined"));
    }
    return column;
}

/// The weight of each row outside its set.
SideVector missed_column(const KindComputed& side) {
    SideVector column{"missed",
                      "weight under the document's mask of the allowed keys that the query does "
                      "not read: Σ A_ij over j outside S_i",
                      {},
                      Role::weight,
                      {},
                      {}};
    for (const SetRow& row : side.set.rows) {
        const bool counted_row = std::isfinite(row.missed);
        column.cells.push_back(counted_row ? percent(row.missed) : "–");
        column.bars.push_back(counted_row ? row.missed : 0.0);
        column.cell_tips.push_back(
            counted_row ? fmt::format("keys read: {}, allowed keys: {}, missed weight: {}",
                                      row.read, row.allowed, percent(row.missed))
                        : "weight undefined: the row has a score that is not finite, or its mask "
                          "allows no key");
    }
    return column;
}

/// What is asked for, computed or not.
KindSideView settings_view(const AppState& state, KindsSide which) {
    KindSideView side;
    side.side = which;
    side.letter = which == KindsSide::a ? 'A' : 'B';
    side.kind = kinds_controls(state).side(which);
    side.text = kind_text(side.kind);
    show_settings(side);
    return side;
}

KindSideView side_view(const AppState& state, KindsSide which) {
    const KindsResult& result = *kinds_look(state).result;
    const KindComputed& computed = result.side(which);
    KindSideView side = settings_view(state, which);
    side.fault = computed.fault;
    if (!side.fault.empty() || !result.fault.empty()) return side;
    side.tex = kind_tex(side.kind, computed);
    if (are_maps(state)) return side;
    const ColorScale colors = computed.has_shares ? ColorScale::unit : ColorScale::diverging;
    side.weights =
        shown_grid(state, computed.shown, {colors, false, masked_of(computed)}, side.letter);
    side.weights.shape = side.weights.tooltip = side.text;
    if (computed.has_shares) side.weights.sides = {entropy_column(computed)};
    if (!computed.set.rows.empty()) side.weights.sides.push_back(missed_column(computed));
    return side;
}

/// Hatched where both sides forbid the pair.
GridView difference_grid(const AppState& state, const KindsResult& result) {
    GridView grid = shown_grid(state, result.difference_shown,
                               {ColorScale::diverging, false, masked_on_both(result)}, "B − A");
    grid.role = Role::score;
    grid.tooltip = "weight in B minus weight in A";
    grid.shape = result.difference.compared == 0 ? "no finite difference" : "no pair differs";
    if (const KindsDifference& most = result.difference; most.value != 0.0) {
        light(grid, grid.ref(most.row, most.column));
        grid.shape = "largest ringed";
    }
    return grid;
}

/// The selected query's row of A V on both sides, and B − A.
GridView output_grid(const AppState& state, const KindsResult& result) {
    const Index row = shown_pair(state).row;
    const auto of = [&](KindsSide side) {
        const auto values = result.side(side).output().row(row);
        return std::vector<double>(values.begin(), values.end());
    };
    const std::vector<double> a = of(KindsSide::a);
    const std::vector<double> b = of(KindsSide::b);
    std::vector<double> change;
    for (std::size_t c = 0; c < a.size(); ++c) change.push_back(b[c] - a[c]);
    const std::string name = axis_label(state, Axis::query, row);
    GridView grid = vector_grid(state, {{"A", a}, {"B", b}, {"B − A", change}},
                                fmt::format("output of {}", name));
    grid.tooltip = "O = A V: the weights of this row times the values";
    return grid;
}

void set_pairs(KindsView& view, const KindsControls& controls) {
    for (const KindsPreset& preset : kinds_presets()) view.pairs.emplace_back(preset.title);
    const std::size_t pair = present_pair(controls);
    view.pair = pair < view.pairs.size() ? static_cast<int>(pair) : -1;
    view.same = controls.a == controls.b;
    view.seed = controls.seed;
    const auto needs = [](const AttentionKind& kind) { return !info(kind.score).params.empty(); };
    view.seeded = needs(controls.a) || needs(controls.b);
}

// ---- the table

constexpr const char* kNoRow = "undefined";  // in place of a mean of none

/// ½ Σ_j |B − A| of a row, mean of the rows; NaN where a weight is none.
std::string moved_share(const KindsResult& result) {
    if (allows_none(result)) return kNoRow;
    const auto a = result.a.weights();
    const auto b = result.b.weights();
    double sum = 0.0;
    for (const auto [i, j] : each_cell(a)) sum += std::abs(b(i, j) - a(i, j));
    return number(sum / 2.0 / static_cast<double>(a.rows));
}

/// "0.21  at cat → The", or 0 alone.
std::string placed(double value, const std::string& where) {
    return value == 0.0 || std::isnan(value) ? number(value)
                                             : fmt::format("{}  at {}", number(value), where);
}

std::vector<KindRow> error_rows(const AppState& state, const KindsResult& result) {
    const OutputError& error = result.error;
    const KindsDifference& most = result.difference;
    const std::string row = axis_label(state, Axis::query, error.row);
    return {{"weights, largest change", "max |B − A|",
             "The largest change of one weight, ringed in B − A.", "", "",
             placed(most.compared == 0 ? std::nan("") : most.value,
                    pair_name(state, {most.row, most.column}))},
            {"weights, change of a row", "mean of ½ Σ_j |B − A|",
             "If both rows sum to 1: the fraction of the weight that moves to other keys.", "", "",
             moved_share(result)},
            {"output, largest change", "max |O_B − O_A|",
             "O = A V of this head: the largest change of a single number.", "", "",
             placed(error.largest, fmt::format("row {}, column {}", row, error.column))},
            {"output, relative change", "‖O_B − O_A‖ / ‖O_A‖",
             "Norm of the change divided by the norm of A's output.", "", "",
             std::isnan(error.relative) ? "undefined" : percent(error.relative)}};
}

std::string entropy_text(const KindComputed& side) {
    if (!side.has_shares) return "not weights";
    double sum = 0.0;
    Index rows = 0;
    for (std::size_t i = 0; i < side.entropy.size(); ++i)
        if (side.allowed_of_row[i] > 0) sum += side.entropy[i], ++rows;
    return rows == 0 ? kNoRow : fmt::format("{} nats", number(sum / static_cast<double>(rows)));
}

/// Of a rule; "–" of another mask.
std::string missed_text(const KindComputed& side) {
    if (side.set.rows.empty()) return "–";
    return side.set.counted == 0 ? kNoRow : percent(side.set.missed);
}

std::string allowed_text(const KindComputed& side) {
    const auto& of_row = side.allowed_of_row;
    return fmt::format("{} of {}", grouped(std::accumulate(of_row.begin(), of_row.end(), Index{0})),
                       grouped(std::ssize(side.allowed)));
}

/// "4 × 196 (a weight of each pair) = 784 B".
std::string retained_text(const KindComputed& side) {
    std::string text;
    for (const OperationStorage& stored : side.cost.stored)
        text += fmt::format("{}4 B × {} ({})", text.empty() ? "" : " + ",
                            grouped(static_cast<Index>(stored.entries)), stored.what);
    return fmt::format("{} = {} B", text, grouped(static_cast<Index>(side.cost.stored_bytes())));
}

/// "3,136 in products + 980 = 4,116".
std::string flop_text(const KindComputed& side) {
    const auto whole = [](auto count) { return grouped(static_cast<Index>(count)); };
    return fmt::format("{} in products + {} = {}", whole(side.cost.products),
                       whole(side.cost.elementwise), whole(side.cost.flops()));
}

/// Measured, where Shift+M asked for it.
void add_times(const AppState& state, std::vector<KindRow>& rows) {
    const auto& times = kinds_look(state).times;
    if (!times || times->result != kinds_look(state).result || times->a_runs < 1 ||
        times->b_runs < 1)
        return;
    const auto text = [](double ms) { return significant(1e3 * ms, 3) + " µs"; };
    rows.push_back(
        {"time, measured here", "median of several runs",
         fmt::format("Time of this screen's computation in double precision, with plain loops: {} "
                     "runs of A, {} of B. A real kernel's time is different.",
                     times->a_runs, times->b_runs),
         text(times->a_ms), text(times->b_ms), ""});
}

/// The curves of the side with a rule, of B where both have one.
void add_missed(const KindsResult& result, KindsView& view) {
    view.missed_side = result.b.missed.empty() ? KindsSide::a : KindsSide::b;
    const KindComputed& side = view.missed_side == KindsSide::b ? result.b : result.a;
    if (side.missed.size() < 2) return;
    view.missed_keys = side.kind.keys;
    PlotView plot;
    plot.title =
        fmt::format("Missed weight of {} over k", view.missed_side == KindsSide::b ? "B" : "A");
    plot.tooltip =
        "The weight of the exact row outside the k keys that a query reads: the mean of the rows, "
        "and the largest of one row. Drag to set k.";
    plot.log_x = false;
    plot.x_low = 1.0;
    plot.x_high = static_cast<double>(side.missed.back().keys);
    plot.x_label = "k";
    const Index step = std::max<Index>(1, (side.missed.back().keys + 7) / 8);
    for (Index keys = 1; keys <= side.missed.back().keys; keys += step) {
        plot.x_ticks.push_back(static_cast<double>(keys));
        plot.x_tick_labels.push_back(std::to_string(keys));
    }
    plot.y_low = 0.0, plot.y_high = 1.0;
    plot.y_ticks = {0.0, 0.5, 1.0};
    plot.y_tick_labels = {"0", "50 %", "100 %"};
    CurveView mean, most;
    mean.label = "mean", mean.role = Role::first, mean.dashed = false;
    most.label = "largest", most.role = Role::second, most.dashed = true;
    for (const MissedWeight& each : side.missed) {
        mean.x.push_back(static_cast<double>(each.keys)), mean.y.push_back(each.mean);
        most.x.push_back(static_cast<double>(each.keys)), most.y.push_back(each.most);
    }
    plot.curves = {std::move(mean), std::move(most)};
    const bool inside = side.kind.keys <= side.missed.back().keys;
    plot.marker_x = static_cast<double>(inside ? side.kind.keys : side.missed.back().keys);
    for (const double each : {side.set.missed, side.set.worst}) {
        plot.marker_ys.push_back(each);
        plot.marker_texts.push_back(percent(each));
    }
    view.missed = std::move(plot);
}

/// Costs are the operations' own counts, of this head.
std::vector<KindRow> rows_of(const AppState& state, const KindsResult& result) {
    std::vector<KindRow> rows = error_rows(state, result);
    const auto add = [&](std::string label, std::string formula, std::string tooltip, auto text) {
        rows.push_back({std::move(label), std::move(formula), std::move(tooltip), text(result.a),
                        text(result.b), ""});
    };
    add("entropy, mean of the rows", "H = −Σ a ln a",
        "How evenly a row spreads its weight: 0 for one key, ln n for n equal ones. Each row has "
        "its value beside it; a row that may attend to no key has none.",
        entropy_text);
    if (!result.a.set.rows.empty() || !result.b.set.rows.empty())
        add("weight missed, mean of the rows", "Σ A_ij over j outside S_i",
            "Weight under the document's mask of the keys that a query does not read.",
            missed_text);
    add("pairs that the mask allows", "n_q · n_k at most",
        "Pairs of a query and a key that get a weight.", allowed_text);
    add("FLOPs of this head", "multiply-adds 2, the rest 1",
        fmt::format("A: {}. B: {}. Counted: score, positions, soft cap, sink, 5 per pair for "
                    "softmax, and A V. "
                    "Scaling and τ count as 0 FLOPs, because W_Q can absorb them. Shift+M measures "
                    "the time.",
                    flop_text(result.a), flop_text(result.b)),
        [](const KindComputed& side) { return grouped(static_cast<Index>(side.cost.flops())); });
    add("extra memory kept", "4 bytes a number",
        fmt::format("A: {}. B: {}.", retained_text(result.a), retained_text(result.b)),
        [](const KindComputed& side) {
            return fmt::format("{} B", grouped(static_cast<Index>(side.cost.stored_bytes())));
        });
    add_times(state, rows);
    return rows;
}

}  // namespace

GridView vector_grid(const AppState& state, const std::vector<VectorRow>& rows, std::string title) {
    std::vector<float> values;
    Sheet sheet;
    sheet.id = Stage::context;
    for (const VectorRow& row : rows) {
        sheet.row_labels.push_back(row.label);
        if (row.sum) values.push_back(static_cast<float>(*row.sum));
        for (const double each : row.values) values.push_back(static_cast<float>(each));
    }
    if (rows.front().sum) sheet.column_labels.emplace_back("ℓ");
    for (std::size_t c = 0; c < rows.front().values.size(); ++c)
        sheet.column_labels.push_back(std::to_string(c));
    const Index width = std::ssize(sheet.column_labels);
    sheet.values = {values.data(), std::ssize(rows), width, width};
    sheet.role = Role::value;
    sheet.row_role = Role::weight;
    sheet.column_role = Role::value;
    GridView grid = make_grid(state, sheet, {});
    grid.title = std::move(title);
    grid.editable = false;
    grid.selected.reset();
    return grid;
}

Index nearest_keys(double keys) {
    return std::clamp<Index>(static_cast<Index>(std::llround(keys)), 1, kMostWindow);
}
Index next_keys(Index keys, int steps) { return std::clamp<Index>(keys + steps, 1, kMostWindow); }

KindsView build_kinds_view(const AppState& state) {
    KindsView view;
    view.missing_data = kinds_missing_data(state);
    view.sentence = kinds_sentence(state);
    if (!view.missing_data.empty()) return view;
    set_pairs(view, kinds_controls(state));
    view.a = settings_view(state, KindsSide::a);
    view.b = settings_view(state, KindsSide::b);
    if (!kinds_look(state).result) return view;
    const KindsResult& result = *kinds_look(state).result;
    view.note = kinds_note(result);
    view.a = side_view(state, KindsSide::a);
    view.b = side_view(state, KindsSide::b);
    if (!result.whole()) return view;
    share_range({&view.a.weights, &view.b.weights}, state.theme);
    if (are_maps(state))
        view.maps = cells_views(state, kinds_look(state).maps, {shown_pair(state)});
    else
        view.difference = difference_grid(state, result);
    view.rows = rows_of(state, result);
    view.outputs = output_grid(state, result);
    add_missed(result, view);
    return view;
}

}  // namespace attn::view
