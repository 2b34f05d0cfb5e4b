#include "app/common/document/document.h"
#include "app/common/state.h"
#include "app/workspaces/compare/view.h"

namespace attn::view {

std::vector<std::string> compare_reasons(const AppState& state) {
    std::vector<std::string> reasons{
        "Softmax divides the exponentials of a row by their sum, so a weight that grows takes "
        "weight from the others."};
    if (!has_sinks(state.document()))
        reasons.emplace_back(
            "Adding one number to all scores of a row changes no weight: e^(x + c) = e^x e^c, and "
            "e^c cancels.");
    return reasons;
}

}  // namespace attn::view
