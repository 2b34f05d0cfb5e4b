#include "app/workspaces/positions/view.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/common/apart.h"
#include "app/common/arithmetic.h"
#include "app/common/format.h"
#include "app/common/inspector.h"
#include "app/common/memo.h"
#include "app/common/pair_grid.h"
#include "app/common/sheet.h"
#include "app/common/state.h"
#include "core/note.h"
#include "core/scores/operands.h"
#include "core/scores/score.h"
#include "core/tex.h"

namespace attn::view {
namespace {

constexpr std::array kKinds{PositionKind::sinusoidal, PositionKind::learned, PositionKind::rotary,
                            PositionKind::alibi};

std::string digits(double value) { return significant(value, 3); }

std::size_t at(Index distance) { return static_cast<std::size_t>(distance); }

// ---- plots

CurveView curve_of(std::string label, Role role, const std::vector<double>& y) {
    CurveView curve;
    curve.label = std::move(label);
    curve.role = role;
    curve.y = y;
    for (std::size_t n = 0; n < y.size(); ++n) curve.x.push_back(static_cast<double>(n));
    return curve;
}

void add(PlotView& plot, CurveView curve, Index distance) {
    plot.marker_ys.push_back(curve.y[at(distance)]);
    plot.marker_texts.push_back(digits(curve.y[at(distance)]));
    plot.curves.push_back(std::move(curve));
}

/// 1, 2 or 5 times a power of ten, so that `range` has at most so many of it.
double step_of(double range, int most) {
    const double power = std::pow(10.0, std::floor(std::log10(range / most)));
    for (const double part : {1.0, 2.0, 5.0})
        if (part * power * most >= range) return part * power;
    return 10.0 * power;
}

void set_x_axis(PlotView& plot, Index farthest) {
    plot.x_label = "|j − i|";
    plot.log_x = false;
    plot.x_low = 0.0;
    plot.x_high = static_cast<double>(farthest);
    const auto step = std::max<Index>(1, std::llround(step_of(plot.x_high, 8)));
    for (Index distance = 0; distance <= farthest; distance += step) {
        plot.x_ticks.push_back(static_cast<double>(distance));
        plot.x_tick_labels.push_back(grouped(distance));
    }
}

/// From distance 1 on, over powers of two.
void set_log_axis(PlotView& plot) {
    for (CurveView& curve : plot.curves)
        for (std::vector<double>* values : {&curve.x, &curve.y, &curve.low, &curve.high})
            if (!values->empty()) values->erase(values->begin());
    plot.log_x = true;
    plot.x_low = 1.0;
    plot.x_high = std::max(plot.x_high, 2.0);
    plot.x_ticks.clear();
    plot.x_tick_labels.clear();
    for (Index distance = 1; static_cast<double>(distance) <= plot.x_high; distance *= 2) {
        plot.x_ticks.push_back(static_cast<double>(distance));
        plot.x_tick_labels.push_back(grouped(distance));
    }
    if (plot.marker_x >= 1.0) return;
    plot.marker_x = 1.0;
    std::ranges::fill(plot.marker_ys, std::numeric_limits<double>::quiet_NaN());
}

/// 0 and all that is drawn.
struct Extent {
    double low = 0.0, high = 0.0;

