#include "app/workspaces/heads/view.h"

namespace attn::view {

std::vector<std::string> heads_reasons(const AppState&) {
    return {
        "Each head has its own W_Q; W_K and W_V may be shared by several. Heads can compare the "
        "same tokens in different ways.",
        "Training changes every head to lower the loss. No rule says what a head should do.",
        "A weight shows where a head reads, not whether the answer needs the head. Ablation "
        "replaces its output, for example with 0, and compares the answers."};
}

}  // namespace attn::view
