// Whole model: what it predicts, what adds most, how long the residual becomes; computed again from its run.

#include "app/common/keys.h"
#include "app/common/text.h"
#include "app/workspaces/model/state.h"
#include "app/workspaces/model/view.h"
#include "core/io/npy.h"
#include "core/models/model.h"
#include "core/trace.h"
#include "tests/view/claims/claims.h"

namespace attn::view {
namespace {

const ModelRead& read_of(const Match& match) { return *shown_model_read(match.state); }

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
            match.part[name] ==
                "“" + read_of(match).model->answer_text(static_cast<Index>(id)) + "”")
            return shows(match.part[probability], 1.0 / sum);
    return false;
}
/// "After {} the model predicts {} with probability {}"
bool check_predicts(const Match& match) {
    return match.part[0] == model_token_text(match.state, read_of(match).stages.row) &&
           check_best(match, 1, 2);
}
/// "The model answers {} with probability {}"
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

/// "The vector of {} enters layer {} with norm {}. Attention adds one of norm {}, the MLP one of norm {}"
bool check_added_norms(const Match& match) {
    const ModelRead& read = read_of(match);
    const Index token = model_token(match.state);
    const auto norm = [&](const Tensor& values) {
        return length_of(values.matrix(0, 0).row(token));
    };
    const ModelStages& stages = read.stages;
    const Tensor& y = stages[stages.has(ModelStage::attention_added) ? ModelStage::attention_added
                                                                     : ModelStage::attention];
    const Tensor& f =
        stages[stages.has(ModelStage::mlp_added) ? ModelStage::mlp_added : ModelStage::mlp_out];
    return match.part[0] == model_token_text(match.state, token) &&
           match.part[1] == std::to_string(stages.layer) &&
           shows(match.part[2],
                 norm(stages.layer == 0 ? read.run->embedded
                                        : read.run->layers[stages.layer - 1].residual)) &&
           shows(match.part[3], norm(y)) && shows(match.part[4], norm(f));
}
/// "{} is token {} of the vocabulary: row {} of the embedding table, with {} numbers"
bool check_embedding_row(const Match& match) {
    const ModelRead& read = read_of(match);
    const Index token = model_token(match.state);
    const std::string id = std::to_string(read.run->tokens[token].id);
    return match.part[0] == model_token_text(match.state, token) && match.part[1] == id &&
           match.part[2] == id &&
           match.part[3] == std::to_string(read.stages[ModelStage::embedding].shape().d);
}

/// "{} is routed to {}: {} columns each, in this order"
bool check_experts(const Match& match) {
    const ModelRead& read = read_of(match);
    const Index token = model_token(match.state);
    const auto shares = read.stages[ModelStage::routing].matrix(0, 0).row(token);
    std::string text = match.part[1];
    double last = 2.0;
    std::size_t named = 0;
    for (std::size_t at = text.find("expert "); at != text.npos;
         at = text.find("expert ", at + 1)) {
        const auto e = static_cast<std::size_t>(std::stoul(text.substr(at + 7)));
        const std::size_t open = text.find('(', at);
        if (shares[e] > last || shares[e] <= 0.0F) return false;
        if (!shows(text.substr(open + 1, text.find(')', open) - open - 1), shares[e])) return false;
        last = shares[e];
        ++named;
    }
    const auto taken = std::ranges::count_if(shares, [](float share) { return share != 0.0F; });
    const auto stage = find_model_stage(model_look(match.state).stage);
    return match.part[0] == model_token_text(match.state, token) &&
           named == static_cast<std::size_t>(taken) && stage &&
           match.part[2] == std::to_string(read.stages[*stage].shape().d /
                                           read.model->config().experts_per_token);
}

/// "L = −ln p({}) = {}"
bool check_loss(const Match& match) {
    const ModelRead& read = read_of(match);
    const auto logits = logits_of(match);
    double sum = 0.0;
    for (const float logit : logits) sum += std::exp(double{logit} - logits[*read.target]);
    return match.part[0] == shown_token(read.model->answer_text(*read.target)) &&
           shows(match.part[1], std::log(sum));
}

constexpr Claim kClaims[] = {
    {"L = −ln p({}) = {}", check_loss},
    {"{} is routed to {}: {} columns each, in this order", check_experts},
    {"The vector of {} enters layer {} with norm {}. Attention adds one of norm {}, the MLP one of "
     "norm {}",
     check_added_norms},
    {"{} is token {} of the vocabulary: row {} of the embedding table, with {} numbers",
     check_embedding_row},
    {"After {} the model predicts {} with probability {}", check_predicts},
    {"The model reads {} as {} with probability {}", check_predicts},
    {"The model answers {} with probability {}", check_answers},
    {"The norm of the residual stream of {} changes from {} to {} over {}", check_stream},
    {"{} adds most: {} to the {}, in total {}", check_adds_most},
};

}  // namespace

std::span<const Claim> model_claims() { return kClaims; }

}  // namespace attn::view
