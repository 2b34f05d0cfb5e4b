#include "app/workspaces/tensors/view.h"

namespace attn::view {

std::vector<std::string> tensors_reasons(const AppState&) {
    return {
        "Attention needs queries, keys and values, or X with W_Q, W_K and W_V. Names and shapes "
        "decide the role of an array.",
        "Two roles fit one array if two of its sizes are equal. Then the program asks which role "
        "is meant."};
}

}  // namespace attn::view
