#include <fmt/format.h>

#include "app/common/format.h"
#include "app/common/state.h"
#include "app/workspaces/saturation/text.h"
#include "app/workspaces/saturation/view.h"

namespace attn::view {

std::vector<std::string> saturation_reasons(const AppState& state) {
    const SaturationControls& controls = saturation_controls(state);
    const bool drawn = controls.settings.model == SaturationModel::sampled;
    const std::string root = root_text(controls.d_k);
    return {drawn ? fmt::format("A score is a sum of {} with variance 1, so its standard deviation "
                                "is {}.",
                                counted(controls.d_k, "product"), root)
                  : fmt::format("The logits are multiplied by {}, as the standard deviation of q·k "
                                "grows.",
                                root),
            "Softmax turns a lead of d into a factor e^d. With large scores, one weight approaches "
            "1 and the others approach 0.",
            "The derivative of a weight a with respect to its own score is a (1 − a). It vanishes "
            "near a = 1 and a = 0."};
}

}  // namespace attn::view
