#include <cmath>

#include <fmt/format.h>

#include "app/common/format.h"
#include "app/common/state.h"
#include "app/workspaces/generate/view.h"

namespace attn::view {

std::vector<std::string> generate_reasons(const AppState& state) {
    if (cannot_generate(state) || is_pending(state)) return {};
    const auto shown = shown_of(state);
    if (!shown->fault.empty() || shown->candidates.all.empty()) return {};
    const std::vector<Candidate>& all = shown->candidates.all;
    std::vector<std::string> reasons{
        fmt::format("The model's last vector and the unembedding give {}: one for each token of "
                    "the vocabulary.",
                    counted(std::ssize(all), "logit"))};
    if (all.size() > 1) {
        const double lead = all[0].logit - all[1].logit;
        const std::string first = quoted_token(state, all[0].id),
                          second = quoted_token(state, all[1].id);
        if (lead == 0.0)
            reasons.push_back(fmt::format(
                "{} and {} have the same logit, so they are equally likely.", first, second));
        else if (std::isfinite(std::exp(lead)))
            reasons.push_back(fmt::format(
                "The logit of {} leads that of {} by {}, so the model finds it "
                "e^{} = {} times as likely.",
                first, second, number(lead), number(lead), significant(std::exp(lead), 3)));
    }
    reasons.emplace_back(
        "Training raises the logits of tokens that follow similar texts in its data.");
    return reasons;
}

}  // namespace attn::view
