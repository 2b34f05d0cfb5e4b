#include "app/workspaces/heads/view.h"

namespace attn::view {

std::vector<std::string> heads_reasons(const AppState&) {
    return {
        "Each head has its own W_Q; W_K and W_V may be shared by several. Heads compare the same "
        "words "
        "in different ways.",
        "Training changes a head wherever that lowers the loss. No rule says what a head should "
        "do.",
        "A weight shows where a head reads, not whether the answer needs it. Ablation sets its "
        "output to 0 and compares."};
}

}  // namespace attn::view
