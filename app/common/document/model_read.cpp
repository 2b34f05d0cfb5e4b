#include "app/common/document/model_read.h"

#include <algorithm>

#include <nlohmann/json.hpp>

namespace attn::view {
namespace {

/// The likeliest answers of the row that is looked at, and what adds to the first of them.
void add_answers(const ModelRun* without, ModelRead& made) {
    const Tensor& logits = made.stages[ModelStage::logits];
    if (logits.empty()) return;
    for (const TokenShare& share : likeliest(logits.values(), kMostAnswers))
        made.answers.push_back(
            {share.id, made.model->shown(share.id), logits.values()[share.id], share.probability});
    if (made.answers.empty()) return;
    std::optional<Index> against;
    if (made.request.difference && made.answers.size() > 1) against = made.answers[1].id;
    const auto sum_of = [&](const ModelRun& run) {
        return attribute_logit(*made.model, run, made.stages.row, made.answers[0].id, against);
    };
    auto sum = sum_of(*made.run);
    if (!sum) {
        made.no_sum = sum.error().text();
        return;
    }
    made.sum = *std::move(sum);
    if (without == nullptr) return;
    if (const auto other = sum_of(*without)) made.ablated = other->logit;
}

}  // namespace

std::string options_of(const ReadModel& asked) {
    nlohmann::json made{{"layer", asked.layer}, {"difference", asked.difference}};
    if (asked.row) made["row"] = *asked.row;
    if (asked.off) made["off"] = {asked.off->layer, asked.off->head};
    return made.dump();
}

ReadModel read_asked(const ModelOrigin& model, const std::string& options) {
    ReadModel asked{model};
    const auto parsed = nlohmann::json::parse(options, nullptr, false);
    if (!parsed.is_object()) return asked;
    asked.layer = parsed.value("layer", Index{0});
    asked.difference = parsed.value("difference", false);
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
    return made;
}

}  // namespace attn::view
