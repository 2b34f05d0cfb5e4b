#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/common/explain/expr.h"
#include "core/spec.h"
#include "core/stages.h"

namespace attn::view {
struct AppState;
struct CellRef;
struct Explanation;
struct Step;
}  // namespace attn::view

namespace attn {
struct AttentionSpec;
struct Rope;
}  // namespace attn

namespace attn::view {

// What explanations are made of, forward and backward.

/// The value of a cell that the trace holds, linked to it.
Expr cell_expr(const AppState& state, const CellRef& cell);

/// Adds the step whose result is the explained number.
Step& end_with(Explanation& explanation, Expr expr);

/// One operand of a sum of products.
struct Side {
    std::string letter;   // a name in Python
    std::string name;     // "Q[cat, c]"
    std::string heading;  // of its column
    std::vector<Expr> numbers = {};
    std::string tex = {};  // the name as TeX; "": it has no formula of its own
};
/// The side that `tex` names.
Side side_of(std::string letter, std::string tex, std::string heading);
/// A token or an index as it stands in TeX.
std::string tex_label(const AppState& state, Axis axis, Index n);
/// Σ left · right, term by term.
struct Chain {
    Side left, right;
    std::vector<std::string> labels = {};  // of the terms
    std::string counts = "c";              // what the terms are
    void add(Expr l, Expr r, std::string label);
};
/// What the number is, in TeX; the plain text is made from it.
void set_formula(Explanation& explanation, std::string tex);
/// "\sum_c left \cdot right", over `index`.
std::string sum_tex(const Chain& chain, std::string_view index);
Expr products_of(const Chain& chain);
DotProduct dot_of(const Chain& chain);
/// The formula of the sum over `index`, plus the bias of the explained column where there is one, and the last step.
void add_sum(const AppState& state, Explanation& explanation, Chain chain, std::string_view index,
             std::optional<Param> bias = std::nullopt);

/// "weights", "q and k": what is missing of `ids`, "" when all of it is kept.
std::string missing_of(const AppState& state, const std::vector<OperandId>& ids);
/// The formula alone, and which backend's fault it is.
void explain_without(const AppState& state, Explanation& explanation, const std::string& missing);

/// forward.cpp: what the stage is computed from, with its operands kept.
void explain_stage(const AppState& state, Explanation& explanation, Stage stage);
/// score.cpp: one raw score, by the document's score function.
void explain_score(const AppState& state, Explanation& explanation);
/// The numbers of one pair's score.
struct ScorePair {
    std::vector<Expr> q, k;    // as the score reads them
    std::string q_row, k_row;  // their names as TeX, up to the index of the column: "Q[cat"
    Index head = 0;
    Index distance = 0;  // j − i
    std::function<Index(Param)> columns = {};
    std::function<Expr(Param, Index row, Index column)> param = {};
    std::function<Expr(Param)> of_distance = {};  // its entry for the head and the distance
};
/// The same of any pair, by the formula of the score's row: a step for each of its parts.
void explain_pair(const AttentionSpec& spec, const ScorePair& pair, Explanation& explanation);
/// deciding.cpp: which columns make a score what it is, and which speak for another key.
void add_deciding_notes(const AppState& state, Explanation& explanation, const Chain& chain);
/// Whether x(row, ·) of that stage is exactly word vector + position.
bool is_embedding(const AppState& state, Stage stage, Index row);
/// What softmax is taken of: the row of masked scores and, where there is one, the sink of the head shown.
std::vector<float> logits_of(const AppState& state, Index row);
/// Of a weight: what a row of equal scores gives, and that A need not be symmetric where the scores are.
void add_sharing_notes(const AppState& state, Explanation& explanation);
/// Whether RoPE's scaling changes ω of that pair of columns.
bool is_rescaled(const Rope& rope, Index pair, Index dims);
/// positions.cpp: a column of Q or K turned by its position, and its derivative, which turns back.
void explain_rotated(const AppState& state, Explanation& explanation, Stage stage);
void explain_rotation_gradient(const AppState& state, Explanation& explanation, Stage stage);
/// norm.cpp: a column of Q or K after QK-norm, its derivative, and the gradient of a weight of it.
void explain_normalised(const AppState& state, Explanation& explanation, Stage stage);
void explain_norm_gradient(const AppState& state, Explanation& explanation, Stage stage);
void explain_norm_weight_gradient(const AppState& state, Explanation& explanation, Param param);
/// B of S by soft cap and ALiBi; ∂L/∂S of ∂L/∂B.
void explain_biased(const AppState& state, Explanation& explanation);
void explain_bias_gradient(const AppState& state, Explanation& explanation);

// ---- backward

// Numbers of a chain rule: of any sequence and head, values and gradients. d_ is gradient of; b sequence,
// h query head, g key/value head, i query row, j key row, c column.

enum class From : std::uint8_t { values, gradients };
/// Which matrix of a stage: a sequence and a head.
struct Slice {
    Index batch = 0;
    Index head = 0;
};
/// One number of a stage, linked where it is of the sequence and head shown.
Expr stage_expr(const AppState& state, From from, Stage stage, Slice slice, Index row,
                Index column);
/// The same of the sequence and head that the window shows.
Expr stage_expr(const AppState& state, From from, Stage stage, Index row, Index column);
/// One number of a whole parameter, linked where it is of the head shown.
Expr param_expr(const AppState& state, Param param, Index row, Index column);

/// The query heads [first, end) that read the key/value head shown.
std::pair<Index, Index> readers_of(const AppState& state);
/// Which keys row i of a head takes part with.
std::vector<std::uint8_t> contributing_keys(const AppState& state, Slice slice, Index i);

/// A chain of gradients of `left` times values of `right`; the names end with what the indices are, as TeX.
Chain chain_of(const OperandId& left, const std::string& left_index, const OperandId& right,
               const std::string& right_index, std::string counts);
/// Its formula, a sum over `index`, and the last step.
void add_chain(const AppState& state, Explanation& explanation, Chain chain,
               std::string_view index);

/// What a parameter multiplies and what it makes.
struct Projection {
    Stage input, output;
};
Projection projection_of(const AppState& state, Param param);

/// The stage that the score function reads of Stage::q or Stage::k: rotated where there is RoPE.
Stage read_by_scores(const AppState& state, Stage side);
/// ∂scores[i, j]/∂ column c of the query's (Stage::q) or the key's side, of one head; in double.
double score_slope(const AppState& state, Slice slice, Stage side, Index i, Index j, Index c);
/// Whether it is the other side's number itself: of dot products of q and k as they are.
inline bool is_plain_product(const AttentionSpec& spec) {
    return spec.score == Score::dot && spec.scale != ScaleKind::q_and_k;
}
/// The same in words; "" of a plain product.
std::string slope_description(const AttentionSpec& spec, Stage side);

// Parts of explain_gradient(), each with what it reads kept.
/// A parameter of the score function or the sinks: sums over every pair of every head that has it.
void explain_score_param_gradient(const AppState& state, Explanation& explanation);
void explain_sink_gradient(const AppState& state, Explanation& explanation);
/// "cat, head 1, sequence 0": a query of one head and sequence, where there are several.
std::string slice_label(const AppState& state, Slice slice, Index i);
/// Each term and the sum up to it; the whole sum is the last step.
void add_terms(Explanation& explanation, std::string of, const std::vector<std::string>& labels,
               const std::vector<double>& parts);
void explain_vector_gradient(const AppState& state, Explanation& explanation, Stage stage);
void explain_param_gradient(const AppState& state, Explanation& explanation, Param param);

}  // namespace attn::view
