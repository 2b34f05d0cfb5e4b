#include "app/common/document/intervention_actions.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "app/common/document/edits.h"
#include "app/common/document/heads.h"
#include "app/common/document/interventions.h"
#include "app/common/document/model_text.h"

namespace attn::view {
namespace {

/// Asks for the model's run with these interventions; none is asked for where it is what is shown.
void run_again(AppState& state, ModelOrigin wanted) {
    leave_typed_text(state);
    const ModelOrigin& shown = *model_of(state.document());
    const std::string which = changes_words(wanted.changes);
    if (wanted == shown) return say(state, fmt::format("What is shown is {}.", which));
    say(state, fmt::format("Running the model {}.", which));
    ask_model(state, std::move(wanted));
}

void say_no_model(AppState& state) {
    say(state, "interventions ask for a trained model: open a model's folder", Severity::warning);
}

/// Whether this head of the model can be changed; says why not.
bool can_change(AppState& state, HeadPlace place) {
    if (wanted_model(state) == nullptr)
        say_no_model(state);
    else if (!is_there(state.document(), place))
        say(state, missing_head_words(state.document(), place), Severity::warning);
    else if (!has_own_heads(state.document()))
        say(state,
            fmt::format("W is split into {} heads, the model has {}: set its own number to change "
                        "one",
                        state.document().size.heads, state.document().own_heads),
            Severity::warning);
    else
        return true;
    return false;
}

bool is_patched(AppState& state, Stage part) {
    if (part == Stage::q || part == Stage::k || part == Stage::v) return true;
    say(state, fmt::format("{} cannot be patched: q, k or v.", info(part).key), Severity::error);
    return false;
}

/// The run with what `change` makes of the interventions that are wanted.
template <class Change>
void change_run(AppState& state, Change change) {
    const ModelOrigin* const now = wanted_model(state);
    if (now == nullptr) return say_no_model(state);
    ModelOrigin wanted = *now;
    change(wanted.changes);
    run_again(state, std::move(wanted));
}

/// The run without the one that `is_it` finds in a list; `none`: that there is none.
template <class Each, class IsIt>
void remove_from(AppState& state, std::vector<Each> ModelChanges::*list, IsIt is_it,
                 const std::string& none) {
    if (std::ranges::none_of(wanted_model(state)->changes.*list, is_it))
        return say(state, none, Severity::warning);
    change_run(state, [&](ModelChanges& changes) { std::erase_if(changes.*list, is_it); });
}

}  // namespace

void carry_out(AppState& state, const SwitchHead& action) {
    const HeadPlace place{action.layer, action.head};
    if (!can_change(state, place)) return;
    ModelOrigin wanted = *wanted_model(state);
    std::vector<HeadPlace>& off = wanted.changes.off;
    const auto at = std::ranges::lower_bound(off, place);
    const bool is_on = at == off.end() || *at != place;
    if (is_on == action.on)
        return say(state, fmt::format("{} is {} already", head_name(place), is_on ? "on" : "off"),
                   Severity::warning);
    if (action.on)
        off.erase(at);
    else
        off.insert(at, place);
    run_again(state, std::move(wanted));
}

void carry_out(AppState& state, const SwitchAllHeadsOn&) {
    change_run(state, [](ModelChanges& changes) { changes.off.clear(); });
}

void carry_out(AppState& state, const ReplaceRow& action) {
    const HeadPlace place{action.layer, action.head};
    if (!can_change(state, place)) return;
    change_run(state, [&](ModelChanges& changes) {
        set_row(changes, {place, action.query, action.weights});
    });
}

void carry_out(AppState& state, const RestoreRow& action) {
    const HeadPlace place{action.layer, action.head};
    if (!can_change(state, place)) return;
    remove_from(
        state, &ModelChanges::rows,
        [&](const RowIntervention& row) { return row.at == place && row.query == action.query; },
        fmt::format("row {} of {} is not replaced", action.query, head_name(place)));
}

void carry_out(AppState& state, const AskPatch& action) {
    const HeadPlace place{action.layer, action.head};
    if (!can_change(state, place) || !is_patched(state, action.part)) return;
    state.show_help = state.show_palette = false;
    state.prompt = Prompt{PromptKind::patch, model_of(state.document())->text, false,
                          TextPatch{place, action.part, {}}};
}

void carry_out(AppState& state, const PatchHead& action) {
    const HeadPlace place{action.layer, action.head};
    if (state.prompt && state.prompt->kind == PromptKind::patch) state.prompt.reset();
    if (!can_change(state, place) || !is_patched(state, action.part)) return;
    change_run(state, [&](ModelChanges& changes) {
        set_patch(changes, {place, action.part, action.text});
    });
}

void carry_out(AppState& state, const RemovePatch& action) {
    const HeadPlace place{action.layer, action.head};
    if (!can_change(state, place)) return;
    remove_from(
        state, &ModelChanges::patches,
        [&](const TextPatch& patch) { return patch.at == place && patch.part == action.part; },
        fmt::format("{} number {} of layer {} is not patched", info(action.part).key, action.head,
                    action.layer));
}

void carry_out(AppState& state, const RemoveInterventions&) {
    change_run(state, [](ModelChanges& changes) { changes = {}; });
}

}  // namespace attn::view
