#include "app/common/state.h"
#include "app/workspaces/kinds/state.h"
#include "app/workspaces/kinds/view.h"

namespace attn::view {

std::vector<std::string> kinds_reasons(const AppState& state) {
    const KindsControls& controls = kinds_controls(state);
    std::vector<std::string> reasons{
        "Both sides read the same Q, K and V. The difference comes from the settings alone."};
    if (controls.a.operation == Operation::softmax && controls.b.operation == Operation::softmax)
        reasons.emplace_back(
            "Softmax divides the exponentials of a row by their sum, so a weight that grows takes "
            "weight from the others.");
    return reasons;
}

}  // namespace attn::view
