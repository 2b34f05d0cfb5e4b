#include "app/common/workspace.h"

#include <fmt/format.h>

#include "app/common/actions.h"
#include "app/common/document/actions.h"
#include "app/common/document/commands.h"
#include "app/common/document/edits.h"
#include "app/common/document/swept.h"
#include "app/common/format.h"
#include "app/common/text.h"
#include "app/workspaces/model/actions.h"
#include "app/workspaces/model/view.h"

namespace attn::view {
namespace {

/// One row more, or from the tokens on where all of it is shown.
ComputeModelTo next_computed(const AppState& state) {
    const ModelLook& look = model_look(state);
    const Index steps = build_model_view(state).steps;
    const Index next = look.until && *look.until < steps ? *look.until + 1 : 1;
    return {next < steps ? std::optional(next) : std::nullopt};
}

/// A column of the large matrix so far right, or a token so far on.
Action moved_by(const AppState& state, Index by) {
    const ModelLook& look = model_look(state);
    if (!look.stage.empty() && look.column)
        return ShowModelStage{look.stage, {}, std::max<Index>(*look.column + by, 0)};
    return SelectModelToken{std::max<Index>(model_token(state) + by, 0)};
}
/// A token of the large matrix so far down, or a layer so far up.
Action moved_up(const AppState& state, Index by) {
    const ModelLook& look = model_look(state);
    if (!look.stage.empty()) return SelectModelToken{std::max<Index>(model_token(state) - by, 0)};
    const Index last = std::ssize(state.document().layers) - 1;
    return ShowLayer{std::clamp<Index>(state.document().layer + by, 0, std::max<Index>(last, 0))};
}

void add_model_commands_here(std::vector<Command>& list, const AppState& state) {
    const CommandAdder add{list, "Whole model", current_model_read(state) != nullptr};
    const ModelLook& look = model_look(state);
    const bool large = !look.stage.empty();
    add(large ? "Select the token above" : "Show the layer above", Key::up, moved_up(state, 1));
    add(large ? "Select the token below" : "Show the layer below", Key::down, moved_up(state, -1));
    add(large ? "Select the column to the left" : "Select the token to the left", Key::left,
        moved_by(state, -1));
    add(large ? "Select the column to the right" : "Select the token to the right", Key::right,
        moved_by(state, 1));
    if (add.there) {
        add("Compute the next row of the picture", Key::space, next_computed(state), !large);
        add("Compute all of it", Key::end, ComputeModelTo{}, look.until.has_value());
        const LogitPart* const part = selected_model_part(state);
        add("Open the selected head in Heads", Key::enter, SetWorkspace{"heads"},
            part != nullptr && part->kind == PartKind::head);
    }
    if (const ModelRead* const read = current_model_read(state))
        for (const ModelStage stage : read->stages.order)
            add(fmt::format("Matrix: {}", attn::info(stage).title), {},
                ShowModelStage{std::string(attn::info(stage).key)});
    add(look.difference ? "Bars of the logit" : "Bars of the difference of two logits", Key::d,
        ShowLogitDifference{!look.difference});
    add_document_commands(list, state);
}

void enter_model(AppState& state) {
    if (const std::string why = model_missing_data(state); !why.empty())
        return show_muted(state, why);
    show_message(state, "Click a matrix to see its numbers; Space computes the picture upward.");
}

std::optional<Action> escape_model(const AppState& state) {
    const ModelLook& look = model_look(state);
    if (!look.stage.empty()) return ShowModelStage{};
    if (look.until) return ComputeModelTo{};
    if (look.part || look.answer) return SelectModelPart{};
    return std::nullopt;
}

void clear_model(AppState& state) {
    const bool difference = model_look(state).difference;
    model_look(state) = {};
    model_look(state).difference = difference;
}

std::vector<Shot> model_shots() { return {{"", {}}}; }

constexpr std::string_view kModelMouse[] = {
    "Click a matrix to see it large, with the arithmetic of the number under the pointer.",
    "Click a folded layer to unfold it, a word to select it.",
    "Click a bar to see what its head or MLP adds to the answer.",
    "Click an answer to see its softmax and its logit.",
};
constexpr PersistedValue kModelValues[] = {persisted(model_look)};
constexpr RequestKind kModelRequests[] = {request_kind<requested_model_read>("model")};

}  // namespace

void carry_out(AppState& state, const ShowModelStage& action) {
    if (!action.stage.empty() && !find_model_stage(action.stage))
        return warn(state, "There is no stage '{}' of a model.", shortened(action.stage));
    ModelLook& look = model_look(state);
    look.stage = action.stage;
    look.answer.reset();
    look.part.reset();
    if (action.row) look.row = std::max<Index>(*action.row, 0);
    if (action.column) look.column = std::max<Index>(*action.column, 0);
    if (action.stage.empty()) look.column.reset();
}

void carry_out(AppState& state, const SelectModelToken& action) {
    const ModelRead* const read = current_model_read(state);
    const Index last = read ? std::ssize(read->run->tokens) - 1 : action.row;
    if (action.row < 0 || action.row > last)
        return warn(state, "There is no token {}: the text has {}, counted from 0.", action.row,
                    last + 1);
    ModelLook& look = model_look(state);
    look.row = action.row;
    if (look.stage.empty()) look.answer.reset();
}

void carry_out(AppState& state, const ExplainAnswer& action) {
    ModelLook& look = model_look(state);
    look.stage.clear();
    look.part.reset();
    look.answer = std::max<Index>(action.answer, 0);
}

void carry_out(AppState& state, const SelectModelPart& action) {
    ModelLook& look = model_look(state);
    look.answer.reset();
    look.part = action.part;
    if (look.part) look.part = std::max<Index>(*look.part, 0);
}

void carry_out(AppState& state, const ComputeModelTo& action) {
    ModelLook& look = model_look(state);
    look.until = action.until;
    if (look.until) look.until = std::max<Index>(*look.until, 0);
}

void carry_out(AppState& state, const ModelReadReady& action) {
    ModelLook& look = model_look(state);
    look.request = action.request;
    look.fault = action.fault;
    if (action.read) look.read = action.read;
}

std::optional<ReadModel> requested_model_read(const AppState& state) {
    if (state.workspace != "model" || !model_missing_data(state).empty()) return std::nullopt;
    const ModelLook& look = model_look(state);
    ReadModel wanted{*model_of(state.document()), state.document().layer, wanted_row(state),
                     look.difference};
    wanted.model.before.clear();
    if (wanted.model.group == "cross") wanted.model.group = "decoder";
    if (const LogitPart* const part = selected_model_part(state))
        if (part->kind == PartKind::head) wanted.off = part->at;
    if (look.request && *look.request == wanted) return std::nullopt;
    return wanted;
}

Action run(const ReadModel& request, const Opener& open, const RunControl& control) {
    ModelReadReady ready{std::make_shared<const ReadModel>(request)};
    if (!open) {
        ready.fault = "Nothing here opens a model.";
        return ready;
    }
    auto opened = open({ModelText{request.model}, 0, options_of(request)}, control);
    if (opened)
        ready.read = opened->swept->read;
    else
        ready.fault = sentence(opened.error().text());
    return ready;
}

extern const WorkspaceInfo kModelWorkspace{
    .key = "model",
    .title = "Whole model",
    .tip =
        "A whole transformer over its text: tokens, layers, attention, MLPs and the answer, "
        "with every number's arithmetic.",
    .group = Group::models,
    .letter = Key::w,
    .shows_document = true,
    .actions = ModelActions::kTypes,
    .values = kModelValues,
    .requests = kModelRequests,
    .missing_data = model_missing_data,
    .enter = enter_model,
    .add_commands = add_model_commands_here,
    .escape = escape_model,
    .clear =
        [](AppState& state) {
            model_look(state).part.reset();
            model_look(state).answer.reset();
            model_look(state).column.reset();
        },
    .clear_cache = clear_model,
    .has_side = [](const AppState& state) { return model_missing_data(state).empty(); },
    .inspector = model_inspector,
    .shots = model_shots,
    .mouse = kModelMouse,
};

}  // namespace attn::view
