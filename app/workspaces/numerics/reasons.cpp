#include "app/workspaces/numerics/view.h"

namespace attn::view {

std::vector<std::string> numerics_reasons(const AppState&) {
    return {
        "fp16 ends at 65,504. e^x exceeds this limit above x = 11.09 and becomes ∞; then ∞ / ∞ is "
        "NaN.",
        "Stable softmax first subtracts the largest logit m. If the logits are finite, each "
        "exponent is then 0 or less, so no power overflows.",
        "In exact arithmetic the weights stay the same: e^(x − m) / Σ e^(x − m) = e^x / Σ e^x, "
        "because e^m cancels."};
}

}  // namespace attn::view
