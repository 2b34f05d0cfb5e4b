#include <cstring>

#include <fmt/format.h>

#include "app/common/assets.h"
#include "app/common/document/actions.h"
#include "app/common/document/commands.h"
#include "app/common/document/document.h"
#include "app/common/document/edits.h"
#include "app/common/document/opened.h"
#include "app/common/fields.h"
#include "app/common/format.h"
#include "app/common/sheet.h"
#include "app/common/workspace.h"
#include "app/workspaces/compare/actions.h"
#include "app/workspaces/compare/reach.h"
#include "app/workspaces/compare/view.h"
#include "core/stages.h"
#include "core/trace.h"
#include "core/train/task_table.h"

namespace attn::view {
namespace {

/// Rows and columns that the baseline and what is shown have together.
large::Cell compare_extent(const AppState& state) {
    const CompareLook& look = compare_look(state);
    const auto b = sheet_of(state, look.stage).values;
    large::Cell extent{b.rows, b.columns};
    const ComparePin* const pin = look.shown_pin();
    if (pin == nullptr) return extent;
    const AppState pinned = pinned_state(state, *pin);
    const auto a = sheet_of(pinned, look.stage).values;
    return {std::max(extent.row, a.rows), std::max(extent.column, a.columns)};
}

large::Cell clamped(const AppState& state, large::Cell cell) {
    const large::Cell extent = compare_extent(state);
    return {std::clamp<Index>(cell.row, 0, std::max<Index>(extent.row, 1) - 1),
            std::clamp<Index>(cell.column, 0, std::max<Index>(extent.column, 1) - 1)};
}

Action moved_cell(const AppState& state, Index rows, Index columns) {
    const large::Cell& now = compare_look(state).cell;
    const large::Cell to = clamped(state, {now.row + rows, now.column + columns});
    return SelectCompareCell{to.row, to.column};
}

Action stage_beside(const AppState& state, Index step) {
    const auto stages = ribbon_stages(state.document());
    if (stages.empty()) return ShowCompareStage{compare_look(state).stage};
    const auto found = std::ranges::find(stages, compare_look(state).stage);
    const Index at = found == stages.end() ? 0 : found - stages.begin();
    return ShowCompareStage{
        stages[static_cast<std::size_t>(std::clamp<Index>(at + step, 0, std::ssize(stages) - 1))]};
}

void add_pin_commands(const CommandAdder& add, const AppState& state) {
    const CompareLook& look = compare_look(state);
    for (Index n = 0; n < static_cast<Index>(kMostPins); ++n) {
        const auto key = static_cast<Key>(static_cast<int>(Key::digit1) + static_cast<int>(n));
        const bool there = n < std::ssize(look.pins);
        if (there)
            add(fmt::format("Baseline {}: {}", n + 1, look.pins[n].text), shift(key),
                ChooseBaseline{n});
    }
    add("Unpin the baseline", Key::del, Unpin{static_cast<Index>(look.baseline)},
        !look.pins.empty());
    const bool shows_b = look.blink && *look.blink == 1;
    add(shows_b ? "Blink: show the baseline" : "Blink: show now", Key::space,
        SetBlink{shows_b ? Index{0} : Index{1}}, !look.pins.empty());
    add("Baseline and now side by side", Key::v, SetBlink{std::nullopt}, look.blink.has_value());
}

void enter_compare(AppState& state) {
    if (const std::string missing_data = compare_missing_data(state); !missing_data.empty())
        return show_message(state, missing_data);
    const auto& selected = state.selected;
    const Stage* const stage = selected ? std::get_if<Stage>(&selected->tensor) : nullptr;
    if (stage != nullptr && pair_stages()[index_of(*stage)]) {  // the pair that Step looked at
        compare_look(state).stage = *stage;
        compare_look(state).cell = {selected->row, selected->column};
    }
    clamp_compare(state);
    compare_look(state).seeks_change = true;
    show_message(state, compare_look(state).pins.empty()
                            ? "The opening state is the baseline. B pins the current state."
                            : "Space blinks between baseline and now, V shows "
                              "both, Shift+1 … 9 choose the baseline.");
}

void add_compare_commands(std::vector<Command>& list, const AppState& state) {
    const CommandAdder add{list, "Compare", compare_missing_data(state).empty()};
    if (add.there) {
        add("Pin the current state as the baseline", Key::b, PinBaseline{});
        add_pin_commands(add, state);
        add_arrows(add, "cell", "cell", plain,
                   [&](Index rows, Index columns) { return moved_cell(state, rows, columns); });
        add("Next stage", Key::page_down, stage_beside(state, 1));
        add("Previous stage", Key::page_up, stage_beside(state, -1));
        const double target = compare_look(state).target;
        add("Raise the target weight", Key::u, SetTargetWeight{std::min(target + 0.05, 0.95)});
        add("Lower the target weight", Key::d, SetTargetWeight{std::max(target - 0.05, 0.05)});
        add("Change the word for the target weight", {}, ApplyTargetWeight{true});
        add("Change the query for the target weight", {}, ApplyTargetWeight{false});
    }
    add_document_commands(list, state);
    add_presets(list, state, "Compare");
}

std::optional<Action> escape_compare(const AppState& state) {
    if (compare_look(state).blink) return SetBlink{std::nullopt};
    return std::nullopt;
}

/// Bit for bit; a file that is read again may have other numbers.
bool has_same_weights(const Trace* a, const Trace* b) {
    if (a == b) return true;
    if (a == nullptr || b == nullptr) return false;
    const Tensor &first = (*a)[Stage::weights], &second = (*b)[Stage::weights];
    return first.shape() == second.shape() &&
           std::memcmp(first.values().data(), second.values().data(),
                       first.values().size_bytes()) == 0;
}

/// The same with scaling switched; nullopt: it takes long, or that changes nothing.
std::optional<ComparePin> with_other_scaling(const AppState& state) {
    constexpr Index kMostTokens = 64;
    const Dimensions& size = state.document().size;
    if (!comes_with_program(state.document()) || std::max(size.tq, size.tk) > kMostTokens)
        return std::nullopt;
    AppState other = state;
    other.workspace = "step";
    apply(other, SetScaling{state.document().spec.scale == ScaleKind::none});
    if (has_same_weights(other.trace.get(), state.trace.get())) return std::nullopt;
    return pin_of(other);
}

/// Without pins the first state that is shown is the baseline, once something differs from it; another document is a first
/// state again.
void keep_opening(AppState& state) {
    CompareLook& look = compare_look(state);
    if (!look.pins.empty()) return;
    const bool same_place =
        look.opening && look.opening->batch == state.batch && look.opening->head == state.head;
    if (same_place && look.opening->document == state.shared_document()) return;
    const auto is_of = [](const Dimensions& size, const Dimensions& before) {
        return size.tq == before.tq && size.tk == before.tk;
    };
    look.other_scaling.reset();
    if (look.opening && !state.history[state.now].opens &&
        is_of(state.document().size, look.opening->document->size))
        return;
    look.opening = pin_of(state);
    look.other_scaling = with_other_scaling(state);
}

/// On entering the cell that the headline names is selected.
void follow_compare(AppState& state) {
    if (state.workspace != "compare" || !compare_missing_data(state).empty()) return;
    keep_opening(state);
    CompareLook& look = compare_look(state);
    const ComparePin* const pin = look.shown_pin();
    if (!std::exchange(look.seeks_change, false) || pin == nullptr) return;
    const ComparedStage stage = compared_stage(state, pinned_state(state, *pin));
    if (!stage.missing_data.empty()) return;
    if (const auto change = largest_change(stage)) look.cell = change->cell;
}

void clear_compare(AppState& state) {
    compare_look(state).cell = {};
    compare_look(state).hovered.reset();
}

std::string compare_figure_name(const AppState& state) {
    return fmt::format("compare-{}", info(compare_look(state).stage).key);
}

std::vector<Shot> compare_shots() {
    const LoadPreset cat{"the-cat-sat-down"};
    return {{"",
             {cat, ShowCompareStage{Stage::weights}, PinBaseline{}, SetScaling{false},
              SelectCompareCell{1, 2}}},
            {"heads",
             {LoadPreset{"three-heads"}, ShowCompareStage{Stage::weights}, PinBaseline{},
              ShowHead{1, 0}}},
            {"empty", {cat}}};
}

constexpr std::string_view kCompareMouse[] = {
    "Click a cell to see its baseline value and its current value.",
    "Drag the target weight to see the smallest changes that reach it.",
    "Point at a cell to frame it in every matrix.",
};

/// By B where the workspace has no use for it; Ctrl+B everywhere. Compare has its own.
void add_pin(std::vector<Command>& list, const AppState&) {
    const auto same = [](const Command& command) { return command.action.is<PinBaseline>(); };
    if (std::ranges::any_of(list, same)) return;
    const auto takes_b = [](const Command& command) { return command.chord == plain(Key::b); };
    const bool free = std::ranges::none_of(list, takes_b);
    const CommandAdder add{list, "Window"};
    add("Pin the current state as the baseline of Compare", ctrl(Key::b), PinBaseline{}, true, {},
        free ? plain(Key::b) : Chord{});
}

/// Two moments of one training: the one that is open becomes the baseline of the next.
std::string pin_before(AppState& state, const OpenRequest& request) {
    if (state.opening)
        return fmt::format("Not compared: {} is still opening. Compare after it has opened.",
                           description_of(*state.opening));
    const auto* const next = std::get_if<TrainedOrigin>(&request.what);
    const auto* const before = std::get_if<TrainedOrigin>(&state.document().origin);
    if (next && before && !(*before == *next)) carry_out(state, PinBaseline{});
    return {};
}

constexpr PersistedValue kValues[] = {persisted(compare_look)};

bool is_pin(const AppState& state, Index pin) {
    return pin >= 0 && pin < std::ssize(compare_look(state).pins);
}

void report_no_pin(AppState& state, Index pin) {
    const std::size_t count = compare_look(state).pins.size();
    if (count == 0) return warn(state, "Nothing is pinned. Press B to pin the current state.");
    // Counted from 1 on screen; a journal may hold any number.
    const auto number = static_cast<double>(pin) + 1.0;
    warn(state, "There is no pin {:.0f}: there are {}.", number, count);
}

/// By value, so that a replayed journal makes the same pins.
bool is_same(const ComparePin& pin, const AppState& state) {
    return pin.batch == state.batch && pin.head == state.head && pin.backend == state.backend &&
           has_same_weights(pin.trace.get(), state.trace.get()) &&
           (pin.document == state.shared_document() ||
            document_to_json(*pin.document) == document_to_json(state.document()));
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

std::string compare_missing_data(const AppState& state) {
    const Document& document = state.document();
    if (is_empty(document)) return "There is no sentence yet: type one in Step (1 S).";
    return stages_lack(document);
}

void clamp_compare(AppState& state) {
    CompareLook& look = compare_look(state);
    if (look.baseline >= look.pins.size()) look.baseline = 0;
    if (look.pins.empty()) look.blink.reset();
    look.hovered.reset();
    look.cell = {std::max<Index>(look.cell.row, 0), std::max<Index>(look.cell.column, 0)};
    if (!compare_missing_data(state).empty()) return;
    const auto stages = ribbon_stages(state.document());
    if (std::ranges::find(stages, look.stage) == stages.end()) look.stage = Stage::weights;
    look.cell = clamped(state, look.cell);
}

void describe(Visitor& visit, CompareLook& look) {
    constexpr About kPlace{.low = 0.0, .high = static_cast<double>(kMostIndex)};
    visit("stage", look.stage);
    visit("row", look.cell.row, kPlace);
    visit("column", look.cell.column, kPlace);
    visit("target", look.target);
    if (look.target > 0.0 && look.target < 1.0) return;
    visit.complain(
        fmt::format("has 'target' = {}: expected more than 0 and less than 1", look.target));
    look.target = 0.5;
}

void carry_out(AppState& state, const PinBaseline&) {
    const std::string missing_data = compare_missing_data(state);
    if (!missing_data.empty()) return warn(state, "Nothing to pin: " + missing_data);
    CompareLook& look = compare_look(state);
    const auto same =
        std::ranges::find_if(look.pins, [&](const ComparePin& pin) { return is_same(pin, state); });
    if (same == look.pins.end() && look.pins.size() == kMostPins)
        return warn(state, "{} baselines are pinned, the maximum. Unpin one in Compare (4 C).",
                    kMostPins);
    look.baseline = static_cast<std::size_t>(same - look.pins.begin());
    if (same == look.pins.end()) look.pins.push_back(pin_of(state));
    show_message(state, "Pinned as baseline {}: {}. Compare (4 C) shows every change from now on.",
                 look.baseline + 1, look.pins[look.baseline].text);
}

void carry_out(AppState& state, const ChooseBaseline& action) {
    if (!is_pin(state, action.pin)) return report_no_pin(state, action.pin);
    compare_look(state).baseline = static_cast<std::size_t>(action.pin);
    clamp_compare(state);
    show_message(state, "Baseline {}: {}.", action.pin + 1,
                 compare_look(state).pins[compare_look(state).baseline].text);
}

void carry_out(AppState& state, const Unpin& action) {
    if (!is_pin(state, action.pin)) return report_no_pin(state, action.pin);
    CompareLook& look = compare_look(state);
    look.pins.erase(look.pins.begin() + action.pin);
    if (look.baseline > static_cast<std::size_t>(action.pin) || look.baseline == look.pins.size())
        look.baseline = look.baseline == 0 ? 0 : look.baseline - 1;
    clamp_compare(state);
    show_message(state, "Unpinned {}: {} left.", action.pin + 1, look.pins.size());
}

void carry_out(AppState& state, const ShowCompareStage& action) {
    const auto stages = ribbon_stages(state.document());
    if (std::ranges::find(stages, action.stage) == stages.end())
        return warn(state, "This document has no stage {}.", info(action.stage).symbol);
    compare_look(state).stage = action.stage;
    clamp_compare(state);
    show_message(state, "{}: {}", info(action.stage).title, info(action.stage).text);
}

void carry_out(AppState& state, const SelectCompareCell& action) {
    const CellRef cell{compare_look(state).stage, action.row, action.column};
    const auto value = value_at(state, cell);
    large::Cell& selected = compare_look(state).cell;
    const large::Cell before = std::exchange(selected, {action.row, action.column});
    clamp_compare(state);
    if (selected == large::Cell{action.row, action.column})
        return show_message(
            state, value ? fmt::format("Now: {} = {}.", cell_name(state, cell), number(*value))
                         : std::string("Only the baseline has this cell."));
    selected = before;
    warn(state, "There is no cell {}, {}: rows and columns count from 0.", action.row,
         action.column);
}

void carry_out(AppState& state, const SetBlink& action) {
    if (action.side && (*action.side < 0 || *action.side > 1))
        return warn(state, "Expected side 0 (baseline) or 1 (now).");
    if (action.side && compare_look(state).pins.empty()) return report_no_pin(state, 0);
    compare_look(state).blink = action.side;
    if (!action.side) return show_message(state, "Baseline and now side by side.");
    show_message(state, *action.side == 0 ? "The baseline: Space shows now in the same place."
                                          : "Now: Space shows the baseline in the same place.");
}

void carry_out(AppState& state, const SetTargetWeight& action) {
    if (!(action.weight > 0.0 && action.weight < 1.0))
        return warn(state, fmt::format("The target is {}; expected more than 0 and less than 1, "
                                       "because 0 and 1 need infinite scores.",
                                       number(action.weight)));
    compare_look(state).target = action.weight;
    const Reach reach = reach_of(state);
    show_message(state, reach.missing_data.empty()
                            ? fmt::format("Target {}: Δs = {}.", number(action.weight),
                                          number(reach.score_change))
                            : reach.missing_data);
}

void carry_out(AppState& state, const ApplyTargetWeight& action) {
    const Reach reach = reach_of(state);
    const auto& change = action.word ? reach.word : reach.query;
    const auto& why = action.word ? reach.why_no_word : reach.why_no_query;
    const auto& fixed = action.word ? reach.no_word_edit : reach.no_query_edit;
    for (const std::string& reason : {reach.missing_data, why, fixed})
        if (!reason.empty()) return warn(state, "Nothing was changed: {}", reason);
    const Stage stage = action.word ? reach.word_stage : Stage::q;
    const CellRef first{stage, action.word ? reach.column : reach.row, 0};
    AppState trial = state;  // one number after the other, which is one step here
    for (const Action& edit : row_edits(state, stage, first.row, change)) apply(trial, edit);
    const std::string row = axis_label(state, info(stage).rows, first.row);
    const std::string target = number(compare_look(state).target);
    if (trial.shared_document() == state.shared_document())
        return show_message(state, "The weight is already {}.", target);
    edit_document(state, trial.document(),
                  fmt::format("{}[{}] changed for the weight {}", name_of(stage), row, target));
}

extern const WorkspaceInfo kCompareWorkspace{
    .key = "compare",
    .title = "Compare",
    .tip = "Compares a pinned baseline with the current state: what differs, and by how much.",
    .group = Group::compare,
    .letter = Key::c,
    .shows_document = true,
    .actions = CompareActions::kTypes,
    .values = kValues,
    .missing_data = compare_missing_data,
    .enter = enter_compare,
    .leave = [](AppState& state) { compare_look(state).hovered.reset(); },
    .add_commands = add_compare_commands,
    .add_commands_everywhere = add_pin,
    .escape = escape_compare,
    .clear = [](AppState& state) { compare_look(state).cell = {}; },
    .clamp_to_document = clamp_compare,
    .clear_cache = clear_compare,
    .follow = follow_compare,
    .refuses = pin_before,
    .reasons = compare_reasons,
    .has_side = [](const AppState& state) { return compare_missing_data(state).empty(); },
    .inspector = compare_inspector,
    .write_beside = write_pins,
    .read_beside = read_pins,
    .figure_name = compare_figure_name,
    .shots = compare_shots,
    .mouse = kCompareMouse,
};

}  // namespace attn::view