    void take(const PlotView& plot) {
        for (const CurveView& curve : plot.curves)
            for (const auto* values : {&curve.y, &curve.low, &curve.high})
                for (const double y : *values) low = std::min(low, y), high = std::max(high, y);
    }
};

/// Whole steps around the extent.
void set_y_axis(PlotView& plot, const Extent& extent, int most) {
    const double step = step_of(extent.high - extent.low, most);
    const double first = std::floor(extent.low / step);
    const double last = std::ceil(extent.high / step);
    plot.y_low = first * step;
    plot.y_high = last * step;
    for (double n = first; n <= last; n += 1.0) {
        plot.y_ticks.push_back(n * step);
        plot.y_tick_labels.push_back(digits(n * step));
    }
}

std::string_view formula_of(PositionKind kind) {
    constexpr std::string_view kFormulas[] = {
        "(x + p_i) · (x + p_j) / √d_k, p of sines and cosines",
        "(x + p_i) · (x + p_j) / √d_k, p learned: here before training",
        "q · k / √d_k, with x rotated by its position", "x · x / √d_k − slope · |j − i|"};
    return kFormulas[static_cast<std::size_t>(kind)];
}

std::string tooltip_of(PositionKind kind) {
    if (kind == PositionKind::alibi)
        return "Line: the chosen head. Band: all heads. Drag to change the distance.";
    return fmt::format(
        "Line: the mean over queries 0 … {}. Band: minimum to maximum over these queries. Drag to "
        "change the "
        "distance.",
        kPositionQueries - 1);
}

enum class Detail : std::uint8_t { little, all };

PlotView plot_of(const PositionScores& scores, PositionKind kind, const PositionsControls& controls,
                 Detail detail) {
    const DistanceScores& of = scores[kind];
    const Index distance = controls.distance;
    const bool all = detail == Detail::all;
    PlotView plot;
    plot.labels = all ? CurveLabels::values : CurveLabels::none;
    plot.title = fmt::format("{}: {}", title_of(kind),
                             all ? formula_of(kind) : digits(of.mean[at(distance)]));
    plot.tooltip = tooltip_of(kind);
    plot.marker_x = static_cast<double>(distance);
    CurveView line = curve_of("score", role_of(kind), of.mean);
    line.low = of.low;
    line.high = of.high;
    add(plot, std::move(line), distance);
    const auto add_dashed = [&](std::string label, const std::vector<double>& y) {
        CurveView curve = curve_of(std::move(label), Role::input, y);
        curve.dashed = true;
        add(plot, std::move(curve), distance);
    };
    if (all && !of.vectors.empty()) add_dashed("p alone", of.vectors);
    add_dashed("no positions", std::vector(of.mean.size(), scores.content));
    set_x_axis(plot, scores.of.farthest);
    if (controls.log) set_log_axis(plot);
    return plot;
}

// ---- pictures

/// ‖x_c‖² of the two columns that RoPE rotates together.
double length_of(const PositionScores& scores, Index c) {
    const double a = scores.x[c];
    const double b = scores.x[c + scores.x.size() / 2];
    return a * a + b * b;
}

std::vector<TurningPair> turning_pairs(const PositionScores& scores,
                                       const PositionSettings& settings, Index distance) {
    const double root = std::sqrt(static_cast<double>(settings.d_k));
    std::vector<TurningPair> pairs;
    double most = 0.0;
    for (Index c = 0; c < settings.d_k / 2; ++c) {
        const double angle =
            rope_frequency(rope_of(settings), c, settings.d_k) * static_cast<double>(distance);
        const double square = length_of(scores, c);
        pairs.push_back({angle, std::sqrt(square), square * std::cos(angle) / root});
        most = std::max(most, pairs.back().length);
    }
    for (TurningPair& pair : pairs) pair.length /= std::max(most, 1e-300);
    return pairs;
}

constexpr Index kMostWaves = 128;  // positions and columns of the picture

GridView waves_of(const AppState& state, const PositionSettings& settings, Index distance) {
    const Index rows = std::min(settings.farthest + 1, kMostWaves);
    const Index columns = std::min(settings.d_k, kMostWaves);
    std::vector<float> values;
    for (const auto [position, column] : each_cell(rows, columns))
        values.push_back(
            static_cast<float>(sinusoid(position, column, settings.d_k, settings.base)));
    Sheet sheet;
    sheet.id = Stage::x;
    sheet.values = {values.data(), rows, columns, columns};
    for (Index n = 0; n < rows; ++n) sheet.row_labels.push_back(std::to_string(n));
    for (Index n = 0; n < columns; ++n) sheet.column_labels.push_back(std::to_string(n));
    sheet.role = sheet.row_role = sheet.column_role = Role::input;
    GridView grid = make_grid(state, sheet, {});
    grid.title = "p";
    grid.shape = "position × column";
    grid.tooltip = "sin (even columns) or cos of position / base^(2c/d_k), columns 2c and 2c + 1";
    look_at(grid, {std::min(distance, rows - 1), 0});
    return grid;
}

void add_picture(const AppState& state, const PositionScores& scores, PositionsView& view) {
    const PositionSettings& settings = scores.of;
    const Index distance = view.controls.distance;
    if (view.controls.kind == PositionKind::rotary) {
        view.pairs = turning_pairs(scores, settings, distance);
        view.picture_title = fmt::format("Angle θΔ of each pair of dimensions, Δ = {}", distance);
    }
    if (view.controls.kind == PositionKind::sinusoidal) {
        view.waves = waves_of(state, settings, distance);
        view.picture_title = "Sinusoidal vectors";
    }
}

// ---- words

/// Beyond what rounding of sums near `content` makes.
bool differ(double a, double b, const PositionScores& scores) {
    return std::abs(a - b) > 1e-9 * scores.content;
}

/// "3.21 for every query", "4.1 to 9.2, depending on the query".
std::string score_description(const PositionScores& scores, PositionKind kind, Index distance) {
    const double low = scores[kind].low[at(distance)];
    const double high = scores[kind].high[at(distance)];
    if (differ(low, high, scores))
        return fmt::format("{} to {}, depending on the query", digits(low), digits(high));
    if (differ(low, scores.content, scores))
        return fmt::format("{} for every query instead of {}", digits(low), digits(scores.content));
    return fmt::format("{} for every query, as without positions", digits(low));
}

/// "RoPE rotates q and k: at distance 16 it lowers the score from 8 to 6.02."
std::string rotary_text(const PositionScores& scores, Index distance) {
    const double score = scores[PositionKind::rotary].mean[at(distance)];
    const std::string start = fmt::format("RoPE rotates q and k: at distance {} it ", distance);
    if (!differ(score, scores.content, scores))
        return fmt::format("{}leaves the score at {}.", start, digits(scores.content));
    const bool apart = digits(score) != digits(scores.content);
    const auto [now, before] = distinguished(score, scores.content);
    return fmt::format("{}{} the score from {} to {}.", start,
                       score < scores.content ? "lowers" : "raises",
                       apart ? digits(scores.content) : before, apart ? digits(score) : now);
}

/// "2.1 at distance 16 and 4 at distance 0".
std::string alone_text(const DistanceScores& of, Index distance) {
    std::string text = fmt::format("{} at distance {}", digits(of.vectors[at(distance)]), distance);
    if (distance > 0) text += fmt::format(" and {} at distance 0", digits(of.vectors[0]));
    return text;
}

std::string alibi_text(const PositionScores& scores, Index distance) {
    const DistanceScores& of = scores[PositionKind::alibi];
    const PositionSettings& settings = scores.of;
    if (distance == 0)
        return fmt::format("ALiBi subtracts nothing at distance 0: the score is {} in every head.",
                           digits(scores.content));
    const ProductText taken =
        product_text(alibi_slope(settings.head, settings.heads), static_cast<double>(distance), 3);
    const bool apart = digits(of.mean[at(distance)]) != digits(scores.content);
    const auto [left, whole] = distinguished(of.mean[at(distance)], scores.content);
    std::string text = fmt::format(
        "ALiBi subtracts {} · {} = {} from the score of head {}: {} instead of {}", taken.a,
        distance, taken.product, settings.head, apart ? digits(of.mean[at(distance)]) : left,
        apart ? digits(scores.content) : whole);
    if (settings.heads > 1)
        text += fmt::format("; over all {} heads {} to {}", settings.heads,
                            digits(of.low[at(distance)]), digits(of.high[at(distance)]));
    return text + ".";
}

double widest(const DistanceScores& of) {
    double most = 0.0;
    for (std::size_t n = 0; n < of.low.size(); ++n) most = std::max(most, of.high[n] - of.low[n]);
    return most;
}

// --- the inspector

/// What the inspector explains: scores of one kind at one distance.
struct Explained {
    const PositionScores& scores;
    PositionKind kind;
    Index distance;

