#include "app/common/document/document.h"
#include "app/common/state.h"
#include "app/workspaces/masks/view.h"

namespace attn::view {

std::vector<std::string> masks_reasons(const AppState& state) {
    std::vector<std::string> reasons{
        "A forbidden pair gets score −∞, and e^−∞ = 0. If its row has an allowed key, the weight "
        "of the pair is 0.",
        has_sinks(state.document())
            ? "Softmax divides by the sum over allowed keys and the sink, so they receive the "
              "weight of the forbidden keys."
            : "Softmax divides by the sum over allowed keys, so they receive the weight of the "
              "forbidden keys."};
    if (state.document().spec.mask.causal)
        reasons.emplace_back(
            "A causal mask forbids later keys, because a position must not read the token that it "
            "predicts.");
    return reasons;
}

}  // namespace attn::view
