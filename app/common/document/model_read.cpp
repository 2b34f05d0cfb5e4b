#include "app/common/document/model_read.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "app/common/document/document.h"
#include "app/common/vocabulary.h"
#include "core/models/family.h"
#include "core/models/model.h"

namespace attn::view {
namespace {

/// Keeps the sum, or the reason for its absence, and the same number without a head.
template <class SumOf>
void add_sum(const ModelRun* without, ModelRead& made, const SumOf& sum_of) {
    auto sum = sum_of(*made.run);
    if (!sum) {
        made.no_sum = sum.error().text();
        return;
    }
    made.sum = *std::move(sum);
    if (without == nullptr) return;
    if (const auto other = sum_of(*without)) made.ablated = other->logit;
}

/// The likeliest answers of the row that is looked at, and the parts of the first one's logit; of a model without answers
/// the parts of the norm of the row that leaves the last block.
void add_answers(const ModelRun* without, ModelRead& made) {
    const Tensor& logits = made.stages[ModelStage::logits];
    if (logits.empty())
        return add_sum(without, made, [&](const ModelRun& run) {
            return attribute_norm(*made.model, run, made.stages.row);
        });
    for (const TokenShare& share : likeliest(logits.values(), kMostAnswers))
        made.answers.push_back({share.id, made.model->answer_text(share.id),
                                logits.values()[share.id], share.probability});
    if (made.answers.empty()) return;
    std::optional<Index> against;
    if (made.request.difference && made.answers.size() > 1) against = made.answers[1].id;
    add_sum(without, made, [&](const ModelRun& run) {
        return attribute_logit(*made.model, run, made.stages.row, made.answers[0].id, against);
    });
}

/// The next token of the text, or the answer that the model's grammar marks.
std::optional<Index> target_of(const ModelRead& read) {
    const auto& tokens = read.run->tokens;
    const auto row = static_cast<std::size_t>(read.stages.row);
    const attn::ReadOut read_out = read.model->config().family->read_out;
    if (read_out == attn::ReadOut::next_token)
        return row + 1 < tokens.size() ? std::optional(tokens[row + 1].id) : std::nullopt;
    if (read_out != attn::ReadOut::token_classes) return std::nullopt;
    std::vector<Index> ids;
    for (const ModelToken& token : tokens) ids.push_back(token.id);
    const auto answers = marked_answers(read.request.model.path, ids);
    if (!answers || (*answers)[row] < 0) return std::nullopt;
    return (*answers)[row];
}

void add_gradients(ModelRead& made) {
    if (made.answers.empty()) {
        made.no_gradients = "this model gives no answer, so there is no loss";
        return;
    }
    made.target = target_of(made);
    if (!made.target) {
        const bool next = made.model->config().family->read_out == attn::ReadOut::next_token;
        made.no_gradients =
            next ? "a loss needs the next token, and this is the last one: choose an earlier token"
                 : "a loss needs the right answer, which the grammar of pronouns marks at “it”";
        return;
    }
    auto gradients = model_gradients(*made.model, *made.run, made.stages.row, *made.target);
    if (gradients)
        made.gradients = *std::move(gradients);
    else
        made.no_gradients = gradients.error().text();
}

}  // namespace

std::string options_of(const ReadModel& asked) {
    nlohmann::json made{{"layer", asked.layer}, {"difference", asked.difference}};
    if (asked.row) made["row"] = *asked.row;
    if (asked.gradients) made["gradients"] = true;
    if (asked.off) made["off"] = {asked.off->layer, asked.off->head};
    return made.dump();
}

ReadModel read_asked(const ModelOrigin& model, const std::string& options) {
    ReadModel asked{model};
    const auto parsed = nlohmann::json::parse(options, nullptr, false);
    if (!parsed.is_object()) return asked;
    asked.layer = parsed.value("layer", Index{0});
    asked.difference = parsed.value("difference", false);
    asked.gradients = parsed.value("gradients", false);
    if (const auto row = parsed.find("row"); row != parsed.end()) asked.row = row->get<Index>();
    if (const auto at = parsed.find("off"); at != parsed.end())
        asked.off = HeadPlace{at->at(0).get<Index>(), at->at(1).get<Index>()};
    return asked;
}

Result<ModelRead> model_read(const ReadModel& of, std::shared_ptr<const Model> model,
                             std::shared_ptr<const ModelRun> run, const ModelRun* without) {
    const Index last = std::ssize(run->tokens) - 1;
    auto stages =
        model_stages(*model, *run, of.layer, std::clamp<Index>(of.row.value_or(last), 0, last));
    if (!stages) return tl::unexpected(stages.error());
    ModelRead made{of, std::move(model), std::move(run), *std::move(stages)};
    add_answers(without, made);
    if (of.gradients) add_gradients(made);
    return made;
}

}  // namespace attn::view
