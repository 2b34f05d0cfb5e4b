#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "app/common/format.h"
#include "app/common/pair.h"
#include "app/common/pair_grid.h"
#include "app/workspaces/lookup/view.h"

namespace attn::view {
namespace {

constexpr std::size_t kMostDisagreements = 4;  // named

std::string measure_title(const SimilarityView& view, const Document& document) {
    const std::string both = view.of == SimilarityOf::qk
                                 ? document.spec.rope ? "q′_i · k′_j" : "q_i · k_j"
                             : document.inputs->x_kv.empty() ? "x_i · x_j"
                                                             : "x_i · x_kv,j";
    return view.measure == SimilarityMeasure::dot ? both
                                                  : fmt::format("cosine: {} / (‖ ‖ ‖ ‖)", both);
}

/// Whether S = Sᵀ, in numbers.
std::string symmetry_words(const AppState& state, MatrixView<const float> s, const char* name) {
    if (s.rows != s.columns || !state.document().tokens_kv.empty())
        return fmt::format(
            "{} is {}: its rows and columns are other tokens, so symmetry has no meaning.", name,
            size(s.rows, s.columns));
    double most = 0.0;
    Index row = 0, column = 0;
    for (Index i = 0; i < s.rows; ++i)
        for (Index j = 0; j < i; ++j) {
            const double by = std::abs(double{s(i, j)} - double{s(j, i)});
            if (std::isnan(by))
                return fmt::format("{} holds a NaN: nothing can be said of its symmetry.", name);
            if (by > most) most = by, row = i, column = j;
        }
    if (s.rows < 2) return fmt::format("{} is one number: symmetric by itself.", name);
    if (most == 0.0)
        return fmt::format("{} is symmetric: max |{} − {}ᵀ| is exactly 0.", name, name, name);
    return fmt::format("{} is not symmetric: max |{} − {}ᵀ| = {}: {} is {} and {} is {}.", name,
                       name, name, number(most), pair_name(state, {row, column}),
                       number(s(row, column)), pair_name(state, {column, row}),
                       number(s(column, row)));
}

/// Whether W_Q and W_K could be one matrix, in numbers; "" where scores are not made from X by them.
std::string merged_words(const Document& document) {
    const Inputs& inputs = *document.inputs;
    const Tensor& w_q = inputs.params[Param::w_q];
    const Tensor& w_k = inputs.params[Param::w_k];
    if (!inputs.projects() || w_q.empty() || w_k.empty()) return {};
    if (document.spec.rope)
        return "RoPE turns queries and keys by position between W_Q and W_K, so that no one matrix "
               "can take the place of both.";
    const Index d_k = document.size.d_k;
    const Index rows = w_q.shape().t, columns = w_k.shape().t;
    const bool biased = !inputs.params[Param::b_q].empty() || !inputs.params[Param::b_k].empty();
    const std::string same =
        document.tokens_kv.empty() && !biased ? " W_Q = W_K would make S symmetric." : "";
    return fmt::format(
        "Only the product W_Q W_Kᵀ of a head counts in S{}: as one matrix {} of rank at most {} it "
        "has {} numbers, as W_Q and W_K {}.{}",
        biased ? ", beside the biases" : "", size(rows, columns), std::min({d_k, rows, columns}),
        grouped(rows * columns), grouped((rows + columns) * d_k), same);
}

/// The column of the largest number of a row, the first on a tie; nullopt where one is NaN or there is none.
std::optional<Index> largest_in_row(MatrixView<const float> values, Index row) {
    if (row >= values.rows || values.columns == 0) return std::nullopt;
    const auto entries = values.row(row);
    if (std::ranges::any_of(entries, [](float v) { return std::isnan(v); })) return std::nullopt;
    return std::ranges::max_element(entries) - entries.begin();
}

struct BestKeys {
    Index query = 0, dot = 0, cosine = 0;
};
/// By dot product and by cosine; nullopt where a similarity is NaN.
std::optional<BestKeys> best_keys(const SimilarityResult& result, Index query) {
    const auto dot = largest_in_row(result.dot.matrix(0, 0), query);
    const auto cosine = largest_in_row(result.cosine.matrix(0, 0), query);
    if (!dot || !cosine) return std::nullopt;
    return BestKeys{query, *dot, *cosine};
}

std::vector<BestKeys> disagreements(const SimilarityResult& result) {
    std::vector<BestKeys> all;
    for (Index i = 0; i < result.dot.shape().t; ++i)
        if (const auto best = best_keys(result, i); best && best->dot != best->cosine)
            all.push_back(*best);
    return all;
}

std::string disagreement_words(const AppState& state, const SimilarityResult& result) {
    const auto all = disagreements(result);
    const Index rows = result.dot.shape().t;
    if (all.empty() && rows == 1)
        return "“Similar” and “largest dot” agree: one key has the largest dot product and the "
               "largest cosine.";
    if (all.empty())
        return fmt::format(
            "“Similar” and “largest dot” agree in all {} rows: the key of the largest dot "
            "product is that of the largest cosine.",
            rows);
    std::string words = fmt::format(
        "“Similar” is not “largest dot”: the best key differs in {} of {} rows:", all.size(), rows);
    for (std::size_t n = 0; n < std::min(all.size(), kMostDisagreements); ++n)
        words += fmt::format("{} {} (dot {}, cosine {})", n == 0 ? "" : ";",
                             axis_label(state, Axis::query, all[n].query),
                             axis_label(state, Axis::key, all[n].dot),
                             axis_label(state, Axis::key, all[n].cosine));
    return words + (all.size() > kMostDisagreements ? "; …" : ".");
}

/// The largest entry, in words.
std::string largest_words(const AppState& state, const SimilarityView& view,
                          MatrixView<const float> s) {
    std::optional<std::pair<Index, Index>> at;
    for (Index i = 0; i < s.rows; ++i)
        for (Index j = 0; j < s.columns; ++j)
            if (!std::isnan(s(i, j)) && (!at || s(i, j) > s(at->first, at->second))) at = {i, j};
    if (!at) return "Every similarity is NaN.";
    return fmt::format("Two towers, no values: of all {} pairs {} is the most similar by {}, {}.",
                       grouped(s.rows * s.columns), pair_name(state, {at->first, at->second}),
                       view.measure == SimilarityMeasure::dot ? "dot product" : "cosine",
                       number(s(at->first, at->second)));
}

void add_grids(const AppState& state, const SimilarityResult& result, SimilarityView& view) {
    const std::string title = measure_title(view, state.document());
    view.body.grids = {lookup_grid(
        state, {result.scores(view.measure).matrix(0, 0), ColorScale::diverging, Role::score,
                "S = " + title, "Every query against every key, without scale, mask or values."})};
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

std::string row_tip(const AppState& state, const SimilarityResult& result,
                    const AlignmentRowView& row, Index query) {
    if (row.none) return "A similarity of this query is NaN: it has no best key.";
    const auto dot = result.dot.matrix(0, 0);
    const auto cosine = result.cosine.matrix(0, 0);
    const auto one = [&](const char* name, Index key) {
        return fmt::format("{}: {}, dot {}, cosine {}", name, axis_label(state, Axis::key, key),
                           number(dot(query, key)), number(cosine(query, key)));
    };
    return one("largest dot", row.dot) + "\n" + one("largest cosine", row.cosine);
}

/// Of the query that is looked at.
std::string query_words(const AppState& state, const SimilarityResult& result, Index query) {
    const auto best = best_keys(result, query);
    const std::string name = axis_label(state, Axis::query, query);
    if (!best)
        return fmt::format("{} has a similarity that is NaN: it is aligned with no key.", name);
    const auto dot = result.dot.matrix(0, 0).row(query);
    const auto cosine = result.cosine.matrix(0, 0).row(query);
    const std::string key = axis_label(state, Axis::key, best->dot);
    const auto by_dot = static_cast<std::size_t>(best->dot);
    const auto by_cosine = static_cast<std::size_t>(best->cosine);
    if (by_dot == by_cosine)
        return fmt::format("{} is aligned with {}, by dot product ({}) and by cosine ({}).", name,
                           key, number(dot[by_dot]), number(cosine[by_cosine]));
    return fmt::format(
        "{} is aligned with {} by dot product ({}, cosine {}), with {} by cosine ({}, dot {}).",
        name, key, number(dot[by_dot]), number(cosine[by_dot]),
        axis_label(state, Axis::key, best->cosine), number(cosine[by_cosine]),
        number(dot[by_cosine]));
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
    view.body.lacks = lacks_words(result);
    if (!view.body.lacks.empty()) return view;
    const Document& document = state.document();
    const auto scores = result->scores(view.measure).matrix(0, 0);
    view.body.point = largest_words(state, view, scores);
    view.body.notes = {symmetry_words(state, scores, "S"), disagreement_words(state, *result)};
    const bool product = view.of == SimilarityOf::qk && view.measure == SimilarityMeasure::dot;
    if (const std::string merged = merged_words(document); product && !merged.empty())
        view.body.notes.push_back(merged);
    if (view.softmax != SimilaritySoftmax::none)
        view.body.notes.push_back(
            symmetry_words(state, result->shown(view.measure, view.softmax).matrix(0, 0), "A"));
    add_grids(state, *result, view);
    return view;
}

AlignmentView build_alignment_view(const AppState& state) {
    AlignmentView view;
    view.towers = base_view(state);
    const SimilarityResult* const result = lookup_look(state).similarity.get();
    view.body.lacks = lacks_words(result);
    if (!view.body.lacks.empty()) return view;
    const auto dot = result->dot.matrix(0, 0);
    const auto queries = axis_labels(state, Axis::query, dot.rows);
    view.keys = axis_labels(state, Axis::key, dot.columns);
    for (Index i = 0; i < dot.rows; ++i) {
        AlignmentRowView row;
        row.query = queries[static_cast<std::size_t>(i)];
        const auto by_dot = largest_in_row(dot, i);
        const auto by_cosine = largest_in_row(result->cosine.matrix(0, 0), i);
        row.none = !by_dot || !by_cosine;
        row.dot = by_dot.value_or(0);
        row.cosine = by_cosine.value_or(0);
        row.agree = row.dot == row.cosine;
        row.tooltip = row_tip(state, *result, row, i);
        view.rows.push_back(std::move(row));
    }
    view.row = std::min<Index>(lookup_look(state).row, std::max<Index>(dot.rows, 1) - 1);
    view.column = lookup_look(state).column;
    view.body.point = query_words(state, *result, view.row);
    view.body.notes = {disagreement_words(state, *result)};
    return view;
}

}  // namespace attn::view
