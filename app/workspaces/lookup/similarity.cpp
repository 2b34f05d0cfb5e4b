#include <cmath>

#include <fmt/format.h>

#include "app/common/document/document.h"
#include "app/common/format.h"
#include "app/common/pair.h"
#include "app/common/pair_grid.h"
#include "app/common/sheet.h"
#include "app/common/state.h"
#include "app/workspaces/lookup/compute.h"
#include "app/workspaces/lookup/view.h"
#include "core/metrics.h"
#include "core/stages.h"

namespace attn::view {
namespace {

constexpr std::size_t kMostDisagreements = 4;  // named
constexpr double kRounding = 1e-6;             // of a sum of products in float32

std::string measure_title(const SimilarityView& view, const Document& document, bool scaled) {
    const bool qk = view.of == SimilarityOf::qk;
    const bool normed = document.spec.qk_norm.has_value();
    const char* const one = !qk ? "x_i" : document.spec.rope ? "q′_i" : normed ? "qⁿ_i" : "q_i";
    const char* const other = qk                              ? document.spec.rope ? "k′_j"
                                                                : normed           ? "kⁿ_j"
                                                                                   : "k_j"
                              : document.inputs->x_kv.empty() ? "x_j"
                                                              : "x_kv,j";
    return view.measure == SimilarityMeasure::dot
               ? fmt::format("{} · {}{}", one, other, scaled ? " ÷ √d_k" : "")
               : fmt::format("cosine: {0} · {1} / (‖{0}‖ ‖{1}‖)", one, other);
}

/// max |S − Sᵀ| and where; NaN where one is.
struct Asymmetry {
    double value = 0.0, size = 0.0;  // of the largest finite |S|
    Index row = 0, column = 0;

