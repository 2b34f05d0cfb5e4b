#include "app/workspaces/kinds/view.h"

namespace attn::view {

std::vector<std::string> kinds_reasons(const AppState&) {
    return {
        "Both sides read the same Q, K and V. The difference comes from the settings alone.",
        "Softmax divides a row by its sum. A weight that grows takes from the others of its row."};
}

}  // namespace attn::view
