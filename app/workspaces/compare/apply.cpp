#include <algorithm>

#include <fmt/format.h>

#include "app/common/actions.h"
#include "app/common/document/actions.h"
#include "app/common/document/edits.h"
#include "app/common/format.h"
#include "app/common/sheet.h"
#include "app/workspaces/compare/actions.h"
#include "app/workspaces/compare/reach.h"
#include "app/workspaces/compare/view.h"
#include "app/workspaces/compare/workspace.h"

namespace attn::view {
namespace {

bool is_pin(const AppState& state, Index pin) {
    return pin >= 0 && pin < std::ssize(compare_look(state).pins);
}

void say_no_pin(AppState& state, Index pin) {
    const std::size_t count = compare_look(state).pins.size();
    if (count == 0) return warn(state, "Nothing is pinned: B pins what is shown.");
    // Counted from 1 on screen; a journal may hold any number.
    const auto number = static_cast<double>(pin) + 1.0;
    warn(state, fmt::format("There is no pin {:.0f}: there are {}.", number, count));
}

bool is_same(const ComparePin& pin, const AppState& state) {
    return pin.document == state.shared_document() && pin.batch == state.batch &&
           pin.head == state.head && pin.trace == state.trace;
}

/// The cells of one row of an editable tensor, each moved by its change.
Actions row_edits(const AppState& state, Stage stage, Index row,
                  const std::vector<double>& change) {
    Actions edits;
    for (std::size_t c = 0; c < change.size(); ++c) {
        const CellRef cell{stage, row, static_cast<Index>(c)};
        const auto value = value_at(state, cell);
        if (value && change[c] != 0.0) edits.push_back(SetCell{cell, *value + change[c]});
    }
    return edits;
}

}  // namespace

void carry_out(AppState& state, const PinBaseline&) {
    const std::string lacks = compare_lacks(state);
    if (!lacks.empty()) return warn(state, "Nothing to pin: " + lacks);
    CompareLook& look = compare_look(state);
    const auto same =
        std::ranges::find_if(look.pins, [&](const ComparePin& pin) { return is_same(pin, state); });
    if (same == look.pins.end() && look.pins.size() == kMostPins)
        return warn(state,
                    fmt::format("{} are pinned, as many as there are digits: unpin one in Compare "
                                "(key F3).",
                                kMostPins));
    look.baseline = static_cast<std::size_t>(same - look.pins.begin());
    if (same == look.pins.end()) look.pins.push_back(pin_of(state));
    say(state, fmt::format("Pinned as baseline {}: {}. F3 compares what comes next with it.",
                           look.baseline + 1, look.pins[look.baseline].words));
}

void carry_out(AppState& state, const ChooseBaseline& action) {
    if (!is_pin(state, action.pin)) return say_no_pin(state, action.pin);
    compare_look(state).baseline = static_cast<std::size_t>(action.pin);
    settle_compare(state);
    say(state, fmt::format("Baseline {}: {}.", action.pin + 1,
                           compare_look(state).pins[compare_look(state).baseline].words));
}

void carry_out(AppState& state, const Unpin& action) {
    if (!is_pin(state, action.pin)) return say_no_pin(state, action.pin);
    CompareLook& look = compare_look(state);
    look.pins.erase(look.pins.begin() + action.pin);
    if (look.baseline > static_cast<std::size_t>(action.pin) || look.baseline == look.pins.size())
        look.baseline = look.baseline == 0 ? 0 : look.baseline - 1;
    settle_compare(state);
    say(state, fmt::format("Unpinned {}: {} left.", action.pin + 1, look.pins.size()));
}

void carry_out(AppState& state, const ShowCompareStage& action) {
    const auto stages = ribbon_stages(state.document());
    if (std::ranges::find(stages, action.stage) == stages.end())
        return warn(state,
                    fmt::format("{} is no stage of this document.", info(action.stage).symbol));
    compare_look(state).stage = action.stage;
    settle_compare(state);
    say(state, fmt::format("{}: {}", info(action.stage).title, info(action.stage).words));
}

void carry_out(AppState& state, const SelectCompareCell& action) {
    const CellRef cell{compare_look(state).stage, action.row, action.column};
    const auto value = value_at(state, cell);
    large::Cell& selected = compare_look(state).cell;
    const large::Cell before = std::exchange(selected, {action.row, action.column});
    settle_compare(state);
    if (selected == large::Cell{action.row, action.column})
        return say(state, value ? fmt::format("B: {} = {}.", cell_name(state, cell), number(*value))
                                : std::string("The cell is in A alone."));
    selected = before;
    warn(state, fmt::format("There is no cell {}, {}: rows and columns count from 0.", action.row,
                            action.column));
}

void carry_out(AppState& state, const SetBlink& action) {
    if (action.side && (*action.side < 0 || *action.side > 1))
        return warn(state, "There are the sides 0, which is A, and 1, which is B.");
    if (action.side && compare_look(state).pins.empty()) return say_no_pin(state, 0);
    compare_look(state).blink = action.side;
    if (!action.side) return say(state, "A and B beside each other.");
    say(state, *action.side == 0 ? "A, the baseline: Space shows B in the same place."
                                 : "B, the present: Space shows A in the same place.");
}

void carry_out(AppState& state, const SetTargetWeight& action) {
    if (!(action.weight > 0.0 && action.weight < 1.0))
        return warn(
            state,
            fmt::format("The target is {}: a weight is more than 0 and less than 1 here, for "
                        "0 and 1 need infinite scores.",
                        number(action.weight)));
    compare_look(state).target = action.weight;
    const Reach reach = reach_of(state);
    say(state, reach.lacks.empty() ? fmt::format("Target {}: Δs = {}.", number(action.weight),
                                                 number(reach.score_change))
                                   : reach.lacks);
}

void carry_out(AppState& state, const ApplyTargetWeight& action) {
    const Reach reach = reach_of(state);
    const auto& change = action.word ? reach.word : reach.query;
    const auto& why = action.word ? reach.why_no_word : reach.why_no_query;
    const auto& fixed = action.word ? reach.no_word_edit : reach.no_query_edit;
    for (const std::string& reason : {reach.lacks, why, fixed})
        if (!reason.empty()) return warn(state, fmt::format("Nothing was changed: {}", reason));
    const Stage stage = action.word ? reach.word_stage : Stage::q;
    const CellRef first{stage, action.word ? reach.column : reach.row, 0};
    AppState trial = state;  // one number after the other, which is one step here
    for (const Action& edit : row_edits(state, stage, first.row, change)) apply(trial, edit);
    const std::string row = axis_label(state.document(), info(stage).rows, first.row);
    const std::string target = number(compare_look(state).target);
    if (trial.shared_document() == state.shared_document())
        return say(state, fmt::format("The weight is {} already.", target));
    edit_document(state, trial.document(),
                  fmt::format("{}[{}] moved for the weight {}", name_of(stage), row, target));
}

void carry_out(AppState& state, const HoverCompareCell& action) {
    compare_look(state).hovered = action.cell;
}

}  // namespace attn::view
