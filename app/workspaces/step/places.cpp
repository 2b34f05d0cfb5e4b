#include "app/workspaces/step/places.h"

#include <cmath>

#include "app/common/json.h"
#include "app/common/sheet.h"
#include "app/workspaces/step/workspace.h"

namespace attn::view {
namespace {

constexpr std::size_t kAxes = 6;
static_assert(static_cast<std::size_t>(Axis::d_out) + 1 == kAxes && kPlaceKinds == 2 * kAxes);

CellRef at(Stage stage, const Place& place) { return {stage, place.row, place.column}; }

/// The key with the largest weight of the first query; 0 where no weight is a number.
Index first_key(const AppState& state) {
    const auto weights = sheet_of(state, Stage::weights).values;
    if (weights.rows == 0) return 0;
    Index key = 0;
    float largest = 0.0F;
    for (Index j = 0; j < weights.columns; ++j)
        if (weights(0, j) > largest) {
            largest = weights(0, j);
            key = j;
        }
    return key;
}

Place first_place(const AppState& state, Stage stage) {
    if (info(stage).columns == Axis::key) return {0, first_key(state)};
    if (info(stage).rows == Axis::key) return {first_key(state), 0};
    return {0, 0};
}

}  // namespace

std::size_t kind_of_place(Stage stage) {
    const std::size_t rows = info(stage).rows == Axis::query ? 0 : 1;
    return rows * kAxes + static_cast<std::size_t>(info(stage).columns);
}

void choose_cell(AppState& state, const CellRef& cell) {
    state.chosen = state.selected = cell;
    if (const Stage* const stage = std::get_if<Stage>(&cell.tensor))
        state.places[kind_of_place(*stage)] = Place{cell.row, cell.column};
}

void enter_place(AppState& state) {
    StepLook& look = step_look(state);
    state.chosen.reset();
    if (const auto& place = state.places[kind_of_place(look.stage)])
        state.chosen = at(look.stage, *place);
    show_place(state);
}

void show_place(AppState& state) {
    StepLook& look = step_look(state);
    state.selected.reset();
    if (!step_lacks(state).empty()) {  // a weight can still be chosen
        if (state.chosen && has_cell(state, *state.chosen)) state.selected = state.chosen;
        return;
    }
    auto& place = state.places[kind_of_place(look.stage)];
    const CellRef first = at(look.stage, first_place(state, look.stage));
    if (state.chosen && has_cell(state, *state.chosen))
        state.selected = state.chosen;
    else if (place && has_cell(state, at(look.stage, *place)))
        state.selected = at(look.stage, *place);
    else if (has_cell(state, first))
        state.selected = first;
    if (state.selected == first && !place) place = Place{first.row, first.column};
}

void forget_places(AppState& state) {
    state.places = {};
    state.chosen.reset();
    state.selected.reset();
}

nlohmann::ordered_json places_to(const Places& places) {
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    std::array<bool, kPlaceKinds> told{};
    for (const StageInfo& stage : stage_table()) {
        const std::size_t kind = kind_of_place(stage.stage);
        if (places[kind] && !told[kind]) list.push_back(cell_to(at(stage.stage, *places[kind])));
        told[kind] = true;
    }
    return list;
}

Places places_from(Fields& fields, const nlohmann::json& found) {
    Places places;
    if (!found.is_array()) fields.complain("has 'places' that are no list");
    for (const auto& each : found) {
        const CellRef cell = cell_from(fields, "places", each);
        const Stage* const stage = std::get_if<Stage>(&cell.tensor);
        if (stage == nullptr || cell.column < 0)
            fields.complain("has 'places' that are no cell of a stage");
        else
            places[kind_of_place(*stage)] = Place{cell.row, cell.column};
    }
    return places;
}

void restore_place(AppState& state) {
    state.chosen = state.selected;
    const Stage* const stage =
        state.selected ? std::get_if<Stage>(&state.selected->tensor) : nullptr;
    if (stage != nullptr) {
        auto& place = state.places[kind_of_place(*stage)];
        if (!place) place = Place{state.selected->row, state.selected->column};
        if (!has_cell(state, at(*stage, *place))) state.chosen = at(*stage, *place);
    }
    show_place(state);
}

}  // namespace attn::view
