#pragma once

#include <string>
#include <vector>

#include "app/common/expr.h"

namespace attn {
struct KindComputed;
}  // namespace attn

namespace attn::view {

struct KindsResult;

/// One line of a cell's arithmetic: an expression of its real operands and what comes of it, or words in its place
/// where the expression tree has no sign for it (tanh, turned pairs).
struct KindStep {
    std::string label;          // "q·k"
    std::vector<Piece> pieces;  // "0.30·0.54 + …"
    double result = 0.0;
};
/// How one side comes to the weight of the pair, from q and k to the share.
struct KindArithmetic {
    std::vector<KindStep>
        steps;  // the last one is the weight; none where it is masked or no number
    std::vector<std::string> notes;  // one plain sentence each
    double weight = 0.0;
};
/// Of a side that was computed. Every result is what its trace holds.
KindArithmetic explain_kind(const KindComputed& side, const KindsResult& result, Index row,
                            Index column);

}  // namespace attn::view
