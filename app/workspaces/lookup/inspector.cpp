#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "app/common/expr.h"
#include "app/common/format.h"
#include "app/common/words.h"
#include "app/workspaces/lookup/compute.h"
#include "app/workspaces/lookup/grids.h"
#include "app/workspaces/lookup/words.h"
#include "app/workspaces/lookup/workspace.h"
#include "core/tex.h"

namespace attn::view {
namespace {

void add_line(std::vector<Line>& lines, std::string label, std::vector<Piece> pieces) {
    lines.push_back({std::move(label), std::move(pieces)});
}

std::string signed_factor(double value) { return factor(number(value)); }

/// s, s − max, exp and share of every pair.
InspectorTable softmax_table(const LookupControls& controls, const MemoryRead& read, Index chosen) {
    InspectorTable table;
    table.label = "key";
    table.columns = {
        {"q·k", Role::score}, {"s − max", Role::score}, {"exp", {}}, {"weight", Role::weight}};
    std::vector<double> scaled, below, powers;
    for (const double score : read.scores) scaled.push_back(score / controls.temperature);
    const double most = std::ranges::max(scaled);
    for (const double each : scaled) {
        below.push_back(each - most);
        powers.push_back(std::exp(each - most));
    }
    const auto scores = column_texts(read.scores);
    const auto differences = column_texts(below);
    const auto exps = column_texts(powers);
    const auto weights = column_texts(read.weights);
    for (std::size_t n = 0; n < read.scores.size(); ++n) {
        TableRow row;
        row.label = shown_token(controls.pairs[n].key, kMostNamed);
        row.cells = {{scores[n], Role::score, {}},
                     {differences[n], Role::score, {}},
                     {exps[n], {}, {}},
                     {weights[n], Role::weight, {}}};
        row.chosen = static_cast<Index>(n) == chosen;
        row.bar = read.weights[n];
        table.rows.push_back(std::move(row));
    }
    double sum = 0.0;
    for (const double each : powers) sum += each;
    table.total = TableRow{"Σ",
                           {{"", {}, {}}, {"", {}, {}}, {number(sum), {}, {}}, {"1.00", {}, {}}},
                           false,
                           false,
                           0.0};
    return table;
}

void add_score(InspectorView& view, const LookupControls& controls, const MemoryRead& read,
               Index n) {
    const LookupPair& pair = controls.pairs[static_cast<std::size_t>(n)];
    const PlanePoint& q = controls.query;
    const double score = read.scores[static_cast<std::size_t>(n)];
    add_line(view.lines, "q·k",
             {Piece{fmt::format("{}·{} + {}·{}", signed_factor(q[0]), signed_factor(pair.k[0]),
                                signed_factor(q[1]), signed_factor(pair.k[1]))},
              Piece{" = " + number(score), Role::score}});
    add_line(view.lines, "÷ τ",
             {Piece{fmt::format("{} / {}", number(score), number(controls.temperature))},
              Piece{" = " + number(score / controls.temperature), Role::score}});
    add_line(view.lines, "weight a",
             {Piece{"exp(s − max) / Σ"},
              Piece{" = " + number(read.weights[static_cast<std::size_t>(n)]), Role::weight}});
}

void add_value(InspectorView& view, const LookupControls& controls, const MemoryRead& read,
               Index n) {
    const LookupPair& pair = controls.pairs[static_cast<std::size_t>(n)];
    const double a = read.weights[static_cast<std::size_t>(n)];
    add_line(view.lines, "a v",
             {Piece{fmt::format("{} · {}", number(a), point_words(pair.v))},
              Piece{fmt::format(" = ({}, {})", number(a * pair.v[0]), number(a * pair.v[1])),
                    Role::value}});
    add_line(view.lines, "o = Σ a v",
             {Piece{fmt::format("({}, {})", number(read.output[0]), number(read.output[1])),
                    Role::output}});
}

void add_geometry(InspectorView& view, const LookupControls& controls, const MemoryRead& read,
                  Index n) {
    const LookupPair& pair = controls.pairs[static_cast<std::size_t>(n)];
    const double cosine = read.cosines[static_cast<std::size_t>(n)];
    add_line(view.geometry, "‖q‖",
             {Piece{number(std::hypot(controls.query[0], controls.query[1])), Role::query}});
    add_line(view.geometry, "‖k‖", {Piece{number(std::hypot(pair.k[0], pair.k[1])), Role::key}});
    add_line(view.geometry, "cos θ = q·k / (‖q‖ ‖k‖)",
             {Piece{std::isnan(cosine) ? "none: a length is 0" : number(cosine), Role::score}});
}

InspectorView memory_inspector(const AppState& state) {
    const LookupControls& controls = lookup_controls(state);
    const MemoryRead read = memory_read(controls);
    const Index n = lookup_look(state).hovered.value_or(lookup_look(state).pair);
    const LookupPair& pair = controls.pairs[static_cast<std::size_t>(n)];
    InspectorView view;
    view.empty = false;
    view.role = Role::weight;
    view.title = fmt::format("{} → {}", shown_token(pair.key, kMostNamed),
                             shown_token(pair.value, kMostNamed));
    view.value = number(read.weights[static_cast<std::size_t>(n)]);
    view.tex = "a_j = \\frac{\\exp(q \\cdot k_j / \\tau)}{\\sum_i \\exp(q \\cdot k_i / \\tau)}";
    view.formula = "a_j = exp(q·k_j / τ) / Σ_i exp(q·k_i / τ)";
    add_score(view, controls, read, n);
    add_value(view, controls, read, n);
    add_geometry(view, controls, read, n);
    view.table = softmax_table(controls, read, n);
    view.as_text = text_of(view);
    return view;
}

// ---- the document's tokens

std::string pair_title(const AppState& state) {
    std::string title = cell_sentence(state);
    title.pop_back();  // its full stop
    return title;
}

InspectorView similarity_inspector(const AppState& state) {
    InspectorView view;
    view.hint = page_hint(lookup_look(state).page);
    const SimilarityResult* const result = shown_similarity(state);
    const LookupLook& look = lookup_look(state);
    if (result == nullptr || !result->fault.empty() || look.row >= result->dot.shape().t ||
        look.column >= result->dot.shape().d)
        return view;
    const auto at = [&](const Tensor& of) { return double{of(0, 0, look.row, look.column)}; };
    view.empty = false;
    view.role = Role::score;
    view.title = pair_title(state);
    const double dot = at(result->dot);
    const double cosine = at(result->cosine);
    view.value = number(lookup_controls(state).measure == SimilarityMeasure::dot ? dot : cosine);
    view.formula = "cosine = q·k / (‖q‖ ‖k‖)";
    view.tex = "\\cos \\theta = \\frac{q \\cdot k}{\\|q\\| \\|k\\|}";
    add_line(view.lines, "dot product", {Piece{number(dot), Role::score}});
    add_line(view.lines, "cosine", {Piece{number(cosine), Role::score}});
    add_line(view.lines, "‖q‖ ‖k‖ = dot / cosine",
             {Piece{cosine == 0.0 ? "not told by 0 / 0" : number(dot / cosine)}});
    const std::string tau = significant(result->temperature, 3);
    add_line(view.lines, fmt::format("softmax over keys, ÷ {}", tau),
             {Piece{fmt::format("dot {}, cosine {}", number(at(result->dot_rows)),
                                number(at(result->cosine_rows))),
                    Role::weight}});
    add_line(view.lines, fmt::format("softmax over queries, ÷ {}", tau),
             {Piece{fmt::format("dot {}, cosine {}", number(at(result->dot_columns)),
                                number(at(result->cosine_columns))),
                    Role::weight}});
    const bool square =
        result->dot.shape().t == result->dot.shape().d && state.document().tokens_kv.empty();
    if (square)
        add_line(
            view.lines, "the other way round",
            {Piece{fmt::format("dot {}", number(double{result->dot(0, 0, look.column, look.row)})),
                   Role::score}});
    view.as_text = text_of(view);
    return view;
}

InspectorView permutation_inspector(const AppState& state) {
    InspectorView view;
    view.hint = page_hint(lookup_look(state).page);
    const PermutationResult* const result = lookup_look(state).permutation.get();
    const LookupLook& look = lookup_look(state);
    if (result == nullptr || !result->fault.empty() || look.row >= result->before.shape().t ||
        look.column >= result->before.shape().d)
        return view;
    const auto place = [&](Index token) {
        return std::ranges::find(result->order, token) - result->order.begin();
    };
    const double before = result->before(0, 0, look.row, look.column);
    const double after = result->after(0, 0, look.row, look.column);
    const Index row = result->keys_only ? look.row : place(look.row);
    view.empty = false;
    view.role = Role::weight;
    view.title = pair_title(state);
    view.value = number(after);
    view.formula = "A(P X) = P A(X) Pᵀ";
    view.tex = "A(P X) = P A(X) P^\\top";
    add_line(view.lines, "weight before",
             {Piece{fmt::format("row {}, column {}", look.row, look.column)},
              Piece{" = " + exact(static_cast<float>(before)), Role::weight}});
    add_line(view.lines, "weight after",
             {Piece{fmt::format("row {}, column {}", row, place(look.column))},
              Piece{" = " + exact(static_cast<float>(after)), Role::weight}});
    add_line(view.lines, "after − before",
             {Piece{after == before ? "exactly 0" : significant(after - before, 3), Role::score}});
    add_line(view.lines, "largest of all",
             {Piece{result->largest == 0.0 ? "exactly 0" : significant(result->largest, 3),
                    Role::score}});
    if (!std::isnan(result->largest_float64))
        add_line(view.lines, "the same in float64",
                 {Piece{result->largest_float64 == 0.0 ? "exactly 0"
                                                       : significant(result->largest_float64, 3),
                        Role::score}});
    view.as_text = text_of(view);
    return view;
}

InspectorView capacity_inspector(const AppState& state) {
    InspectorView view;
    view.hint = page_hint(LookupPage::capacity);
    const CapacityCurves& curves = capacity_curves(state);
    if (!curves.points || curves.of != lookup_controls(state).capacity) return view;
    const auto found =
        std::ranges::find(*curves.points, lookup_controls(state).width, &CapacityPoint::d_k);
    if (found == curves.points->end()) return view;
    view.empty = false;
    view.role = Role::weight;
    view.title = fmt::format("{} pairs, d_k = {}", curves.of.pairs, found->d_k);
    view.value = percent(found->interference.median);
    view.formula = "interference = Σ a_ij over j ≠ i, a_i = softmax(k_i·k_j / τ)";
    view.tex = "\\sum_{j \\ne i} a_{ij}";
    const auto drawn = [&](const char* label, const DrawnNumber& of) {
        add_line(view.lines, label,
                 {Piece{number(of.median), Role::weight},
                  Piece{fmt::format("  ({} to {})", number(of.low), number(of.high))}});
    };
    drawn("interference, mean", found->interference);
    drawn("interference, worst pair", found->worst);
    drawn("recall error ‖o − v‖", found->error);
    drawn("cosine of the nearest keys", found->near_cosine);
    add_line(view.lines, "mean of (k_i·k_j)²", {Piece{number(found->mean_square), Role::score}});
    add_line(view.lines, "1/d_k",
             {Piece{number(1.0 / static_cast<double>(found->d_k)), Role::score}});
    add_line(view.geometry, "draws",
             {Piece{fmt::format("{} from seed {}: median (smallest to largest)", curves.of.draws,
                                curves.of.seed)}});
    view.as_text = text_of(view);
    return view;
}

}  // namespace

InspectorView lookup_inspector(const AppState& state) {
    switch (lookup_look(state).page) {
        case LookupPage::memory:
            return memory_inspector(state);
        case LookupPage::capacity:
            return capacity_inspector(state);
        case LookupPage::permutation:
            return permutation_inspector(state);
        case LookupPage::similarity:
        case LookupPage::alignment:
            break;
    }
    return similarity_inspector(state);
}

}  // namespace attn::view
