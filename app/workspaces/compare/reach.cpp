#include "app/workspaces/compare/reach.h"

#include <cmath>

#include <fmt/format.h>

#include "app/common/document/document.h"
#include "app/common/format.h"
#include "app/common/sheet.h"
#include "app/common/state.h"
#include "app/common/text.h"
#include "app/workspaces/compare/view.h"
#include "core/masks.h"
#include "core/scores/operands.h"
#include "core/scores/score.h"
#include "core/stages.h"
#include "core/trace.h"

namespace attn::view {
namespace {

double norm_of(const std::vector<double>& change) {
    double sum = 0.0;
    for (const double value : change) sum += value * value;
    return std::sqrt(sum);
}

/// Why a score is not q · k times a number.
std::string not_linear(const Document& document) {
    if (document.spec.score != Score::dot && document.spec.score != Score::relative)
        return "these scores are not dot products, so they are not linear in the vector";
    if (document.spec.qk_norm) return "QK-norm normalises queries and keys before the product";
    if (document.spec.rope) return "RoPE rotates queries and keys before the product";
    if (document.spec.softcap) return "the soft cap makes the scores nonlinear";
    return {};
}

/// One row of the scores, the keys' slopes behind them, and a sink at its end.
ReachRow row_of_scores(const AppState& state, Index row) {
    const auto scores = sheet_of(state, Stage::masked).values;
    const auto keys = sheet_of(state, Stage::k).values;
    const double factor = product_factor(state.document().spec, keys.columns);
    ReachRow reach;
    reach.width = keys.columns;
    for (Index j = 0; j < scores.columns; ++j) {
        reach.logits.push_back(scores(row, j));
        for (Index c = 0; c < keys.columns; ++c) reach.slopes.push_back(factor * keys(j, c));
    }
    const Tensor& sinks = state.document().inputs->params[Param::sinks];
    if (sinks.empty()) return reach;
    reach.logits.push_back(sinks.matrix(0, 0)(0, state.head));
    reach.slopes.resize(reach.slopes.size() + static_cast<std::size_t>(keys.columns), 0.0);
    return reach;
}

constexpr double kMostRounding = 1e-6;  // of a weight
constexpr double kSameSize = 1e-6;

/// Why a step is none whose scores are sums of `count` terms of that size; "": it is one.
std::string rounded_away(double size, Index count) {
    const double epsilon = std::numeric_limits<double>::epsilon();
    if (size * epsilon * static_cast<double>(count) <= kMostRounding) return {};
    if (!std::isfinite(size)) return "the terms overflow double precision";
    return fmt::format("the rounding error of terms of size {} exceeds the precision of a weight",
                       number(size));
}

/// How large the terms are that the scores after that step are sums of.
double largest_terms(const ReachRow& row, const std::vector<double>& change) {
    double most = 0.0;
    for (std::size_t j = 0; j < row.logits.size(); ++j) {
        if (!std::isfinite(row.logits[j])) continue;
        double size = std::abs(row.logits[j]);
        for (std::size_t c = 0; c < change.size(); ++c)
            size += std::abs(row.slope(j, static_cast<Index>(c)) * change[c]);
        most = std::max(most, size);
    }
    return most;
}

void add_query(const AppState& state, const ReachRow& row, Reach& reach) {
    if (!is_editable(state, Stage::q))
        reach.no_query_edit = "Q is computed from X here: change a word instead";
    reach.why_no_query = not_linear(state.document());
    if (!reach.why_no_query.empty()) return;
    if (static_cast<Index>(row.slopes.size()) > kMostReachNumbers) {
        reach.why_no_query =
            fmt::format("K has {} numbers, and the solver handles at most {}",
                        grouped(static_cast<Index>(row.slopes.size())), grouped(kMostReachNumbers));
        return;
    }
    reach.why_no_query = rounded_away(largest_terms(row, {}), row.width + 2);
    if (!reach.why_no_query.empty()) return;
    auto found = smallest_query_change(row, static_cast<std::size_t>(reach.column),
                                       compare_look(state).target);
    reach.why_no_query =
        found ? rounded_away(largest_terms(row, *found), row.width + 2) : found.error().text();
    if (reach.why_no_query.empty()) reach.query = *std::move(found);
}

/// ∂s_ij/∂x_j = factor · W_K q_i: of one score alone, so the others of the row stay.
void find_word(const AppState& state, const ReachRow& row, Reach& reach) {
    const auto keys_of = sheet_of(state, Param::w_k).values;
    const auto q = sheet_of(state, Stage::q).values;
    const double factor = product_factor(state.document().spec, q.columns);
    std::vector<double> slope, sizes;
    for (Index m = 0; m < keys_of.rows; ++m) {
        double sum = 0.0, size = 0.0;
        for (Index c = 0; c < keys_of.columns; ++c) {
            const double term = factor * keys_of(m, c) * q(reach.row, c);
            sum += term, size += std::abs(term);
        }
        slope.push_back(sum), sizes.push_back(size);
    }
    if (auto found = smallest_linear_change(slope, reach.score_change)) {
        double size = largest_terms(row, {});
        for (std::size_t m = 0; m < sizes.size(); ++m) size += std::abs((*found)[m]) * sizes[m];
        reach.why_no_word = rounded_away(size, keys_of.rows + keys_of.columns);
        if (reach.why_no_word.empty()) reach.word = *std::move(found);
    } else {
        const bool finite = std::ranges::all_of(slope, [](double x) { return std::isfinite(x); });
        reach.why_no_word = finite ? "no step of the word's vector changes this score: W_K q is 0"
                                   : "W_K q is not a finite number";
    }
}

void add_word(const AppState& state, const ReachRow& row, Reach& reach) {
    const Document& document = state.document();
    const Stage stage = reach.word_stage = key_stage(document);
    const auto keys_of = sheet_of(state, Param::w_k).values;
    reach.why_no_word = not_linear(document);
    if (!reach.why_no_word.empty()) return;
    if (!document.inputs->projects() || keys_of.rows == 0) {
        reach.why_no_word = "K is given, not computed from words";
        return;
    }
    if (stage == Stage::x && reach.row == reach.column) {
        reach.why_no_word = "this word is both query and key";
        return;
    }
    find_word(state, row, reach);
    if (!is_editable(state, stage)) reach.no_word_edit = "X cannot be edited here";
}

std::string with_sign(double value) {
    return fmt::format("{}{}", value < 0.0 || std::isnan(value) ? "" : "+", number(value));
}

/// The change, and its largest entry: "‖Δq‖ = 0.52, most in column 3: −0.41, and 1 other as large".
std::string step_text(const std::vector<double>& change, std::string_view name) {
    const double norm = norm_of(change);
    const auto size = [](double value) { return std::abs(value); };
    const auto most = std::ranges::max_element(change, {}, size);
    std::string text = fmt::format("‖Δ{}‖ = {}", name, number(norm));
    if (norm == 0.0) return text;
    text += fmt::format(", most in column {}: {}", most - change.begin(), with_sign(*most));
    const Index others =
        std::ranges::count_if(
            change,
            [&](double value) { return size(*most) - size(value) <= kSameSize * size(*most); }) -
        1;
    return others == 0 ? text : text + fmt::format(", and {} as large", counted(others, "other"));
}

/// `change` of the vector `name`, or why there is none; `fixed`: why it cannot be made.
ReachLine change_line(std::string title, std::string_view name, const std::vector<double>& change,
                      const std::string& why, const std::string& fixed, std::string tip) {
    ReachLine line{std::move(title),
                   change.empty() ? "not available: " + why : step_text(change, name),
                   std::move(tip)};
    if (!fixed.empty()) line.tip += fmt::format(" {}.", fixed);
    line.applies = !change.empty() && fixed.empty();
    return line;
}

ReachLine query_line(const Reach& reach) {
    return change_line(
        "query", "q", reach.query, reach.why_no_query, reach.no_query_edit,
        "The smallest ‖Δq‖ for which softmax over keys of s + Δq · k · scale / τ gives the target; "
        "every score of the row changes. To lower a weight: the smallest of up to eight local "
        "minima, one for each of the largest other weights.");
}

ReachLine word_line(const AppState& state, const Reach& reach) {
    ReachLine line = change_line(fmt::format("word {}", axis_label(state, Axis::key, reach.column)),
                                 "x", reach.word, reach.why_no_word, reach.no_word_edit,
                                 "Δx = Δs · g / ‖g‖², g = W_K q · scale / τ: in this row only the "
                                 "score of this key changes. The word's key for other queries, its "
                                 "value, its own row as a query, and other heads change too.");
    line.word = true;
    return line;
}

/// What the score has to be: without the sum that loses digits, of a score far from it.
double wanted_score(const AppState& state, const Reach& reach) {
    std::vector<double> logits = row_of_scores(state, reach.row).logits;
    const auto j = static_cast<std::size_t>(reach.column);
    logits[j] = 0.0;
    return score_change(logits, j, compare_look(state).target).value_or(std::nan(""));
}

}  // namespace

Reach reach_of(const AppState& state) {
    Reach reach;
    const auto missing = [&](const char* why) {
        reach.missing_data = why;
        return reach;
    };
    const CompareLook& look = compare_look(state);
    const auto scores = sheet_of(state, Stage::masked).values;
    const auto keys = sheet_of(state, Stage::k).values;
    if (!pair_stages()[index_of(look.stage)])
        return missing("Select a score or a weight to see how to change it.");
    if (scores.rows == 0 || keys.rows != scores.columns)
        return missing("This backend does not store scores and keys. Select another backend.");
    reach.row = look.cell.row;
    reach.column = look.cell.column;
    if (reach.row >= scores.rows || reach.column >= scores.columns)
        return missing("The selected pair is not in B.");
    const ReachRow row = row_of_scores(state, reach.row);
    const auto j = static_cast<std::size_t>(reach.column);
    reach.score = row.logits[j];
    if (std::isinf(reach.score) && reach.score < 0.0)
        return missing(may_attend(state.document().spec.mask, state.document().size, state.batch,
                                  state.head, reach.row, reach.column)
                           ? "The score is −∞, so no change here gives it a weight."
                           : "The pair is masked, so no change here gives it a weight.");
    const auto change = score_change(row.logits, j, look.target);
    if (!change)
        return missing(
            "This weight cannot change: its row has only one key, or contains a number that is not "
            "finite.");
    reach.score_change = *change;
    reach.now = 1.0 / (1.0 + std::exp(*change - logit_of(look.target)));
    add_query(state, row, reach);
    add_word(state, row, reach);
    return reach;
}

ReachView reach_view(const AppState& state) {
    const Reach reach = reach_of(state);
    ReachView view;
    view.target = compare_look(state).target;
    view.missing_data = reach.missing_data;
    if (!view.missing_data.empty()) return view;
    const CellRef cell{Stage::weights, reach.row, reach.column};
    view.title = fmt::format("How to change {} from {} to {}", cell_name(state, cell),
                             number(reach.now), number(view.target));
    view.lines.push_back({"score",
                          fmt::format("Δs = {}: {} → {}", with_sign(reach.score_change),
                                      number(reach.score), number(wanted_score(state, reach))),
                          "Δs: change of ln(p / (1 − p)) from the current weight to the target; "
                          "the other scores of the row "
                          "do not change. Scores are computed: change the query or a word."});
    view.lines.push_back(query_line(reach));
    view.lines.push_back(word_line(state, reach));
    return view;
}

}  // namespace attn::view
