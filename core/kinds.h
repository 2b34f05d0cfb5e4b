#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/key_sets.h"
#include "core/operations/operation.h"
#include "core/spec.h"
#include "core/trace.h"

namespace attn {

// Kinds of attention on the same Q, K and V of one head, computed in float64 and compared.
// i query, j key, p_i position of query i.

enum class KindPosition : std::uint8_t { none, rope_half, rope_interleaved, alibi };
/// document: the mask of the call that Q, K and V are of. From first_rule on: sets of keys that a rule of core/key_sets.h makes from
/// the side's own scores under that mask.
enum class KindMask : std::uint8_t { document, full, causal, window, causal_window, first_rule };
constexpr KindMask mask_of(KeyRule rule) {
    return static_cast<KindMask>(static_cast<int>(KindMask::first_rule) + static_cast<int>(rule));
}
/// The rule of a mask; nullopt without a rule.
constexpr std::optional<KeyRule> rule_of(KindMask mask) {
    if (mask < KindMask::first_rule) return std::nullopt;
    return static_cast<KeyRule>(static_cast<int>(mask) - static_cast<int>(KindMask::first_rule));
}
inline constexpr Index kKindBlock = 2, kKindSinks = 1;  // of the rules

/// All that makes one side differ from plain scaled dot-product attention. Q, K, V and the positions of the queries
/// are the call's.
struct AttentionKind {
    Score score = Score::dot;
    bool scaled = true;        // ÷ √d_k
    double temperature = 1.0;  // divides too
    KindPosition position = KindPosition::none;
    double softcap = 0.0;                       // 0: none
    std::optional<double> sink = std::nullopt;  // its logit
    KindMask mask = KindMask::document;
    Index window = 1;  // |p − j| ≤ window, where the mask is one, and of a rule and nsa
    Index keys = 3;    // that a query reads, where the mask is a rule's, and of nsa
    Operation operation = Operation::softmax;
    Index chunk = 2;    // chunked: keys at a time; nsa: keys a block
    Index latents = 4;  // latents: learned queries
    Index state = 4;    // state_space: numbers of the state
    Index rank = 2;     // linformer: rows that replace all keys

    /// A recurrence on a matrix state.
    bool recurs() const { return operation >= Operation::retention && operation <= Operation::kda; }
    /// One in which a key replaces its value.
    bool replaces() const {
        return operation == Operation::gated_delta || operation == Operation::kda;
    }
    /// The sizes of nsa, as mask and as operation.
    KeyBudget budget() const {
        return {.keys = keys,
                .block = operation == Operation::nsa ? chunk : kKindBlock,
                .sinks = kKindSinks,
                .recent = window + 1};
    }
    bool operator==(const AttentionKind&) const = default;
};

/// One head of a call.
struct KindsCall {
    TensorD q, k, v;  // [1,1,T,d]
    MaskSpec mask;    // of this head and sequence alone: see mask_of_head(); with its bias
    bool bias_before_softcap = false;
    EmptyRows empty_rows = EmptyRows::zero;
    Index query_offset = 0;
    Index head = 0, heads = 1;  // which of how many: ALiBi's slopes are counted over them
    std::uint64_t seed = 1;     // of the parameters that a score needs
};

/// Weight that a rule misses with `keys` keys: the mean of the rows, and the most of one.
struct MissedWeight {
    Index keys = 0;
    double mean = 0.0, most = 0.0;
};

/// One side. All matrices are [Tq, Tk] or [Tq, d_v], row-major.
struct KindComputed {
    AttentionKind kind;
    std::string fault;  // why it cannot be computed; "": it was
    AttentionSpec spec;
    InputsD inputs;  // of one head; with ALiBi of as many as the slopes are counted over
    TraceD trace;    // of softmax; empty where the operation has no scores of pairs
    OperationSpec operation_spec;
    OperationParamsD fresh;         // of the operation: those of the seed
    OperationTraceD made;           // of an operation in its place; empty of softmax itself
    OperationCost cost;             // of this head, by the operation's own count
    TensorD weights_of, output_of;  // [1,1,Tq,Tk], [1,1,Tq,d_v]
    Index head = 0;                 // of `inputs`, `trace` and `made`
    double factor = 1.0;            // from scores to scaled
    double slope = 0.0;             // ALiBi's; 0: none
    Index slope_heads = 1;
    std::vector<std::uint8_t> allowed;  // 1: i may attend to j
    std::vector<Index> allowed_of_row;  // how many
    SetError
        set;  // of a rule, or of the selected keys and the window of nsa, against the mask alone; else no rows
    std::vector<MissedWeight> missed;  // of that rule with other numbers of keys, ascending
    bool has_shares = true;            // no weight is negative, no row sums to more than 1
    std::vector<double> entropy;       // of each row, nats: −Σ a ln a; none without shares
    std::vector<double> evenness;      // H / ln n of the allowed keys; NaN where n < 2
    Tensor shown;                      // weights as floats

    MatrixView<const double> stage(Stage stage) const { return trace[stage].matrix(0, head); }
    MatrixView<const double> weights() const { return weights_of.matrix(0, 0); }
    MatrixView<const double> output() const { return output_of.matrix(0, 0); }
    MatrixView<const double> made_of(std::string_view key) const {
        return made[key].matrix(0, std::min(head, made[key].shape().h - 1));
    }
    bool is_softmax() const { return kind.operation == Operation::softmax; }
    /// Softmax over scores of pairs, in one go or in chunks.
    bool has_scores() const { return is_softmax() || kind.operation == Operation::chunked; }
    bool may(Index i, Index j) const { return allowed[i * weights().columns + j] != 0; }
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
    double largest = 0.0;       // max |O_B − O_A|; NaN where an entry is NaN
    double relative = 0.0;      // ‖O_B − O_A‖_F / ‖O_A‖_F; NaN where O_A is 0
};
struct KindsComparison {
    KindsDifference difference;
    Tensor difference_shown;  // B − A as floats [1,1,Tq,Tk]
    OutputError error;
};

/// One matrix of a tensor as a tensor of its own, [1,1,T,d]; an axis of extent 1 counts for every index.
TensorD kind_input(const Tensor& tensor, Index batch, Index head);
/// The mask of one sequence and head alone.
MaskSpec mask_of_head(MaskSpec mask, Index batch, Index head);
/// Computes this kind of attention. A kind that cannot be computed has a `fault`.
KindComputed compute_kind(const KindsCall& call, const AttentionKind& kind);
/// Its softmax or its operation once more, for the time that takes. It has no fault.
void repeat_kind(const KindComputed& side);
/// Of two sides of one call, both without a fault.
KindsComparison compare_kinds(const KindComputed& a, const KindComputed& b);

/// A seeded number of a parameter that a score needs: N(0, 1/d_k), two decimals.
double seeded_parameter(std::uint64_t seed, Param param, Index row, Index column, Index d_k);

}  // namespace attn
