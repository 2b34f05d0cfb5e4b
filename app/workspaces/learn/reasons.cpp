#include <fmt/format.h>

#include "app/common/format.h"
#include "app/common/state.h"
#include "app/workspaces/learn/settings.h"
#include "app/workspaces/learn/view.h"
#include "core/train/record.h"

namespace attn::view {

std::vector<std::string> learn_reasons(const AppState& state) {
    const LearnControls& controls = planned(state);
    if (!controls.has_b())
        return {
            "A training step changes the parameters a little, against recent gradients of the "
            "loss.",
            "Training improves only what lowers the loss on the training texts."};
    std::vector<std::string> reasons;
    if (controls.a.seed == controls.b.seed && controls.differs != "symbols")
        reasons.emplace_back(
            "Both models read the same texts. They start with one different setting.");
    if (controls.differs != "scaling") return reasons;
    const auto& series = learn_look(state).series;
    const bool trained = series && !series->sides[0].records.empty() &&
                         !series->sides[1].records.empty() &&
                         series->request.plan.controls.differs == "scaling";
    if (trained)
        reasons.push_back(
            fmt::format("In the first step, {} of the rows are saturated {} and {} {}.",
                        percent_text(series->sides[0].records[0]->saturated),
                        learn_run_text(series->request.plan.controls, 0),
                        percent_text(series->sides[1].records[0]->saturated),
                        learn_run_text(series->request.plan.controls, 1)));
    reasons.emplace_back(
        "In a saturated row, softmax passes at most 2 % of the weights' gradient to the logits. If "
        "most rows are saturated, the gradient of W_Q and W_K comes mostly from the other rows.");
    return reasons;
}

}  // namespace attn::view
