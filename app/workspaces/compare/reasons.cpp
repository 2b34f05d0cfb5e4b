#include "app/workspaces/compare/view.h"

namespace attn::view {

std::vector<std::string> compare_reasons(const AppState&) {
    return {
        "Softmax divides a row by its sum. A weight that grows takes from the others of its row.",
        "Adding one number to all scores of a row changes no weight: e^(x + c) = e^x e^c, and e^c "
        "cancels."};
}

}  // namespace attn::view
