#include <fmt/format.h>

#include "app/common/format.h"
#include "app/common/state.h"
#include "app/workspaces/cost/view.h"

namespace attn::view {

std::vector<std::string> cost_reasons(const AppState& state) {
    const CostSizes& sizes = cost_controls(state).sizes;
    std::vector<std::string> reasons;
    if (sizes[CostSize::tq] == sizes[CostSize::tk])
        reasons.push_back(fmt::format(
            "A head has a weight for each of {0} × {0} pairs, so twice the tokens make four times "
            "the weights.",
            grouped(sizes[CostSize::tk])));
    reasons.emplace_back(
        "The fused kernel computes scores in tiles and keeps a running maximum and sum of each "
        "row. It stores no weights.");
    reasons.emplace_back(
        "Decoding reads all cached keys and values for one new token, so memory traffic usually "
        "limits its speed.");
    return reasons;
}

}  // namespace attn::view
