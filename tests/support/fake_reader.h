#pragma once

#include <map>
#include <memory>
#include <string>

#include "app/common/actions.h"
#include "app/common/document/document.h"
#include "app/common/document/model_read.h"
#include "app/common/document/opened.h"
#include "app/common/document/swept.h"
#include "app/common/state.h"
#include "app/window/requests.h"
#include "core/backend.h"
#include "core/models/groups.h"
#include "tests/support/small_models.h"

namespace attn::test {

// The small models of goldens/models, of random weights and without tokenizers, as the Whole model workspace reads them.

inline std::shared_ptr<const Model> golden(const std::string& path) {
    static std::map<std::string, std::shared_ptr<const Model>> opened;
    auto& model = opened[path];
    if (!model) model = std::make_shared<const Model>(Model::open(path).value());
    return model;
}

inline std::shared_ptr<const ModelRun> golden_run(const view::ModelOrigin& of,
                                                  const std::vector<HeadPlace>& off,
                                                  StageSet keep) {
    Interventions with;
    with.off = off;
    return std::make_shared<const ModelRun>(read_group(*golden(of.path),
                                                       {of.text, of.second_input, of.group},
                                                       *find_backend("staged"), keep, {}, with)
                                                .value());
}

/// Answers ReadModel.
inline Result<view::Opened> golden_reader(const view::OpenRequest& request, const RunControl&) {
    const auto* const text = std::get_if<view::ModelText>(&request.what);
    if (text == nullptr || request.options.empty()) return bad_input("no files here");
    const view::ReadModel asked = view::read_asked(text->model, request.options);
    const view::ReadModel* const wanted = &asked;
    const StageSet keep = model_stage_set() | only_stage(Stage::weights);
    std::vector<HeadPlace> off = wanted->model.changes.off;
    auto run = golden_run(wanted->model, off, keep);
    std::shared_ptr<const ModelRun> without;
    if (wanted->off) {
        off.push_back(*wanted->off);
        without = golden_run(wanted->model, off, keep);
    }
    const auto whole = golden(wanted->model.path);
    const std::shared_ptr<const Model> stack(whole, &stack_of(*whole, wanted->model.group));
    auto read = view::model_read(*wanted, stack, std::move(run), without.get());
    if (!read) return tl::unexpected(read.error());
    view::SweptModel made;
    made.read = std::make_shared<const view::ModelRead>(*std::move(read));
    view::Opened opened;
    opened.swept = std::make_shared<const view::SweptModel>(std::move(made));
    return opened;
}

/// A golden model's document in the Whole model workspace; nothing is read yet.
inline view::AppState golden_state(const std::string& family, const std::string& group = "") {
    view::ModelOrigin origin;
    origin.path = golden_model(family).string();
    const auto model = golden(origin.path);
    origin.image = model->config().image.has_value();
    origin.group = group;
    origin.text = origin.image ? "" : "7 7 0 29 12";
    if (!group.empty()) origin.second_input = "3 9";
    auto run = *golden_run(origin, {}, {});
    view::Document document;
    document.origin = origin;
    document.name = document.title = family;
    for (const ModelToken& token : run.tokens) document.tokens.push_back(token.text);
    document.spec = run.layers.front().spec;
    for (ModelLayer& layer : run.layers) document.layers.push_back(layer.inputs);
    document.inputs = document.layers.front();
    for (const std::string_view each : groups_of(*model)) document.groups.emplace_back(each);
    view::AppState state = view::state_of(view::with_size(std::move(document)).value()).value();
    view::apply(state, view::SetWorkspace{"model"});
    return state;
}

/// What it shows when everything was read.
inline view::AppState golden_read(const std::string& family, const view::Actions& actions = {},
                                  const std::string& group = "") {
    view::AppState state = golden_state(family, group);
    view::answer_all(state, golden_reader);
    for (const view::Action& action : actions) {
        view::apply(state, action);
        view::answer_all(state, golden_reader);
    }
    return state;
}

}  // namespace attn::test
