#pragma once

#include <optional>
#include <vector>

#include "core/large/cell.h"
#include "core/scores/pair_rule.h"

namespace attn::large {

struct WeightSource;

/// The weight of one cell in double, from Q and K: a = exp(B − logsumexp). Costs
/// one row, Tk · d_k.
struct CellArithmetic {
    std::vector<double> q, k;    // the operands
    double score = 0.0;          // q · k
    double scaled = 0.0;         // score · factor
    PairRule rule;               // from scaled to biased
    Index distance = 0;          // |p − j|
    std::optional<double> bias;  // of the pair; nullopt: the call has none
    double biased = 0.0;         // `scaled` where the rule is plain and has no bias
    double sink = 0.0;           // its logit, −inf: none
    double logsumexp = 0.0;      // of the row and its sink
    double weight = 0.0;         // NaN in a row without a finite logsumexp
    bool allowed = true;
    /// The first key that makes the row NaN: its score is NaN or +inf. nullopt: there is none.
    std::optional<Index> spoiling_key;
    double spoiling_score = 0.0;
};
CellArithmetic cell_arithmetic(const WeightSource& source, Head head, Cell cell);

}  // namespace attn::large
