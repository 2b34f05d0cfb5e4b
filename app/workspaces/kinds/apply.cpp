#include <fmt/format.h>

#include "app/common/document/document.h"
#include "app/common/document/edits.h"
#include "app/common/format.h"
#include "app/common/pair.h"
#include "app/workspaces/kinds/actions.h"
#include "app/workspaces/kinds/compute.h"
#include "app/workspaces/kinds/online.h"
#include "app/workspaces/kinds/state.h"
#include "app/workspaces/kinds/text.h"
#include "app/workspaces/kinds/view.h"
#include "core/rng.h"

namespace attn::view {
namespace {

std::string letter(KindsSide side) { return side == KindsSide::a ? "A" : "B"; }

/// The pair for the other workspaces too.
void choose_pair(AppState& state, large::Cell cell) {
    KindsLook& look = kinds_look(state);
    if (look.online && cell.row != shown_pair(state).row) look.taken = 0;  // another row begins
    look.selected = cell;
    share_pair(state, {cell.row, cell.column});
    show_message(state, pair_text(state));
}

void go_to_step(AppState& state, Index to) {
    KindsLook& look = kinds_look(state);
    const Index last = online_chunks(state);
    look.taken = std::clamp<Index>(to, 0, last);
    look.clock_s = 0.0;
    if (look.taken == last) look.playing = false;
    show_message(state, online_text(state));
}

/// A few tokens under the document's causal mask: an operation refuses the same settings here.
KindsCall sample_call(const AppState& state) {
    KindsCall call;
    std::uint64_t drawn = 0;
    for (TensorD* const tensor : {&call.q, &call.k, &call.v}) {
        *tensor = TensorD(Shape{1, 1, 3, 4});
        for (double& value : tensor->values()) value = uniform(1, drawn++) - 0.5;
    }
    call.mask.causal = state.document().spec.mask.causal;
    return call;
}

/// The kind, or as few of its settings as plain ones as its operation needs: one that refuses a setting would show nothing.
AttentionKind accepted(const AppState& state, const AttentionKind& wanted) {
    const KindsCall call = sample_call(state);
    const auto refused = [&](const AttentionKind& kind) {
        return !compute_kind(call, kind).fault.empty();
    };
    AttentionKind kind = wanted;
    const AttentionKind plain;
    using Change = void (*)(AttentionKind & kind, const AttentionKind& plain);
    constexpr Change kChanges[] = {
        [](AttentionKind&, const AttentionKind&) {},
        [](AttentionKind& of, const AttentionKind& from) {
            of.score = from.score;
            of.scaled = from.scaled;
            of.temperature = from.temperature;
        },
        [](AttentionKind& of, const AttentionKind& from) { of.position = from.position; },
        [](AttentionKind& of, const AttentionKind& from) { of.softcap = from.softcap; },
        [](AttentionKind& of, const AttentionKind& from) { of.sink = from.sink; },
        [](AttentionKind& of, const AttentionKind& from) { of.mask = from.mask; },
        [](AttentionKind& of, const AttentionKind&) { of.mask = KindMask::full; },
        [](AttentionKind& of, const AttentionKind&) { of.mask = KindMask::causal; }};
    for (const Change change : kChanges) {
        change(kind, plain);
        if (!refused(kind)) return kind;
    }
    return wanted;
}

/// "; dot product; with scaling": the settings that follow an operation.
std::string followed_text(const AttentionKind& wanted, const AttentionKind& kind) {
    std::string text;
    for (const KindSetting& setting : kind_settings())
        if (setting.read(wanted) != setting.read(kind))
            text += "; " + setting_text(kind, setting.key);
    return text;
}

}  // namespace

void carry_out(AppState& state, const SetKind& action) {
    KindsControls controls = kinds_controls(state);
    auto changed = with_setting(controls.side(action.side), action.setting, action.value);
    if (!changed) return show_message(state, changed.error());
    const AttentionKind kind = action.setting == "operation" ? accepted(state, *changed) : *changed;
    controls.side(action.side) = kind;
    edit_controls(state, controls,
                  fmt::format("{}: {}{}", letter(action.side), setting_text(kind, action.setting),
                              followed_text(*changed, kind)));
}

void carry_out(AppState& state, const ChooseKinds& action) {
    const auto found = std::ranges::find(kinds_presets(), action.pair, &KindsPreset::key);
    if (found == kinds_presets().end())
        return show_error(state, "there is no pair of kinds '{}'", action.pair);
    KindsControls controls = kinds_controls(state);
    controls.a = found->a;
    controls.b = found->b;
    edit_controls(state, controls, fmt::format("{}: {}", found->title, found->text));
}

void carry_out(AppState& state, const SwapKinds&) {
    KindsControls controls = kinds_controls(state);
    std::swap(controls.a, controls.b);
    edit_controls(state, controls, "A and B are swapped");
}

void carry_out(AppState& state, const CopyKind& action) {
    KindsControls controls = kinds_controls(state);
    const KindsSide to = action.from == KindsSide::a ? KindsSide::b : KindsSide::a;
    controls.side(to) = controls.side(action.from);
    edit_controls(state, controls,
                  fmt::format("{} is a copy of {}", letter(to), letter(action.from)));
}

void carry_out(AppState& state, const SetKindsSeed& action) {
    KindsControls controls = kinds_controls(state);
    controls.seed = action.seed;
    edit_controls(state, controls, fmt::format("Seed {} of the scores' parameters", action.seed));
}

void carry_out(AppState& state, const SelectKindsPair& action) {
    const Pair pair{action.row, action.column};
    if (!has_pair(state, pair)) return warn(state, no_pair_text(state, pair, "the weights are"));
    choose_pair(state, {pair.query, pair.key});
}

void carry_out(AppState& state, const MovePair& action) {
    if (!has_pair(state, {0, 0})) return;
    const large::Cell cell = shown_pair(state);
    const Pair to = nearest_pair(state, {cell.row + action.rows, cell.column + action.columns});
    choose_pair(state, {to.query, to.key});
}

void carry_out(AppState& state, const ShowOnline& action) {
    kinds_look(state).online = action.on;
    kinds_look(state).playing = false;
    enter_kinds(state);
}

void carry_out(AppState& state, const SetOnlineSide& action) {
    KindsControls controls = kinds_controls(state);
    controls.online = action.side;
    kinds_look(state).taken = 0;
    edit_controls(
        state, controls,
        fmt::format("The online softmax goes through the scores of {}", letter(action.side)));
}

void carry_out(AppState& state, const SetOnlineChunk& action) {
    if (action.keys < 1 || action.keys > kMostChunk)
        return show_error(state, "A chunk has {} keys; expected 1 to {}.", action.keys, kMostChunk);
    KindsControls controls = kinds_controls(state);
    controls.chunk = action.keys;
    kinds_look(state).taken = 0;
    edit_controls(state, controls, "Chunks of " + counted(action.keys, "key"));
}

void carry_out(AppState& state, const StepOnline& action) {
    const Index last = online_chunks(state);
    const Index by = std::clamp<Index>(action.steps, -last, last);
    go_to_step(state, kinds_look(state).taken + by);
}

void carry_out(AppState& state, const GoToOnlineEnd& action) {
    go_to_step(state, action.last ? online_chunks(state) : 0);
}

void carry_out(AppState& state, const PlayOnline&) {
    KindsLook& look = kinds_look(state);
    const bool start = !look.playing && online_chunks(state) > 0;
    if (start && look.taken == online_chunks(state)) go_to_step(state, 0);
    look.playing = start;
    look.clock_s = 0.0;
}

}  // namespace attn::view
