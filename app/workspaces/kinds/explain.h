#pragma once

#include "app/common/explain/expr.h"

namespace attn {
struct KindComputed;
}  // namespace attn

namespace attn::view {

struct KindsResult;

/// How one side comes to the weight of the pair, from q and k to the share: no steps where it is masked or no number. Text stands
/// in place of an expression that the tree has no sign for (the largest of a row). Every result is what the side's trace holds.
Explanation explain_kind(const KindComputed& side, const KindsResult& result, Index row,
                         Index column);

}  // namespace attn::view
