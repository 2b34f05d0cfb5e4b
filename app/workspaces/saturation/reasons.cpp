#include <cmath>

#include <fmt/format.h>

#include "app/common/format.h"
#include "app/common/state.h"
#include "app/workspaces/saturation/text.h"
#include "app/workspaces/saturation/view.h"

namespace attn::view {

namespace {

// From here on q·k is so nearly normal that 99.7 % of its values lie within three standard deviations.
constexpr Index kLeastNormal = 64;

}  // namespace

std::vector<std::string> saturation_reasons(const AppState& state) {
    const SaturationControls& controls = saturation_controls(state);
    const bool drawn = controls.settings.model == SaturationModel::sampled;
    const std::string root = root_text(controls.d_k);
    std::vector<std::string> reasons{
        drawn ? fmt::format("A score is a sum of {}, independent and with variance 1, so its "
                            "standard deviation is {}.",
                            counted(controls.d_k, "product"), root)
              : fmt::format("Without scaling, the logits are multiplied by {}, the standard "
                            "deviation of q·k.",
                            root)};
    if (drawn && controls.d_k >= kLeastNormal)
        reasons.push_back(fmt::format(
            "About 99.7 % of raw scores lie between −{0} and {0}; with scaling, between −3 and 3.",
            significant(3.0 * std::sqrt(static_cast<double>(controls.d_k)), 3)));
    reasons.emplace_back(
        "Softmax turns a lead of d into a factor e^d. If one score leads by a wide margin, its "
        "weight approaches 1 and the others approach 0.");
    reasons.emplace_back(
        "The derivative of a weight a with respect to its own logit is a (1 − a). It vanishes near "
        "a = 1 and a = 0.");
    return reasons;
}

}  // namespace attn::view
