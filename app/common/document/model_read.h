#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/common/document/origin.h"
#include "core/models/gradients.h"
#include "core/models/lens.h"
#include "core/models/model_stages.h"
#include "core/result.h"

namespace attn::view {

/// A model's run of what it reads, with the stages of one layer and what adds to one answer.
struct ReadModel {
    ModelOrigin model;  // without `before`; of the group "cross" the decoder is read
    Index layer = 0;
    std::optional<Index> row = {};      // whose answer; nullopt: the last
    bool difference = false;            // of the two likeliest answers, in place of one logit
    std::optional<HeadPlace> off = {};  // also the answer without this head
    bool gradients = false;             // also those of the loss
    bool operator==(const ReadModel&) const = default;
};
/// The request with a ModelText, as OpenRequest::options has it; the answer is SweptModel::read.
std::string options_of(const ReadModel& asked);
ReadModel read_asked(const ModelOrigin& model, const std::string& options);

inline constexpr std::size_t kMostAnswers = 8;

/// A token that may come next, or a class.
struct ModelAnswer {
    Index id = 0;
    std::string text;
    double logit = 0.0, probability = 0.0;
};

/// A whole model over what it reads. Immutable; shares the model and its run with others of the same text.
struct ModelRead {
    ReadModel request;
    std::shared_ptr<const Model> model{};   // the stack that is shown
    std::shared_ptr<const ModelRun> run{};  // with weights, where they are few enough
    ModelStages stages{};
    std::vector<ModelAnswer> answers{};  // of stages.row, the likeliest first; empty: it gives none
    std::optional<LogitAttribution>
        sum{};  // of the likeliest answer, or of a norm; not set: `no_sum` says why
    std::string no_sum{};
    std::optional<Index> target{};              // the answer of the loss; not set: unknown
    std::optional<ModelGradients> gradients{};  // not set: not requested, or `no_gradients`
    std::string no_gradients{};
    std::optional<double> ablated{};  // the same logit, or difference, without the head request.off
};

/// The values of a run of the stack. `without`: its run with the head request.off off; null: there is none.
/// Errors: as of model_stages().
Result<ModelRead> model_read(const ReadModel& of, std::shared_ptr<const Model> model,
                             std::shared_ptr<const ModelRun> run, const ModelRun* without);

}  // namespace attn::view
