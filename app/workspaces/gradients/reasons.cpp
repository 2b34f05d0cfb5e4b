#include <fmt/format.h>

#include "app/common/format.h"
#include "app/common/sheet.h"
#include "app/common/state.h"
#include "app/workspaces/gradients/view.h"
#include "core/stages.h"

namespace attn::view {

std::vector<std::string> gradients_reasons(const AppState& state) {
    std::vector<std::string> reasons{
        "Softmax passes a gradient through J = diag(a) − a aᵀ. No entry exceeds 1/4, and all are 0 "
        "if one weight is 1.",
        "Q and K get their gradient through J. V does not: weights multiply values directly.",
        "A weight reacts most to its own logit at a = 1/2. In a uniform row of n > 2 keys it "
        "reacts less: a = 1/n."};
    const JacobianNumbers row = jacobian_numbers(state);
    if (row.keys > 1 && row.p_max <= 1.0)
        reasons.push_back(fmt::format("In row {}, the largest weight a is {}, so a (1 − a) = {}.",
                                      axis_label(state, Axis::query, gradients_look(state).row),
                                      number(row.p_max),
                                      significant(row.p_max * (1.0 - row.p_max), 3)));
    return reasons;
}

}  // namespace attn::view