    const DistanceScores& of() const { return scores[kind]; }
    double at(const std::vector<double>& values) const { return values[distance]; }
    double root() const { return std::sqrt(static_cast<double>(scores.of.d_k)); }
};

std::string_view tex_of(PositionKind kind) {
    constexpr std::string_view kTex[] = {
        R"(s = \frac{(x + p_i) \cdot (x + p_j)}{\sqrt{d_k}}, \quad p_i \cdot p_j = \sum_c \cos(\theta_c \Delta))",
        R"(s = \frac{(x + p_i) \cdot (x + p_j)}{\sqrt{d_k}})",
        R"(s = \frac{1}{\sqrt{d_k}} \sum_c \|x_c\|^2 \cos(\theta_c \Delta))",
        R"(s = \frac{x \cdot x}{\sqrt{d_k}} - m_h \Delta)"};
    return kTex[static_cast<std::size_t>(kind)];
}

TableRow row_of(std::string label, const std::vector<std::string>& texts) {
    TableRow row;
    row.label = std::move(label);
    for (const std::string& text : texts) row.cells.push_back({text, {}, {}});
    return row;
}

/// ‖x_c‖² of a pair; 1 where only the angles count.
double length_of(const Explained& cell, Index c) {
    return cell.kind == PositionKind::rotary ? length_of(cell.scores, c) : 1.0;
}

/// A row for each pair of dimensions; the terms go to `terms`.
InspectorTable pairs_table(const Explained& cell, std::vector<double>& terms) {
    const PositionSettings& of = cell.scores.of;
    const bool turns = cell.kind == PositionKind::rotary;
    InspectorTable table;
    table.title = turns ? "every pair of dimensions" : "p_i · p_j / √d_k, every pair of dimensions";
    table.label = "c";
    table.columns = {{"θ Δ", {}},
                     {"cos", {}},
                     {turns ? "‖x‖²" : "‖p‖²", {}, true},
                     {"term", role_of(cell.kind)}};
    double sum = 0.0;
    for (Index c = 0; c < of.d_k / 2; ++c) {
        const double angle =
            rope_frequency(rope_of(of), c, of.d_k) * static_cast<double>(cell.distance);
        const double length = length_of(cell, c);
        terms.push_back(length * std::cos(angle) / cell.root());
        sum += terms.back();
        table.rows.push_back(row_of(std::to_string(c), {number(angle), number(std::cos(angle)),
                                                        number(length), number(terms.back())}));
    }
    double most = 1e-300;
    for (const double term : terms) most = std::max(most, std::abs(term));
    for (std::size_t c = 0; c < terms.size(); ++c) table.rows[c].bar = terms[c] / most;
    const int decimals = sum_decimals(terms, sum, 4);
    table.total =
        row_of("Σ", {"", "", "", decimals == 4 ? number(sum) : cell_number(sum, decimals)});
    return table;
}

InspectorTable heads_table(const Explained& cell) {
    InspectorTable table;
    table.title = "every head";
    table.label = "head";
    table.columns = {{"slope m", {}}, {"m Δ", {}}, {"score", role_of(cell.kind)}};
    for (Index h = 0; h < cell.scores.of.heads; ++h) {
        const double slope = alibi_slope(h, cell.scores.of.heads);
        const double taken = slope * static_cast<double>(cell.distance);
        const ProductText text = product_text(slope, static_cast<double>(cell.distance), 4);
        table.rows.push_back(
            row_of(std::to_string(h), {text.a, text.product, number(cell.scores.content - taken)}));
        table.rows.back().chosen = h == cell.scores.of.head;
    }
    return table;
}

/// What the mean is made of; the terms go to `terms`.
void add_parts(const Explained& cell, InspectorView& view, std::vector<double>& terms) {
    const double own = cell.scores.content;
    const double vectors = cell.at(cell.of().vectors);
    const double mixed = cell.at(cell.of().mean) - own - vectors;
    terms = {own, mixed, vectors};
    const std::vector<std::string> texts = sum_terms(terms, own + mixed + vectors, 4);
    view.add("x · x / √d_k", texts[0]);
    view.add("x · (p_i + p_j) / √d_k", texts[1] + ", mean over queries");
    view.add("p_i · p_j / √d_k", texts[2]);
    view.add("min … max", fmt::format("{} … {}", number(cell.at(cell.of().low)),
                                      number(cell.at(cell.of().high))));
}

void explain(const Explained& cell, InspectorView& view, std::vector<double>& terms) {
    const PositionSettings& of = cell.scores.of;
    std::vector<double> products;
    if (cell.kind == PositionKind::alibi) {
        const double slope = alibi_slope(of.head, of.heads);
        terms = {cell.scores.content, -slope * static_cast<double>(cell.distance)};
        view.add("x · x / √d_k", number(cell.scores.content));
        view.add("m", fmt::format("{}, head {} of {}", number(slope), of.head, of.heads));
        view.table = heads_table(cell);
        return;
    }
    if (cell.kind == PositionKind::rotary)
        view.table = pairs_table(cell, terms);
    else
        add_parts(cell, view, terms);
    if (cell.kind == PositionKind::sinusoidal) view.table = pairs_table(cell, products);
    if (view.table)
        view.add("θ_c",
                 fmt::format("{}^(−2c/{}) radians per position", significant(of.base, 6), of.d_k));
}

}  // namespace

Role role_of(PositionKind kind) {
    constexpr Role kRoles[] = {Role::first, Role::second, Role::third, Role::fourth};
    return kRoles[static_cast<std::size_t>(kind)];
}

std::shared_ptr<const PositionScores> scores_of(const AppState& state) {
    return found_once(positions_curves(state).scores, positions_controls(state).settings,
                      position_scores);
}

std::string positions_sentence(const PositionScores& scores, PositionKind kind, Index distance) {
    const std::string score = score_description(scores, kind, distance);
    switch (kind) {
        case PositionKind::sinusoidal:
            return fmt::format(
                "Sinusoidal vectors are added: p_i · p_j / √d_k is {} for every query; with the "
                "content the score is {}.",
                alone_text(scores[kind], distance), score);
        case PositionKind::learned:
            return fmt::format(
                "Learned vectors are added, here before training: p_i · p_j / √d_k is {} on "
                "average; with the content the score is {}.",
                alone_text(scores[kind], distance), score);
        case PositionKind::rotary:
            return rotary_text(scores, distance);
        case PositionKind::alibi:
            return alibi_text(scores, distance);
    }
    return {};
}

std::string positions_note(const PositionScores& scores) {
    std::string same, other;
    for (const PositionKind kind :
         {PositionKind::rotary, PositionKind::sinusoidal, PositionKind::learned}) {
        const double most = widest(scores[kind]);
        if (differ(most, 0.0, scores))
            other += fmt::format("{}{} by up to {}", other.empty() ? "" : ", ", title_of(kind),
                                 digits(most));
        else
            same += fmt::format("{}, ", title_of(kind));
    }
    return fmt::format(
        "These scores depend only on the distance: {}ALiBi in each head.{} q = k = x "
        "is random, ‖x‖² = d_k; {} queries.",
        same,
        other.empty() ? "" : " At one distance, these still vary between queries: " + other + ".",
        kPositionQueries);
}

PositionsView build_positions_view(const AppState& state) {
    PositionsView view;
    view.controls = positions_controls(state);
    const auto scores = scores_of(state);
    const PositionKind kind = view.controls.kind;
    const Index distance = view.controls.distance;
    view.sentence = positions_sentence(*scores, kind, distance);
    view.muted =
        "Without a mask, attention alone ignores the order of the tokens. A positional encoding "
        "makes each score depend on positions.";
    view.note = positions_note(*scores);
    view.hero = plot_of(*scores, kind, view.controls, Detail::all);
    for (const PositionKind each : kKinds)
        view.plots[static_cast<std::size_t>(each)] =
            plot_of(*scores, each, view.controls, Detail::little);
    Extent own, common;
    own.take(view.hero);
    set_y_axis(view.hero, own, 8);
    for (const PlotView& plot : view.plots) common.take(plot);
    for (PlotView& plot : view.plots) set_y_axis(plot, common, 4);
    add_picture(state, *scores, view);
    return view;
}

InspectorView positions_inspector(const AppState& state) {
    const auto scores = scores_of(state);
    const PositionsControls& controls = positions_controls(state);
    const Explained cell{*scores, controls.kind, controls.distance};
    InspectorView view;
    view.empty = false;
    view.title = fmt::format("{} at distance {}", title_of(cell.kind), cell.distance);
    view.value = number(cell.at(cell.of().mean));
    view.role = role_of(cell.kind);
    view.tex = tex_of(cell.kind);
    view.formula = tex::plain_text(view.tex);
    view.add("Δ", fmt::format("|j − i| = {}", cell.distance));
    std::vector<double> terms;
    explain(cell, view, terms);
    std::vector<std::string> exact_terms;
    for (const double term : terms) exact_terms.push_back(exact(term));
    view.as_text = text_of(view);
    view.as_latex = fmt::format("${}$, $s = {}$\n", view.tex, exact(cell.at(cell.of().mean)));
    view.as_python = fmt::format("print(sum([{}]))\n", fmt::join(exact_terms, ", "));
    return view;
}

}  // namespace attn::view
