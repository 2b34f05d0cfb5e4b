#include "app/common/document/interventions.h"

#include <fmt/ranges.h>

#include "app/common/document/document.h"
#include "app/common/document/edits.h"
#include "app/common/document/heads.h"
#include "app/common/document/intervention_actions.h"
#include "app/common/document/model_text.h"
#include "app/common/format.h"
#include "core/stages.h"
#include "core/text.h"
#include "core/train/task_table.h"

namespace attn::view {
namespace {

constexpr std::size_t kMostWeights = 8;   // of a row in a sentence
constexpr std::size_t kMostOfPatch = 24;  // code points of its text in a sentence
constexpr std::size_t kMostInList = 8;    // interventions of one sort in a sentence

/// Of k and v it is a head of K and V, which several heads may share.
std::string patched_head(const TextPatch& patch) {
    return fmt::format("layer {} {} {}", patch.at.layer,
                       patch.part == Stage::q ? "head" : "key head", patch.at.head);
}
std::string from_description(const TextPatch& patch) {
    return fmt::format("“{}”", shortened(patch.text, kMostOfPatch));
}

/// "a, b and c", of many the first and how many more.
std::string listed(const std::vector<std::string>& names) {
    std::string text;
    const std::size_t shown = std::min(names.size(), kMostInList);
    for (std::size_t n = 0; n < shown; ++n)
        text += fmt::format("{}{}", n == 0 ? "" : n + 1 == names.size() ? " and " : ", ", names[n]);
    if (names.size() > shown) text += fmt::format(" and {} more", names.size() - shown);
    return text;
}

std::string rows_text(const std::vector<RowIntervention>& rows) {
    if (rows.size() == 1)
        return fmt::format("with row {} of {} replaced", rows[0].query, head_name(rows[0].at));
    std::vector<std::string> names;
    for (const RowIntervention& row : rows)
        names.push_back(fmt::format("{} of {}", row.query, head_name(row.at)));
    return fmt::format("with rows {} replaced", listed(names));
}

std::string patches_text(const std::vector<TextPatch>& patches) {
    std::vector<std::string> names;
    for (const TextPatch& patch : patches)
        names.push_back(fmt::format("{} of {} from {}", info(patch.part).key,
                                    patches.size() == 1 ? patched_head(patch) : head_name(patch.at),
                                    from_description(patch)));
    return fmt::format("with {}", listed(names));
}

/// Replaces the one with the same key, or stands before the first with a larger one.
template <class Each, class KeyOf>
void put_in_order(std::vector<Each>& list, Each value, KeyOf key_of) {
    const auto at = std::ranges::lower_bound(list, key_of(value), {}, key_of);
    if (at != list.end() && key_of(*at) == key_of(value))
        *at = std::move(value);
    else
        list.insert(at, std::move(value));
}

// ---- actions

/// Asks for the model's run with these interventions; none is asked for where it is what is shown.
void run_again(AppState& state, ModelOrigin wanted) {
    leave_typed_text(state);
    const ModelOrigin& shown = *model_of(state.document());
    const std::string which = changes_text(wanted.changes);
    if (wanted == shown) return show_message(state, "Showing the model {}.", which);
    show_message(state, "Running the model {}.", which);
    ask_model(state, std::move(wanted));
}

void report_no_model(AppState& state) {
    warn(state, "interventions need a trained model: open a model's folder");
}

/// Whether this head of the model can be changed; says why not.
bool can_change(AppState& state, HeadPlace place) {
    if (wanted_model(state) == nullptr)
        report_no_model(state);
    else if (!is_there(state.document(), place))
        warn(state, missing_head_text(state.document(), place));
    else if (!has_own_heads(state.document()))
        warn(state, "W is split into {0} heads, but the model has {1}: set {1} heads to change one",
             state.document().size.heads, state.document().own_heads);
    else if (const std::string lack = interventions_lack(state.document()); !lack.empty())
        warn(state, lack);
    else
        return true;
    return false;
}

bool is_patched(AppState& state, Stage part) {
    if (part == Stage::q || part == Stage::k || part == Stage::v) return true;
    show_error(state, "{} cannot be patched; expected q, k or v.", info(part).key);
    return false;
}

/// The run with what `change` makes of the interventions that are wanted.
template <class Change>
void change_run(AppState& state, Change change) {
    const ModelOrigin* const now = wanted_model(state);
    if (now == nullptr) return report_no_model(state);
    ModelOrigin wanted = *now;
    change(wanted.changes);
    run_again(state, std::move(wanted));
}

/// The run without the one that `is_it` finds in a list; `none`: that there is none.
template <class Each, class IsIt>
void remove_from(AppState& state, std::vector<Each> ModelChanges::*list, IsIt is_it,
                 const std::string& none) {
    if (std::ranges::none_of(wanted_model(state)->changes.*list, is_it)) return warn(state, none);
    change_run(state, [&](ModelChanges& changes) { std::erase_if(changes.*list, is_it); });
}

}  // namespace

void set_row(ModelChanges& changes, RowIntervention row) {
    put_in_order(changes.rows, std::move(row),
                 [](const RowIntervention& each) { return std::pair(each.at, each.query); });
}

void set_patch(ModelChanges& changes, TextPatch patch) {
    put_in_order(changes.patches, std::move(patch),
                 [](const TextPatch& each) { return std::pair(each.at, each.part); });
}

std::string interventions_lack(const Document& document) {
    if (document.groups.empty()) return {};
    if (document.groups.back() == "linear")
        return "Interventions need heads whose output goes to W_O without a gate.";
    if (group_of(document) != document.groups.back() || reads_among_text(document)) return {};
    return fmt::format("Interventions need self-attention, which {} does not have.",
                       group_of(document));
}

std::string off_text(const std::vector<HeadPlace>& off) {
    std::vector<std::string> names;
    for (const HeadPlace at : off) names.push_back(head_name(at));
    return listed(names);
}

std::string changes_text(const ModelChanges& changes) {
    std::vector<std::string> items;
    if (!changes.off.empty()) items.push_back(fmt::format("without {}", off_text(changes.off)));
    if (!changes.rows.empty()) items.push_back(rows_text(changes.rows));
    if (!changes.patches.empty()) items.push_back(patches_text(changes.patches));
    if (items.empty()) return "without interventions";
    return fmt::format("{}", fmt::join(items, ", "));
}

std::string row_description(const std::vector<double>& weights) {
    std::vector<std::size_t> keys;
    for (std::size_t j = 0; j < weights.size(); ++j)
        if (weights[j] != 0.0) keys.push_back(j);
    const bool even =
        std::ranges::all_of(keys, [&](std::size_t j) { return weights[j] == weights[keys[0]]; });
    if (keys.size() == 1) return fmt::format("all on key {}", keys[0]);
    if (even && keys.size() > 1) return fmt::format("even over {} keys", keys.size());
    std::vector<std::string> numbers;
    for (std::size_t j = 0; j < std::min(weights.size(), kMostWeights); ++j)
        numbers.push_back(number(weights[j]));
    if (weights.size() > kMostWeights)
        numbers.push_back(fmt::format("and {} more", weights.size() - kMostWeights));
    return fmt::format("{}", fmt::join(numbers, ", "));
}

std::vector<Intervention> interventions_of(const ModelChanges& changes) {
    std::vector<Intervention> list;
    for (const TextPatch& patch : changes.patches)
        list.push_back({fmt::format("{} {}", head_name(patch.at), info(patch.part).key),
                        fmt::format("{} of {} from {}", info(patch.part).key, patched_head(patch),
                                    from_description(patch)),
                        RemovePatch{patch.at.layer, patch.at.head, patch.part}});
    for (const RowIntervention& row : changes.rows)
        list.push_back({fmt::format("{} row {}", head_name(row.at), row.query),
                        fmt::format("row {} of {}: {}", row.query, head_name(row.at),
                                    row_description(row.weights)),
                        RestoreRow{row.at.layer, row.at.head, row.query}});
    for (const HeadPlace at : changes.off)
        list.push_back({fmt::format("{} off", head_name(at)),
                        fmt::format("{} is switched off", head_name(at)),
                        SwitchHead{at.layer, at.head, true}});
    return list;
}

void carry_out(AppState& state, const SwitchHead& action) {
    const HeadPlace place{action.layer, action.head};
    if (!can_change(state, place)) return;
    ModelOrigin wanted = *wanted_model(state);
    std::vector<HeadPlace>& off = wanted.changes.off;
    const auto at = std::ranges::lower_bound(off, place);
    const bool is_on = at == off.end() || *at != place;
    if (is_on == action.on)
        return warn(state, "{} is already {}", head_name(place), is_on ? "on" : "off");
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
    const ModelOrigin& model = *model_of(state.document());
    state.prompt = Prompt{PromptKind::patch, model.group.empty() ? model.text : model.second_input,
                          false, TextPatch{place, action.part, {}}};
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
