#include "app/workspaces/tensors/view.h"

namespace attn::view {

std::vector<std::string> tensors_reasons(const AppState&) {
    return {
        "Attention needs queries, keys and values, or X with W_Q, W_K and W_V. Names and shapes "
        "decide the role of an array.",
        "If an array has several readings, the program asks for one or takes the default layout, "
        "heads first."};
}

}  // namespace attn::view
