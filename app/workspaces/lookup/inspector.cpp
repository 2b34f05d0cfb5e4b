#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "app/common/explain/expr.h"
#include "app/common/format.h"
#include "app/common/sheet.h"
#include "app/common/state.h"
#include "app/workspaces/lookup/actions.h"
#include "app/workspaces/lookup/compute.h"
#include "app/workspaces/lookup/text.h"
#include "app/workspaces/lookup/view.h"
#include "core/note.h"
#include "core/tex.h"

namespace attn::view {
namespace {

/// Cosine, s, s − max, exp and share of every pair; a click chooses the pair.
InspectorTable softmax_table(const LookupControls& controls, const MemoryRead& read, Index chosen) {
    InspectorTable table;
    table.label = "key";
    table.columns = {{"cos", Role::score, true},
                     {"q·k", Role::score},
                     {"s − max", Role::score, true},
                     {"exp", {}},
                     {"weight", Role::weight}};
    std::vector<double> scaled, below, powers;
    for (const double score : read.scores) scaled.push_back(score / controls.temperature);
    const double most = std::ranges::max(scaled);
    for (const double each : scaled) {
        below.push_back(each - most);
        powers.push_back(std::exp(each - most));
    }
    const auto cosines = column_texts(read.cosines);
    const auto scores = column_texts(read.scores);
    const auto differences = column_texts(below);
    const auto exps = column_texts(powers);
    const auto weights = column_texts(read.weights);
    for (std::size_t n = 0; n < read.scores.size(); ++n) {
        table.rows.push_back({shown_token(controls.pairs[n].key, kMostNamed),
                              {{std::isnan(read.cosines[n]) ? "–" : cosines[n], Role::score, {}},
                               {scores[n], Role::score, {}},
                               {differences[n], Role::score, {}},
                               {exps[n], {}, {}},
                               {weights[n], Role::weight, {}}},
                              static_cast<Index>(n) == chosen,
                              false,
                              read.weights[n]});
        for (TableCell& cell : table.rows.back().cells)
            cell.on_click = {SelectLookupPair{static_cast<Index>(n)}};
    }
    const double sum = std::accumulate(powers.begin(), powers.end(), 0.0);
    table.total = TableRow{"Σ", {{}, {}, {}, {number(sum), {}, {}}, {"1.00", {}, {}}}};
    return table;
}

/// The pair's arithmetic, and its geometry.
void add_pair(InspectorView& view, const LookupControls& controls, const MemoryRead& read,
              std::size_t n) {
    const auto& [key, value, k, v] = controls.pairs[n];
    const PlanePoint& q = controls.query;
    const double score = read.scores[n];
    const double a = read.weights[n];
    const double cosine = read.cosines[n];
    const auto of = [](double x) { return factor(number(x)); };
    view.lines = {
        {"q·k",
         {Piece{fmt::format("{}·{} + {}·{}", of(q[0]), of(k[0]), of(q[1]), of(k[1]))},
          Piece{" = " + number(score), Role::score}}},
        {"÷ τ",
         {Piece{fmt::format("{} / {}", number(score), number(controls.temperature))},
          Piece{" = " + number(score / controls.temperature), Role::score}}},
        {"weight a", {Piece{"exp(s − max) / Σ"}, Piece{" = " + number(a), Role::weight}}},
        {"a v",
         {Piece{fmt::format("{} · {}", number(a), point_text(v))},
          Piece{fmt::format(" = ({}, {})", number(a * v[0]), number(a * v[1])), Role::value}}},
        {"o = Σ a v",
         {Piece{fmt::format("({}, {})", number(read.output[0]), number(read.output[1])),
                Role::output}}}};
    view.geometry = {
        {"‖q‖", {Piece{number(std::hypot(q[0], q[1])), Role::query}}},
        {"‖k‖", {Piece{number(std::hypot(k[0], k[1])), Role::key}}},
        {"cos θ = q·k / (‖q‖ ‖k‖)",
         {Piece{std::isnan(cosine) ? "undefined: a vector has length 0" : number(cosine),
                Role::score}}},
        {"entropy H = −Σ a ln a", {Piece{number(read.entropy) + " nats", Role::weight}}}};
    view.title =
        fmt::format("{} → {}", shown_token(key, kMostNamed), shown_token(value, kMostNamed));
    view.value = number(a);
}

InspectorView memory_inspector(const AppState& state) {
    const LookupControls& controls = lookup_controls(state);
    const MemoryRead read = memory_read(controls);
    const Index n = lookup_look(state).hovered.value_or(lookup_look(state).pair);
    InspectorView view = titled({}, Role::weight);
    view.tex = "a_j = \\frac{\\exp(q \\cdot k_j / \\tau)}{\\sum_i \\exp(q \\cdot k_i / \\tau)}";
    view.formula = "a_j = exp(q·k_j / τ) / Σ_i exp(q·k_i / τ)";
    add_pair(view, controls, read, static_cast<std::size_t>(n));
    view.table = softmax_table(controls, read, n);
    return view;
}

// ---- the document's tokens

std::string pair_title(const AppState& state) {
    std::string title = cell_sentence(state);
    title.pop_back();  // its full stop
    return title;
}

InspectorView similarity_inspector(const AppState& state) {
    const SimilarityResult* const result = lookup_look(state).similarity.get();
    const LookupLook& look = lookup_look(state);
    if (result == nullptr || !result->fault.empty() || look.row >= result->dot.shape().t ||
        look.column >= result->dot.shape().d)
        return {};
    const auto at = [&](const Tensor& of) { return double{of(0, 0, look.row, look.column)}; };
    InspectorView view = titled(pair_title(state), Role::score);
    const double dot = at(result->dot);
    const double cosine = at(result->cosine);
    view.value = number(lookup_controls(state).measure == SimilarityMeasure::dot ? dot : cosine);
    view.formula = "cosine = q·k / (‖q‖ ‖k‖)";
    view.tex = "\\cos \\theta = \\frac{q \\cdot k}{\\|q\\| \\|k\\|}";
    const std::string tau = significant(result->temperature, 3);
    const auto both = [&](const Tensor& by_dot, const Tensor& by_cosine) {
        return Piece{fmt::format("dot {}, cosine {}", number(at(by_dot)), number(at(by_cosine))),
                     Role::weight};
    };
    const char* const product = result->scaled ? "dot product ÷ √d_k" : "dot product";
    view.lines = {{product, {Piece{number(dot), Role::score}}},
                  {"cosine", {Piece{number(cosine), Role::score}}},
                  {result->scaled ? "‖q‖ ‖k‖ ÷ √d_k = dot / cosine" : "‖q‖ ‖k‖ = dot / cosine",
                   {Piece{cosine == 0.0 ? "undefined: 0 / 0" : number(dot / cosine)}}},
                  {fmt::format("softmax over keys, ÷ {}", tau),
                   {both(result->dot_rows, result->cosine_rows)}},
                  {fmt::format("softmax over queries, ÷ {}", tau),
                   {both(result->dot_columns, result->cosine_columns)}}};
    if (result->dot.shape().t == result->dot.shape().d && key_stage(state.document()) == Stage::x) {
        const double back = result->dot(0, 0, look.column, look.row);
        view.lines.push_back(
            {"key and query swapped", {Piece{fmt::format("dot {}", number(back)), Role::score}}});
    }
    return view;
}

InspectorView permutation_inspector(const AppState& state) {
    const PermutationResult* const result = lookup_look(state).permutation.get();
    const LookupLook& look = lookup_look(state);
    if (result == nullptr || !result->fault.empty() || look.row >= result->before.shape().t ||
        look.column >= result->before.shape().d)
        return {};
    const auto place = [&](Index token) {
        return std::ranges::find(result->order, token) - result->order.begin();
    };
    const double before = result->before(0, 0, look.row, look.column);
    const double after = result->after(0, 0, look.row, look.column);
    const Index row = result->keys_only ? look.row : place(look.row);
    InspectorView view = titled(pair_title(state), Role::weight);
    view.value = number(after);
    view.formula = "A(P X) = P A(X) Pᵀ";
    view.tex = "A(P X) = P A(X) P^\\top";
    const auto weight = [](const char* label, Index i, Index j, double of) {
        return Line{label,
                    {Piece{fmt::format("row {}, column {}", i, j)},
                     Piece{" = " + exact(static_cast<float>(of)), Role::weight}}};
    };
    const auto difference = [](const char* label, double by) {
        return Line{label, {Piece{difference_text(by), Role::score}}};
    };
    view.lines = {weight("weight before", look.row, look.column, before),
                  weight("weight after", row, place(look.column), after),
                  difference("after − before", after - before),
                  difference("largest difference", result->largest)};
    if (!std::isnan(result->largest_float64))
        view.lines.push_back(difference("largest difference in float64", result->largest_float64));
    return view;
}

InspectorView capacity_inspector(const AppState& state) {
    const CapacityCurves& curves = capacity_curves(state);
    if (!curves.points || curves.of != lookup_controls(state).capacity) return {};
    const auto found =
        std::ranges::find(*curves.points, lookup_controls(state).width, &CapacityPoint::d_k);
    if (found == curves.points->end()) return {};
    InspectorView view =
        titled(fmt::format("{} pairs, d_k = {}", curves.of.pairs, found->d_k), Role::weight);
    view.value = percent(found->interference.median);
    view.formula = "interference = Σ a_ij over j ≠ i, a_i = softmax(k_i·k_j / τ)";
    view.tex = "\\sum_{j \\ne i} a_{ij}";
    const auto drawn = [&](const char* label, const DrawnNumber& of) {
        view.lines.push_back(
            {label,
             {Piece{number(of.median), Role::weight},
              Piece{fmt::format("  ({} to {})", number(of.low), number(of.high))}}});
    };
    drawn("interference, mean", found->interference);
    drawn("interference, worst pair", found->worst);
    drawn("recall error ‖o − v‖", found->error);
    drawn("cosine of the nearest keys", found->near_cosine);
    view.lines.push_back({"mean of (k_i·k_j)²", {Piece{number(found->mean_square), Role::score}}});
    view.lines.push_back(
        {"1/d_k", {Piece{number(1.0 / static_cast<double>(found->d_k)), Role::score}}});
    view.geometry = {{"draws",
                      {Piece{fmt::format("{} from seed {}: median (smallest to largest)",
                                         curves.of.draws, curves.of.seed)}}}};
    return view;
}

}  // namespace

InspectorView lookup_inspector(const AppState& state) {
    const LookupPage page = lookup_look(state).page;
    InspectorView view = page == LookupPage::memory        ? memory_inspector(state)
                         : page == LookupPage::capacity    ? capacity_inspector(state)
                         : page == LookupPage::permutation ? permutation_inspector(state)
                                                           : similarity_inspector(state);
    if (view.empty)
        view.hint = page_hint(page);
    else
        view.as_text = text_of(view);
    return view;
}

}  // namespace attn::view
