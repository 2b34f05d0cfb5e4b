#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/workspaces/kinds/controls.h"
#include "core/operations/operation.h"
#include "core/trace.h"

namespace attn::view {

struct AppState;
struct Document;

// Both sides, computed in float64 from the document's Q, K, V of the head shown.
// i query, j key, p_i position of query i.

/// One side. All matrices are [Tq, Tk] or [Tq, d_v], row-major.
struct KindComputed {
    AttentionKind kind;
    std::string fault;  // why it cannot be computed; "": it was
    AttentionSpec spec;
    InputsD inputs;  // of one head; with ALiBi of as many as the slopes are counted over
    TraceD trace;    // of softmax; empty where the operation has no scores of pairs
    OperationSpec operation_spec;
    OperationTraceD made;           // of an operation in its place; empty of softmax itself
    OperationCost cost;             // of this head, by the operation's own count
    TensorD weights_of, output_of;  // [1,1,Tq,Tk], [1,1,Tq,d_v]
    Index head = 0;                 // of `inputs`, `trace` and `made`
    double factor = 1.0;            // from scores to scaled
    double slope = 0.0;             // ALiBi's; 0: none
    Index slope_heads = 1;
    std::vector<std::uint8_t> allowed;  // 1: i may attend to j
    std::vector<Index> allowed_of_row;  // how many
    bool has_shares = true;             // no weight is negative: a row is a distribution, or less
    std::vector<double> entropy;        // of each row, nats: −Σ a ln a; none without shares
    std::vector<double> evenness;       // H / ln n of the allowed keys; NaN where n < 2
    Tensor shown;                       // weights as floats, for the grid

    MatrixView<const double> stage(Stage stage) const { return trace[stage].matrix(0, head); }
    MatrixView<const double> weights() const { return weights_of.matrix(0, 0); }
    MatrixView<const double> output() const { return output_of.matrix(0, 0); }
    MatrixView<const double> made_of(std::string_view key) const {
        return made[key].matrix(0, std::min(head, made[key].shape().h - 1));
    }
    bool is_softmax() const { return kind.operation == KindOperation::softmax; }
    /// Softmax over scores of pairs, in one go or in chunks.
    bool has_scores() const { return is_softmax() || kind.operation == KindOperation::chunked; }
    bool may(Index i, Index j) const {
        return allowed[static_cast<std::size_t>(i * weights().columns + j)] != 0;
    }
};

/// B − A of the weights: where it is largest, among the pairs that are numbers on both sides.
struct KindsDifference {
    Index row = 0, column = 0;
    double value = 0.0;     // B − A there; 0 where no pair differs
    Index equal = 0;        // other pairs that differ as much, but for rounding
    Index compared = 0;     // pairs that are numbers on both sides
    Index not_numbers = 0;  // pairs that are NaN or ∞ on a side
};
/// O_B against O_A, O = A V of the head.
struct OutputError {
    Index row = 0, column = 0;  // of the largest
    double largest = 0.0;       // max |O_B − O_A|; NaN where a number is none
    double relative = 0.0;      // ‖O_B − O_A‖_F / ‖O_A‖_F; NaN where O_A is 0
};

struct KindsResult {
    // what it is of
    std::shared_ptr<const Document> document;
    Index batch = 0, head = 0;
    AttentionKind a_kind, b_kind;
    std::uint64_t seed = 1;
    // what came of it
    std::string fault;  // of Q, K, V themselves; "": they are there
    TensorD q, k, v;    // of the head, [1,1,T,d]
    KindComputed a, b;
    KindsDifference difference;
    Tensor difference_shown;  // B − A as floats
    OutputError error;

    bool whole() const { return fault.empty() && a.fault.empty() && b.fault.empty(); }
    const KindComputed& side(KindsSide which) const { return which == KindsSide::a ? a : b; }
};

/// So many tokens at most: every cell stands on screen three times.
inline constexpr Index kMostKindsTokens = 64;

KindsResult compute_kinds(const AppState& state);
/// Whether `result` is of what the state shows.
bool is_current(const KindsResult& result, const AppState& state);
/// Computes where the workspace is shown and what it shows is not up to date. Called after every action.
void follow_kinds(AppState& state);

/// A seeded number of a parameter that a score needs: N(0, 1/d_k), two decimals.
double seeded_parameter(std::uint64_t seed, Param param, Index row, Index column, Index d_k);

}  // namespace attn::view
