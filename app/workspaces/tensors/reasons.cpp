#include "app/workspaces/tensors/view.h"

namespace attn::view {

std::vector<std::string> tensors_reasons(const AppState&) {
    return {
        "Scores need queries and keys, or X with W_Q and W_K. The output also needs values. Names "
        "and shapes decide the role of an array.",
        "If an array has several readings, the program asks for one or takes the default layout, "
        "heads first."};
}

}  // namespace attn::view
