#include <utility>

#include <fmt/format.h>

#include "app/view/common/format.h"
#include "app/view/common/sheet.h"
#include "app/view/document/actions.h"
#include "app/view/document/edits.h"
#include "app/view/heads/actions.h"
#include "app/view/heads/compute.h"
#include "app/view/heads/words.h"
#include "app/view/heads/workspace.h"

namespace attn::view {
namespace {

void say_missing(AppState& state, HeadPlace place) {
    say(state,
        fmt::format("There is no {}: layers and heads count from 0, and layer {} has {} heads.",
                    head_name(place), place.layer, heads_in_layer(state.document(), place.layer)),
        Severity::warning);
}

std::string shown_words(const AppState& state, HeadPlace place) {
    const HeadFacts* const facts =
        has_current_heads(state) ? state.heads.result->find(place) : nullptr;
    if (facts == nullptr) return fmt::format("Layer {}, head {}.", place.layer, place.head);
    return fmt::format("Layer {}, head {}: {}.", place.layer, place.head, label_title(*facts));
}

/// Step's place of scores and weights; selected there where it shows one of them.
void remember_in_step(AppState& state, large::Cell cell) {
    auto& place = state.step.places[static_cast<std::size_t>(Axis::key)].emplace();
    place.row = cell.row;
    place.column = cell.column;
    if (pair_stages()[index_of(state.step.stage)])
        state.step.chosen = state.step.selected = CellRef{state.step.stage, cell.row, cell.column};
}

}  // namespace

void carry_out(AppState& state, const ChooseHead& action) {
    const HeadPlace place{action.layer, action.head};
    if (!is_there(state, place)) return say_missing(state, place);
    const auto kept = has_current_heads(state) ? state.heads.result : nullptr;
    if (action.layer != state.document().layer) carry_out(state, ShowLayer{action.layer});
    if (action.layer != state.document().layer) return;  // it told why
    if (kept && kept->batch == state.batch) {  // the same layers, only another is looked at
        state.heads.result = kept;
        state.heads.result_of = state.shared_document();
    }
    carry_out(state, ShowHead{action.head, state.batch});
    auto& [a, b] = state.heads.pinned;
    if (a && b && !(a == place)) b = place;  // A is compared with one after the other
    say(state, shown_words(state, place));
}

void carry_out(AppState& state, const SortHeads& action) {
    const auto measure = find_head_measure(action.measure);
    if (!measure && !action.measure.empty())
        return say(state, fmt::format("There is no measure '{}' of heads.", action.measure),
                   Severity::error);
    state.heads.sort = action.measure;
    say(state, measure ? fmt::format("Heads by {}, largest first: {}.", info(*measure).title,
                                     info(*measure).formula)
                       : "Heads by layer.");
}

void carry_out(AppState& state, const SetHeadsRange& action) {
    state.heads.own_range = action.own;
    say(state, action.own ? "The colours of each head end at its own largest weight."
                          : "The colours of all heads go from 0 to 1.");
}

void carry_out(AppState& state, const PinHead& action) {
    const HeadPlace place{action.layer, action.head};
    auto& [a, b] = state.heads.pinned;
    if (!action.on) {
        if (b == place) b.reset();
        if (a == place) a = std::exchange(b, std::nullopt);
        return say(state, fmt::format("Unpinned {}.", head_name(place)));
    }
    if (!is_there(state, place)) return say_missing(state, place);
    if (a == place || b == place) return;
    (a ? b : a) = place;
    say(state,
        b ? fmt::format("A is {}, B is {}: X swaps them, Esc unpins.", head_name(*a), head_name(*b))
          : fmt::format("A is {}: pin another to compare.", head_name(*a)));
}

void carry_out(AppState& state, const UnpinHeads&) {
    state.heads.pinned = {};
    say(state, "No head is pinned.");
}

void carry_out(AppState& state, const SwapPins&) {
    auto& [a, b] = state.heads.pinned;
    if (!a || !b) return say(state, "Two heads must be pinned to swap them.", Severity::warning);
    std::swap(a, b);
    say(state, fmt::format("A is {}, B is {}.", head_name(*a), head_name(*b)));
}

void carry_out(AppState& state, const SelectHeadsPair& action) {
    const Dimensions& size = state.document().size;
    const large::Cell cell{action.row, action.column};
    if (cell.row < 0 || cell.column < 0 || cell.row >= size.tq || cell.column >= size.tk)
        return say(state,
                   fmt::format("There is no pair {} → {}: the weights are {} × {}, counted from 0.",
                               action.row, action.column, size.tq, size.tk),
                   Severity::warning);
    state.heads.pair = cell;
    remember_in_step(state, cell);
    const CellRef weight{Stage::weights, cell.row, cell.column};
    const auto value = value_at(state, weight);
    if (!value) return;
    say(state, fmt::format("{} = {}.", cell_name(state, weight), number(*value)));
}

void carry_out(AppState& state, const HoverHead& action) { state.heads.hovered = action.place; }

void carry_out(AppState& state, const HoverHeadsPair& action) {
    state.heads.hovered_pair = action.pair;
}

void carry_out(AppState& state, const CopyHeadMeasures&) {
    if (!has_current_heads(state))
        return say(state, "There are no measures: go to Heads (key 8).", Severity::warning);
    state.effects.clipboard = heads_csv(*state.heads.result, state.heads.sort);
    say(state,
        fmt::format("Copied the measures of {} heads as CSV.", state.heads.result->heads.size()));
}

}  // namespace attn::view
