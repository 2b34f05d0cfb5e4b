#include <fmt/format.h>

#include "app/common/document/commands.h"
#include "app/common/document/document.h"
#include "app/common/document/edits.h"
#include "app/common/document/loss.h"
#include "app/common/document/place.h"
#include "app/common/fields.h"
#include "app/common/sheet.h"
#include "app/common/workspace.h"
#include "app/workspaces/gradients/actions.h"
#include "app/workspaces/gradients/view.h"
#include "core/stages.h"
#include "core/text.h"
#include "core/train/task_table.h"

namespace attn::view {
namespace {

/// A row and a key of the document that is shown, the nearest to these.
SelectJacobianRow nearest(const AppState& state, Index row, Index raised) {
    const Dimensions& size = state.document().size;
    return {std::clamp<Index>(row, 0, std::max<Index>(size.tq, 1) - 1),
            std::clamp<Index>(raised, 0, std::max<Index>(size.tk, 1) - 1)};
}

Action moved_row(const AppState& state, Index rows, Index keys) {
    const GradientsLook& look = gradients_look(state);
    return nearest(state, look.row + rows, raised_key(state) + keys);
}

/// Another link of the chain.
Action tensor_beside(const AppState& state, Index step) {
    const GradientsView view = build_gradients_view(state);
    if (view.rows.empty()) return ShowGradientOf{std::string(key_of(gradients_look(state).tensor))};
    const auto shown = std::ranges::find(view.rows, true, &GradientRow::shown);
    const Index at = shown == view.rows.end() ? 0 : shown - view.rows.begin();
    const Index to = std::clamp<Index>(at + step, 0, std::ssize(view.rows) - 1);
    return ShowGradientOf{view.rows[to].key};
}

void clamp_gradients(AppState& state) {
    GradientsLook& look = gradients_look(state);
    const SelectJacobianRow there = nearest(state, look.row, look.raised.value_or(0));
    look.row = there.row;
    if (look.raised) look.raised = there.column;
}

void enter_gradients(AppState& state) {
    if (const std::string missing_data = gradients_missing_data(state); !missing_data.empty())
        return show_message(state, missing_data);
    const auto& selected = state.selected;
    const Stage* const stage = selected ? std::get_if<Stage>(&selected->tensor) : nullptr;
    if (stage != nullptr && info(*stage).rows == Axis::query)
        gradients_look(state).row = selected->row;
    else
        gradients_look(state).row = first_pair(state).row;
    clamp_gradients(state);
    show_message(state, "↑ ↓ choose a row, ← → a score to raise.");
}

void add_gradients_commands(std::vector<Command>& list, const AppState& state) {
    const CommandAdder add{list, "Gradients", gradients_missing_data(state).empty()};
    if (add.there) {
        add("The row above", Key::up, moved_row(state, -1, 0));
        add("The row below", Key::down, moved_row(state, 1, 0));
        add("Raise the score of the previous key", Key::left, moved_row(state, 0, -1));
        add("Raise the score of the next key", Key::right, moved_row(state, 0, 1));
        add("The gradient of the previous tensor", Key::page_up, tensor_beside(state, -1));
        add("The gradient of the next tensor", Key::page_down, tensor_beside(state, 1));
        const int next = (static_cast<int>(loss_of(state).kind) + 1) % loss_count(state);
        add("Next loss", Key::l, SetLoss{static_cast<LossKind>(next)});
    }
    add_document_commands(list, state);
    add_presets(list, state, "Gradients");
}

void write_gradients(Visitor& part, const AppState& state) {
    GradientsLook look = gradients_look(state);
    std::string tensor(key_of(look.tensor));
    part("tensor", tensor);
    part("row", look.row);
    if (look.raised) part("raised", *look.raised);
}

void read_gradients(Fields& fields, AppState& state) {
    GradientsLook& look = gradients_look(state);
    std::string key(key_of(look.tensor));
    fields.read("tensor", key);
    if (const auto id = find_operand(key))
        look.tensor = *id;
    else
        fields.complain(
            fmt::format("has 'tensor' = \"{}\": expected a stage or a parameter", shortened(key)));
    fields.read_index("row", look.row);
    if (fields.find("raised") != nullptr) fields.read_index("raised", look.raised.emplace(0));
    clamp_gradients(state);
}

std::vector<Shot> gradients_shots() {
    return {
        {"", {LoadPreset{"the-cat-sat-down"}, SelectJacobianRow{2, 1}}},
        {"weights", {LoadPreset{"three-heads"}, ShowGradientOf{"w_q"}, SelectJacobianRow{4, 2}}},
        {"masked",
         {LoadPreset{"the-cat-sat-down"}, SetCausalMask{CausalChoice::top_left},
          SelectJacobianRow{0, 0}}}};
}

constexpr std::string_view kGradientsMouse[] = {
    "Click a row of the chain to draw its gradient.",
    "Click a key of the arrows to raise its score.",
    "Click a cell of the Jacobian to raise that score; the inspector lists the new weights.",
};
constexpr RequestKind kRequests[] = {
    request_kind<requested_loss_gradients>("gradients"),
};

}  // namespace

std::string gradients_missing_data(const AppState& state) {
    const Document& document = state.document();
    if (is_empty(document)) return "There is no sentence yet: type one in Step (1 S).";
    if (is_without_values(document))
        return "V is missing, so no loss of the output has a gradient.";
    return stages_lack(document);
}

// ---- actions

void carry_out(AppState& state, const ShowGradientOf& action) {
    const auto id = find_operand(action.gradient_of);
    if (!id) return warn(state, "There is no tensor “{}”.", shortened(action.gradient_of));
    gradients_look(state).tensor = *id;
}

void carry_out(AppState& state, const SelectJacobianRow& action) {
    gradients_look(state).row = action.row;
    gradients_look(state).raised = action.column;
    clamp_gradients(state);
}

// ---- requests

std::optional<LossGradientsRequest> requested_loss_gradients(const AppState& state) {
    if (state.workspace != "gradients" || !gradients_missing_data(state).empty())
        return std::nullopt;
    LossGradientsRequest request{state.shared_document(), loss_of(state), state.batch};
    const auto& result = gradients_look(state).result;
    if (result && result->document == request.document && result->loss == request.loss)
        return std::nullopt;
    return request;
}

extern const WorkspaceInfo kGradientsWorkspace{
    .key = "gradients",
    .title = "Gradients",
    .tip =
        "The gradient of the loss with respect to every stage and weight matrix, with and without "
        "scaling, and the Jacobian of any row.",
    .group = Group::why,
    .letter = Key::g,
    .shows_document = true,
    .actions = GradientsActions::kTypes,
    .requests = kRequests,
    .missing_data = gradients_missing_data,
    .enter = enter_gradients,
    .add_commands = add_gradients_commands,
    .clear = [](AppState& state) { gradients_look(state).raised.reset(); },
    .clamp_to_document = clamp_gradients,
    .clear_cache = [](AppState& state) { gradients_look(state) = {}; },
    .reasons = gradients_reasons,
    .has_side = [](const AppState&) { return true; },
    .inspector = gradients_inspector,
    .write = write_gradients,
    .read = read_gradients,
    .is_idle = [](const AppState& state) { return !requested_loss_gradients(state); },
    .figure_name =
        [](const AppState& state) {
            return fmt::format("gradients-{}", key_of(gradients_look(state).tensor));
        },
    .shots = gradients_shots,
    .mouse = kGradientsMouse,
};

}  // namespace attn::view
