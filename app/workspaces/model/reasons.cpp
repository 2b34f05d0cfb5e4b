#include "app/common/state.h"
#include "app/workspaces/model/view.h"
#include "core/models/family.h"
#include "core/models/model.h"

namespace attn::view {

std::vector<std::string> model_reasons(const AppState& state) {
    const ModelRead* const read = shown_model_read(state);
    if (read == nullptr || model_look(state).known)
        return {
            "The matrices of attention have 4 d² parameters in each layer, with d the width, if "
            "heads "
            "share no keys; those of a plain MLP of width 4 d have 8 d².",
            "QKᵀ and AV have no parameters. Their work grows with the context, because a new "
            "token meets all earlier ones."};
    std::vector<std::string> reasons;
    const ModelFamily& family = *read->model->config().family;
    if (!family.norms_after)
        reasons.emplace_back(
            "A block adds its output to the residual stream, so the last vector is a sum over "
            "embedding, heads and MLPs.");
    if (family.read_out == attn::ReadOut::next_token)
        reasons.emplace_back(
            "A logit is the dot product of that vector, after the final norm, with the token's row "
            "of the unembedding. Softmax turns logits into probabilities.");
    reasons.emplace_back(
        "Training sets the weights of all blocks together, so that right answers get large "
        "logits.");
    return reasons;
}

}  // namespace attn::view
