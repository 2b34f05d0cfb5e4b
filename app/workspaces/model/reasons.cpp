#include <fmt/format.h>

#include "app/common/document/model_read.h"
#include "app/common/state.h"
#include "app/workspaces/model/state.h"
#include "app/workspaces/model/view.h"
#include "core/models/family.h"
#include "core/models/model.h"
#include "core/models/weights.h"

namespace attn::view {

std::vector<std::string> model_reasons(const AppState& state) {
    const ModelRead* const read = shown_model_read(state);
    if (read == nullptr || model_look(state).known)
        return {
            "The matrices of attention have 4 d² parameters in each layer, with d the width, if "
            "H · d_k = d and heads share no keys; those of a plain MLP of width 4 d have 8 d².",
            "QKᵀ and AV have no parameters. Without a window their work grows with the context, "
            "because a new token attends to all earlier tokens."};
    std::vector<std::string> reasons;
    const ModelFamily& family = *read->model->config().family;
    if (family.norms_after)
        reasons.emplace_back(
            "A norm follows each addition, so the last vector is not a plain sum of the embedding "
            "and the blocks' outputs.");
    else
        reasons.emplace_back(
            "Each attention block and each MLP adds its output to the residual stream, so the last "
            "vector is the embedding plus these outputs.");
    if (family.read_out == attn::ReadOut::next_token) {
        reasons.push_back(fmt::format(
            "The logit of a token is computed from the dot product of the last vector{} and the "
            "token's row of the unembedding. Softmax turns logits into probabilities.",
            read->model->weights().final_norm.there() ? ", after the final norm," : ""));
        reasons.emplace_back(
            "Training changes the parameters of all blocks together, so that right answers get "
            "larger probabilities.");
    }
    return reasons;
}

}  // namespace attn::view