    bool is_rounding() const { return std::isfinite(value) && value <= kRounding * size; }
};
/// nullopt: rows and columns are other tokens.
std::optional<Asymmetry> asymmetry_of(const Document& document, MatrixView<const float> s) {
    if (s.rows != s.columns || key_stage(document) != Stage::x) return std::nullopt;
    Asymmetry most;
    for (Index i = 0; i < s.rows; ++i)
        for (Index j = 0; j <= i; ++j) {
            const bool same = s(i, j) == s(j, i);  // ∞ too
            const double by = same ? 0.0 : std::abs(double{s(i, j)} - double{s(j, i)});
            if (std::isfinite(s(i, j))) most.size = std::max(most.size, std::abs(double{s(i, j)}));
            if (std::isnan(by)) return Asymmetry{by, by, i, j};
            if (by > most.value) most = {by, most.size, i, j};
        }
    return most;
}

/// Whether S = Sᵀ, in numbers.
std::string symmetry_text(const AppState& state, MatrixView<const float> s, const char* name) {
    const auto most = asymmetry_of(state.document(), s);
    if (!most)
        return fmt::format(
            "{} is {}: its rows and columns are different tokens, so symmetry is not defined.",
            name, size(s.rows, s.columns));
    if (std::isnan(most->value))
        return fmt::format("{} has a NaN, so its symmetry is not defined.", name);
    if (s.rows < 2) return fmt::format("{} is one number, so it is symmetric.", name);
    if (most->is_rounding())
        return fmt::format("{} is symmetric: max |{} − {}ᵀ| is {}.", name, name, name,
                           most->value == 0.0 ? "exactly 0" : number(most->value) + ", rounding");
    const Index row = most->row, column = most->column;
    return fmt::format("{} is not symmetric: max |{} − {}ᵀ| = {}: {} is {} and {} is {}.", name,
                       name, name, number(most->value), pair_name(state, {row, column}),
                       number(s(row, column)), pair_name(state, {column, row}),
                       number(s(column, row)));
}

/// Of A, the softmax of S: with why it is not symmetric where S is.
std::string shares_symmetry_text(const AppState& state, MatrixView<const float> scores,
                                 MatrixView<const float> shares, SimilaritySoftmax over) {
    const std::string text = symmetry_text(state, shares, "A");
    const auto s = asymmetry_of(state.document(), scores);
    const auto a = asymmetry_of(state.document(), shares);
    if (!s || !a || !s->is_rounding() || std::isnan(a->value) || a->is_rounding()) return text;
    return fmt::format(
        "{} S is symmetric: softmax breaks it, because each {} is divided by its own sum.", text,
        over == SimilaritySoftmax::rows ? "row" : "column");
}

/// Whether W_Q and W_K could be one matrix, in numbers; "" where scores are not made from X by them.
std::string merged_text(const Document& document) {
    const Inputs& inputs = *document.inputs;
    const Tensor& w_q = inputs.params[Param::w_q];
    const Tensor& w_k = inputs.params[Param::w_k];
    if (!inputs.projects() || w_q.empty() || w_k.empty()) return {};
    if (document.spec.qk_norm)
        return "QK-norm divides each query and key by its own root mean square, so W_Q and W_K "
               "cannot be merged into one matrix.";
    if (document.spec.rope)
        return "RoPE rotates queries and keys by position, so W_Q and W_K cannot be merged into "
               "one matrix.";
    const Index d_k = document.size.d_k;
    const Index rows = w_q.shape().t, columns = w_k.shape().t;
    const bool biased = !inputs.params[Param::b_q].empty() || !inputs.params[Param::b_k].empty();
    const std::string same =
        key_stage(document) == Stage::x && !biased ? " W_Q = W_K would make S symmetric." : "";
    return fmt::format(
        "S depends only on the product W_Q W_Kᵀ of a head{}: a {} matrix of rank at most {} with "
        "{} numbers; W_Q and W_K together have {}.{}",
        biased ? " and on the biases" : "", size(rows, columns), std::min({d_k, rows, columns}),
        grouped(rows * columns), grouped((rows + columns) * d_k), same);
}

/// The keys of the largest number of a row. Empty if the row has a NaN or no entries.
std::vector<Index> largest_in_row(MatrixView<const float> values, Index row) {
    if (row >= values.rows || values.columns == 0) return {};
    const auto entries = values.row(row);
    if (std::ranges::any_of(entries, [](float v) { return std::isnan(v); })) return {};
    return largest_places(entries, kRounding);
}

/// Of a query, by each measure one of those that tie, the same where one is the best by both.
struct BestKeys {
    Index query = 0, dot = 0, cosine = 0;
    Index other_dots = 0, other_cosines = 0;  // that tie with it
};
/// nullopt where a similarity is NaN.
std::optional<BestKeys> best_keys(const SimilarityResult& result, Index query) {
    const auto dots = largest_in_row(result.dot.matrix(0, 0), query);
    const auto cosines = largest_in_row(result.cosine.matrix(0, 0), query);
    if (dots.empty() || cosines.empty()) return std::nullopt;
    BestKeys best{query, dots.front(), cosines.front(), std::ssize(dots) - 1,
                  std::ssize(cosines) - 1};
    const auto both = std::ranges::find_first_of(dots, cosines);
    if (both != dots.end()) best.dot = best.cosine = *both;
    return best;
}

std::string disagreement_text(const AppState& state, const SimilarityResult& result) {
    std::vector<BestKeys> all;
    Index rows = 0;
    bool ties = false;
    for (Index i = 0; i < result.dot.shape().t; ++i) {
        const auto best = best_keys(result, i);
        if (!best) continue;
        ++rows;
        ties = ties || best->other_dots + best->other_cosines > 0;
        if (best->dot != best->cosine) all.push_back(*best);
    }
    if (rows == 0) return "Every row has a NaN, so no row has a best key.";
    const std::string of_rows = rows == result.dot.shape().t
                                    ? fmt::format("{} rows", rows)
                                    : fmt::format("{} rows without NaN", rows);
    if (all.empty())
        return fmt::format(
            "“Similar” and “largest dot product” agree{}: {} largest dot product {} largest "
            "cosine.",
            rows == 1 ? "" : fmt::format(" in all {}", of_rows),
            ties ? "a key of the" : "the key of the", ties ? "is one of the" : "is that of the");
    std::string text = fmt::format(
        "“Similar” is not “largest dot product”: the best key differs in {} of {}:", all.size(),
        of_rows);
    for (std::size_t n = 0; n < std::min(all.size(), kMostDisagreements); ++n)
        text += fmt::format("{} {} (dot {}, cosine {})", n == 0 ? "" : ";",
                            axis_label(state, Axis::query, all[n].query),
                            axis_label(state, Axis::key, all[n].dot),
                            axis_label(state, Axis::key, all[n].cosine));
    return text + (all.size() > kMostDisagreements ? "; …" : ".");
}

/// The largest entry, in words.
std::string largest_description(const AppState& state, const SimilarityView& view,
                                MatrixView<const float> s) {
    std::vector<float> all;
    for (Index i = 0; i < s.rows; ++i) all.insert(all.end(), s.row(i).begin(), s.row(i).end());
    const auto places = largest_places(std::span<const float>(all), kRounding);
    if (places.empty()) return "Every similarity is NaN.";
    const Index row = places.front() / s.columns, column = places.front() % s.columns;
    const char* const by = view.measure == SimilarityMeasure::dot ? "dot product" : "cosine";
    const std::string name = pair_name(state, {row, column});
    const Index pairs = std::ranges::count_if(all, [](float value) { return !std::isnan(value); });
    if (pairs == 1)
        return fmt::format("The only pair is {}, with {} {}.", name, by, number(s(row, column)));
    if (std::ssize(places) == pairs)
        return fmt::format("All {} pairs have the same {}, {}.", grouped(pairs), by,
                           number(s(row, column)));
    return fmt::format(
        "Of {} pairs{}, {}{} most similar by {}: {}.", grouped(pairs),
        pairs == std::ssize(all) ? "" : " that are not NaN", name,
        places.size() == 1
            ? " is the"
            : fmt::format(" and {} are the", counted(std::ssize(places) - 1, "other pair")),
        by, number(s(row, column)));
}

void add_grids(const AppState& state, const SimilarityResult& result, SimilarityView& view) {
    const std::string title = measure_title(view, state.document(), result.scaled);
    view.body.grids = {lookup_grid(
        state,
        {result.scores(view.measure).matrix(0, 0), ColorScale::diverging, Role::score,
         "S = " + title,
         result.scaled ? "Every query against every key, each × d_k^(−¼), without mask or values."
                       : "Every query against every key, without scaling, mask or values."})};
    if (view.softmax == SimilaritySoftmax::none) return;
    const bool rows = view.softmax == SimilaritySoftmax::rows;
    view.body.grids.push_back(lookup_grid(
        state,
        {result.shown(view.measure, view.softmax).matrix(0, 0), ColorScale::unit, Role::weight,
         fmt::format("softmax over {} of S / {}", rows ? "keys" : "queries", view.tau),
         rows ? "Each row sums to 1: which key a query finds."
              : "Each column sums to 1: which query a key finds."}));
}

SimilarityView base_view(const AppState& state) {
    SimilarityView view;
    const LookupControls& controls = lookup_controls(state);
    view.of = controls.of;
    view.measure = controls.measure;
    view.softmax = controls.softmax;
    view.temperature = controls.similarity_temperature;
    view.tau = significant(view.temperature, 3);
    return view;
}

/// "; 2 other keys tie".
std::string ties_text(Index others) {
    if (others == 0) return {};
    return fmt::format("; {} {}", counted(others, "other key"), others == 1 ? "ties" : "tie");
}

std::string row_tip(const AppState& state, const SimilarityResult& result,
                    const AlignmentRowView& row, Index query) {
    if (row.none) return "A similarity of this query is NaN, so it has no best key.";
    const auto dot = result.dot.matrix(0, 0);
    const auto cosine = result.cosine.matrix(0, 0);
    const auto one = [&](const char* name, Index key, Index others) {
        return fmt::format("{}: {}, dot {}, cosine {}{}", name, axis_label(state, Axis::key, key),
                           number(dot(query, key)), number(cosine(query, key)), ties_text(others));
    };
    const auto best = best_keys(result, query);
    return one("largest dot", row.dot, best->other_dots) + "\n" +
           one("largest cosine", row.cosine, best->other_cosines);
}

/// Of the query that is looked at.
std::string query_text(const AppState& state, const SimilarityResult& result, Index query) {
    const auto best = best_keys(result, query);
    const std::string name = axis_label(state, Axis::query, query);
    if (!best) return fmt::format("{} has a NaN similarity, so it is aligned with no key.", name);
    const auto dot = result.dot.matrix(0, 0).row(query);
    const auto cosine = result.cosine.matrix(0, 0).row(query);
    const std::string key = axis_label(state, Axis::key, best->dot);
    const auto by_dot = static_cast<std::size_t>(best->dot);
    const auto by_cosine = static_cast<std::size_t>(best->cosine);
    const std::string dots = ties_text(best->other_dots);
    const std::string cosines = ties_text(best->other_cosines);
    if (by_dot == by_cosine)
        return fmt::format("“{}” is aligned with “{}”, by dot product ({}{}) and by cosine ({}{}).",
                           name, key, number(dot[by_dot]), dots, number(cosine[by_cosine]),
                           cosines);
    return fmt::format(
        "“{}” is aligned with “{}” by dot product ({}, cosine {}{}), with “{}” by cosine ({}, dot "
        "{}{}).",
        name, key, number(dot[by_dot]), number(cosine[by_dot]), dots,
        axis_label(state, Axis::key, best->cosine), number(cosine[by_cosine]),
        number(dot[by_cosine]), cosines);
}

}  // namespace

GridView lookup_grid(const AppState& state, const LookupGrid& of) {
    GridView grid = pair_grid(state, of.values, {of.colors, false, {}}, of.title);
    grid.role = of.role;
    grid.tooltip = of.tooltip;
    look_at(grid, {lookup_look(state).row, lookup_look(state).column});
    return grid;
}

SimilarityView build_similarity_view(const AppState& state) {
    SimilarityView view = base_view(state);
    const SimilarityResult* const result = lookup_look(state).similarity.get();
    view.body.missing_data = missing_data_text(result);
    if (!view.body.missing_data.empty()) return view;
    const Document& document = state.document();
    const auto scores = result->scores(view.measure).matrix(0, 0);
    view.body.point = largest_description(state, view, scores);
    view.body.notes = {symmetry_text(state, scores, "S"), disagreement_text(state, *result)};
    const bool product = view.of == SimilarityOf::qk && view.measure == SimilarityMeasure::dot;
    if (const std::string merged = merged_text(document); product && !merged.empty())
        view.body.notes.push_back(merged);
    if (view.softmax != SimilaritySoftmax::none)
        view.body.notes.push_back(shares_symmetry_text(
            state, scores, result->shown(view.measure, view.softmax).matrix(0, 0), view.softmax));
    add_grids(state, *result, view);
    return view;
}

AlignmentView build_alignment_view(const AppState& state) {
    AlignmentView view;
    view.towers = base_view(state);
    const SimilarityResult* const result = lookup_look(state).similarity.get();
    view.body.missing_data = missing_data_text(result);
    if (!view.body.missing_data.empty()) return view;
    const auto dot = result->dot.matrix(0, 0);
    const auto queries = axis_labels(state, Axis::query, dot.rows);
    view.keys = axis_labels(state, Axis::key, dot.columns);
    for (Index i = 0; i < dot.rows; ++i) {
        AlignmentRowView row;
        row.query = queries[i];
        const auto best = best_keys(*result, i);
        row.none = !best;
        row.dot = best ? best->dot : 0;
        row.cosine = best ? best->cosine : 0;
        row.agree = row.dot == row.cosine;
        row.tooltip = row_tip(state, *result, row, i);
        view.rows.push_back(std::move(row));
    }
    view.row = std::min<Index>(lookup_look(state).row, std::max<Index>(dot.rows, 1) - 1);
    view.column = lookup_look(state).column;
    view.body.point = query_text(state, *result, view.row);
    view.body.notes = {disagreement_text(state, *result)};
    return view;
}

}  // namespace attn::view
