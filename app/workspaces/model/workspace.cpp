#include "app/common/workspace.h"
#include "app/common/document/document.h"

#include <fmt/format.h>

#include "app/common/actions.h"
#include "app/common/assets.h"
#include "app/common/document/actions.h"
#include "app/common/document/commands.h"
#include "app/common/document/edits.h"
#include "app/common/document/model_place.h"
#include "app/common/document/place.h"
#include "app/common/document/swept.h"
#include "app/common/format.h"
#include "app/common/text.h"
#include "app/workspaces/model/actions.h"
#include "app/workspaces/model/motion.h"
#include "app/workspaces/model/view.h"
#include "core/train/task_table.h"

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
        add("Compute the whole picture", Key::end, ComputeModelTo{}, look.until.has_value());
        add("Go through the stages of attention in Step", Key::w, ShowAttentionStage{});
        const auto before = previous_cell(state);
        add("Back to the previous number", Key::backspace, before.value_or(ReturnToCell{}),
            before.has_value());
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
    add(look.gradients ? "Parameters and FLOP of each block" : "Gradient of the loss at each block",
        Key::g, ShowBlockGradients{!look.gradients});
    CommandAdder{list, "Whole model"}(
        look.known ? "Back to the model you opened" : "Known models: where their parameters are",
        Key::k, ShowKnownModels{!look.known}, model_of(state.document()) != nullptr);
    add_document_commands(list, state);
}

void add_known_models(std::vector<Command>& list, const AppState& state) {
    if (state.workspace == "model") return;
    CommandAdder{list, "Whole model"}(
        "Parameters of known models: GPT-2, GPT-3, Llama 3, DeepSeek-V3", {},
        ShowKnownModels{true});
}

/// Shows the picture where ShowModelPlace requested a place in it, for the query of the pair.
void take_place(AppState& state) {
    ModelLook& look = model_look(state);
    const bool keeps = std::exchange(look.keeps_matrix, false);
    const ModelPlaceLook& place = model_place_look(state);
    if (!place.place) return;
    if (place.query) look.row = place.query;
    look.until.reset();
    look.part.reset();
    look.answer.reset();
    if (keeps) return;
    look.stage.clear();
    look.column.reset();
    look.trail.clear();
}

void clear_place(AppState& state) {
    if (model_place_look(state).place) model_place_look(state) = {};
}

void show_status_line(AppState& state) {
    if (model_look(state).known) return show_muted(state, {});
    if (const std::string why = model_missing_data(state); !why.empty())
        return show_muted(state, why);
    show_message(state,
                 "Click a matrix to see its numbers. Space computes the model row by row, from the "
                 "tokens up.");
}

void enter_model(AppState& state) {
    take_place(state);
    show_status_line(state);
}

/// The trained model of pronouns, where no model is open and the table of known models is closed.
Actions model_example(const AppState& state) {
    if (model_of(state.document()) != nullptr || model_look(state).known ||
        !comes_with_program(state.document()) || built_in_model("pronouns").empty())
        return {};
    return {OpenFile{"pronouns"}};
}

std::optional<Action> escape_model(const AppState& state) {
    const ModelLook& look = model_look(state);
    if (look.known && model_of(state.document()) != nullptr) return ShowKnownModels{false};
    if (const auto before = previous_cell(state)) return *before;
    if (!look.stage.empty()) return ShowModelStage{};
    if (look.until) return ComputeModelTo{};
    if (look.part || look.answer || model_place_look(state).place) return SelectModelPart{};
    return std::nullopt;
}

void clear_model(AppState& state) {
    const ModelLook before = model_look(state);
    model_look(state) = {};
    model_look(state).difference = before.difference;
    model_look(state).gradients = before.gradients;
    model_look(state).ticks = before.ticks;
}

std::vector<Shot> model_shots() { return {{"", {}}}; }

constexpr std::string_view kModelMouse[] = {
    "Click a matrix to see it large, with the arithmetic of the number under the pointer.",
    "Click an underlined operand in the inspector to go to its number; Backspace comes back.",
    "Click a stage of attention to go through it in Step; W comes back.",
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
    if (look.stage != action.stage) look.trail.clear();
    look.stage = action.stage;
    look.answer.reset();
    look.part.reset();
    const bool of_tokens = action.stage != "logits" && action.stage != "probabilities";
    if (action.row && of_tokens) look.row = std::max<Index>(*action.row, 0);
    if (action.column) look.column = std::max<Index>(*action.column, 0);
    if (action.stage.empty()) look.column.reset();
}

void carry_out(AppState& state, const SelectModelToken& action) {
    const ModelRead* const read = current_model_read(state);
    const Index last = read ? std::ssize(read->run->tokens) - 1 : action.row;
    if (action.row < 0 || action.row > last)
        return warn(state, "There is no token {}; expected 0 to {}.", action.row, last);
    ModelLook& look = model_look(state);
    look.row = action.row;
    if (look.stage.empty()) look.answer.reset();
}

void carry_out(AppState& state, const ExplainAnswer& action) {
    clear_place(state);
    ModelLook& look = model_look(state);
    look.trail.clear();
    look.stage.clear();
    look.part.reset();
    look.answer = std::max<Index>(action.answer, 0);
}

