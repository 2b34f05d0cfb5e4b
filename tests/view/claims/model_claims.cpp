// Whole model: what it predicts, what adds most, how long the residual becomes; computed again from its run.

#include "app/workspaces/model/view.h"
#include "tests/view/claims/claims.h"

namespace attn::view {
namespace {

const ModelRead& read_of(const Match& match) { return *current_model_read(match.state); }

std::vector<float> logits_of(const Match& match) {
    const auto values = read_of(match).stages[ModelStage::logits].values();
    return {values.begin(), values.end()};
}

/// “name” is one of the answers with the largest logit, and that is its probability.
bool check_best(const Match& match, std::size_t name, std::size_t probability) {
    const auto logits = logits_of(match);
    const float most = *std::ranges::max_element(logits);
    double sum = 0.0;
    for (const float logit : logits) sum += std::exp(double{logit} - most);
    for (std::size_t id = 0; id < logits.size(); ++id)
        if (logits[id] == most &&
            match.part[name] == "“" + read_of(match).model->shown(static_cast<Index>(id)) + "”")
            return shows(match.part[probability], 1.0 / sum);
    return false;
}
/// "After {} the model predicts {} with {}"
bool check_predicts(const Match& match) {
    return match.part[0] == model_token_text(match.state, read_of(match).stages.row) &&
           check_best(match, 1, 2);
}
/// "The model answers {} with {}"
bool check_answers(const Match& match) { return check_best(match, 0, 1); }

double length_of(std::span<const float> row) {
    double squares = 0.0;
    for (const float value : row) squares += double{value} * value;
    return std::sqrt(squares);
}
/// "The norm of the residual stream of {} changes from {} to {} over {} layers"
bool check_stream(const Match& match) {
    const ModelRun& run = *read_of(match).run;
    const Index token = model_token(match.state);
    return match.part[0] == model_token_text(match.state, token) &&
           shows(match.part[1], length_of(run.embedded.matrix(0, 0).row(token))) &&
           shows(match.part[2], length_of(run.layers.back().residual.matrix(0, 0).row(token))) &&
           match.part[3].starts_with(std::to_string(run.layers.size()) + " layer");
}
/// "{} adds most: {} to the {}, in total {}"
bool check_adds_most(const Match& match) {
    const LogitAttribution& sum = *read_of(match).sum;
    double most = -HUGE_VAL, total = 0.0;
    for (const LogitPart& part : sum.parts) {
        most = std::max(most, part.value);
        total += part.value;
    }
    if (!shows(match.part[1], most) || std::abs(total - sum.logit) > 1e-3) return false;
    return shows(match.part[3], sum.logit) &&
           std::ranges::any_of(sum.parts, [&](const LogitPart& part) {
               return part.value == most && part_name(part) == match.part[0];
           });
}

constexpr Claim kClaims[] = {
    {"After {} the model predicts {} with {}", check_predicts},
    {"The model reads {} as {} with {}", check_predicts},
    {"The model answers {} with {}", check_answers},
    {"The norm of the residual stream of {} changes from {} to {} over {}", check_stream},
    {"{} adds most: {} to the {}, in total {}", check_adds_most},
};

}  // namespace

std::span<const Claim> model_claims() { return kClaims; }

}  // namespace attn::view
