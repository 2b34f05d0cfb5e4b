#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/common/format.h"
#include "app/workspaces/positions/view.h"
#include "core/scores/score.h"
#include "core/tex.h"

namespace attn::view {
namespace {

/// What the inspector explains: scores of one kind at one distance.
struct Explained {
    const PositionScores& scores;
    PositionKind kind;
    Index distance;

    const DistanceScores& of() const { return scores[kind]; }
    double at(const std::vector<double>& values) const {
        return values[static_cast<std::size_t>(distance)];
    }
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

/// ‖x_c‖² of the two columns that turn together; 1 where only the angles count.
double length_of(const Explained& cell, Index c) {
    if (cell.kind != PositionKind::rotary) return 1.0;
    const double a = cell.scores.x[static_cast<std::size_t>(c)];
    const double b = cell.scores.x[static_cast<std::size_t>(c + cell.scores.of.d_k / 2)];
    return a * a + b * b;
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
        TableRow row = row_of(std::to_string(c), {number(angle), number(std::cos(angle)),
                                                  number(length), number(terms.back())});
        row.bar = std::cos(angle);
        table.rows.push_back(std::move(row));
    }
    table.total = row_of("Σ", {"", "", "", number(sum)});
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
        table.rows.push_back(row_of(std::to_string(h), {number(slope), number(taken),
                                                        number(cell.scores.content - taken)}));
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
    view.add("x · x / √d_k", number(own));
    view.add("x · (p_i + p_j) / √d_k", number(mixed) + ", mean over queries");
    view.add("p_i · p_j / √d_k", number(vectors));
    view.add("least … most", fmt::format("{} … {}", number(cell.at(cell.of().low)),
                                         number(cell.at(cell.of().high))));
}

void explain(const Explained& cell, InspectorView& view, std::vector<double>& terms) {
    const PositionSettings& of = cell.scores.of;
    std::vector<double> products;
    if (cell.kind == PositionKind::alibi) {
        const double slope = alibi_slope(of.head, of.heads);
        terms = {cell.scores.content, -slope * static_cast<double>(cell.distance)};
        view.add("x · x / √d_k", number(cell.scores.content));
        view.add("m", fmt::format("{} of head {} of {}", number(slope), of.head, of.heads));
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
                 fmt::format("{}^(−2c/{}) radians a position", significant(of.base, 6), of.d_k));
}

}  // namespace

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