void carry_out(AppState& state, const SelectModelPart& action) {
    clear_place(state);
    ModelLook& look = model_look(state);
    look.answer.reset();
    look.part = action.part;
    if (look.part) look.part = std::max<Index>(*look.part, 0);
}

void carry_out(AppState& state, const ComputeModelTo& action) {
    clear_place(state);
    ModelLook& look = model_look(state);
    look.until = action.until;
    if (look.until) look.until = std::max<Index>(*look.until, 0);
}

std::optional<ReturnToCell> previous_cell(const AppState& state) {
    const auto& trail = model_look(state).trail;
    if (trail.empty()) return std::nullopt;
    const ExplainedBefore& last = trail.back();
    return ReturnToCell{last.layer, last.stage, last.row, last.column, last.answer};
}

void carry_out(AppState& state, const FollowOperand& action) {
    if (!find_model_stage(action.stage))
        return warn(state, "There is no stage '{}' of a model.", shortened(action.stage));
    ModelLook& look = model_look(state);
    constexpr std::size_t kMostSteps = 64;
    if (look.trail.size() == kMostSteps) look.trail.erase(look.trail.begin());
    look.trail.push_back({state.document().layer, look.stage, look.row, look.column, look.answer});
    look.stage = action.stage;
    look.row = std::max<Index>(action.row, 0);
    look.column = std::max<Index>(action.column, 0);
    look.answer.reset();
    look.part.reset();
    if (action.layer != state.document().layer) carry_out(state, ShowLayer{action.layer});
}

void carry_out(AppState& state, const ReturnToCell& action) {
    if (!action.stage.empty() && !find_model_stage(action.stage))
        return warn(state, "There is no stage '{}' of a model.", shortened(action.stage));
    ModelLook& look = model_look(state);
    if (!look.trail.empty()) look.trail.pop_back();
    look.stage = action.stage;
    const auto from_0 = [](std::optional<Index> n) {
        return n ? std::optional(std::max<Index>(*n, 0)) : n;
    };
    look.row = from_0(action.row);
    look.column = from_0(action.column);
    look.answer = from_0(action.answer);
    look.part.reset();
    if (action.layer != state.document().layer) carry_out(state, ShowLayer{action.layer});
}

void carry_out(AppState& state, const ShowAttentionStage& action) {
    if (action.stage && !std::ranges::count(ribbon_stages(state.document()), *action.stage))
        return warn(state, "There is no stage {} in this model.", attn::info(*action.stage).key);
    const Index row = model_token(state);
    ModelLook& look = model_look(state);
    look.keeps_matrix = !look.stage.empty();
    if (look.row && row < state.document().size.tq) choose_query(state, row);
    if (action.stage) go_to_stage(state, *action.stage);
    carry_out(state, SetWorkspace{"step"});
}

void carry_out(AppState& state, const ShowKnownModels& action) {
    model_look(state).known = action.on;
    if (state.workspace == "model") return show_status_line(state);
    if (action.on) carry_out(state, SetWorkspace{"model"});
}

void carry_out(AppState& state, const ModelReadReady& action) {
    ModelLook& look = model_look(state);
    look.request = action.request;
    look.fault = action.fault;
    if (!action.read) return;
    const auto before = std::exchange(look.read, action.read);
    begin_model_motion(state, look.moving ? look.moving : before);
}

std::optional<ReadModel> requested_model_read(const AppState& state) {
    if (state.workspace != "model" || !model_missing_data(state).empty()) return std::nullopt;
    const ModelLook& look = model_look(state);
    ReadModel wanted{*model_of(state.document()), state.document().layer, wanted_row(state),
                     look.difference};
    wanted.gradients = look.gradients;
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
        "A whole transformer: tokens, layers, attention, MLPs and the answer, "
        "with every number's arithmetic.",
    .group = Group::model,
    .letter = Key::w,
    .shows_document = true,
    .actions = ModelActions::kTypes,
    .values = kModelValues,
    .requests = kModelRequests,
    .missing_data = model_missing_data,
    .enter = enter_model,
    .leave =
        [](AppState& state) {
            if (state.workspace != "model") clear_place(state);
        },
    .add_commands = add_model_commands_here,
    .add_commands_everywhere = add_known_models,
    .escape = escape_model,
    .clear =
        [](AppState& state) {
            model_look(state).part.reset();
            model_look(state).answer.reset();
            model_look(state).column.reset();
        },
    .clear_cache = clear_model,
    .tick = move_model_on,
    .still =
        [](AppState& state) {
            if (model_look(std::as_const(state)).moving) model_look(state).moving = nullptr;
        },
    .example = model_example,
    .reasons = model_reasons,
    .has_side =
        [](const AppState& state) {
            return model_missing_data(state).empty() && !model_look(state).known;
        },
    .inspector = model_inspector,
    .is_animating = [](const AppState& state) { return model_look(state).moving != nullptr; },
    .shots = model_shots,
    .mouse = kModelMouse,
};

}  // namespace attn::view
