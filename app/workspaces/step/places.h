#pragma once

#include <nlohmann/json.hpp>

#include "app/common/fields.h"
#include "app/workspaces/step/state.h"

namespace attn::view {

// For whoever includes this: link attn::json too.
// Which cell of a stage is selected. A person's choice is kept for each kind of stage, also while the document has no
// such cell: then the stage's first place is looked at, and the choice is back when its cell is.

/// Stages whose rows and columns count the same things share a place.
std::size_t kind_of_place(Stage stage);
/// A person selects a cell that exists.
void choose_cell(AppState& state, const CellRef& cell);
/// The stage that is looked at is another one: its own place.
void enter_place(AppState& state);
/// `selected` from what was chosen and from what the document has. Without a choice: the largest weight of the first
/// query; of keys and values that key's row, of the other stages the first query's.
void show_place(AppState& state);
void forget_places(AppState& state);

/// {"tensor": "scores", "row": 0, "column": 2} for each kind.
nlohmann::ordered_json places_to(const Places& places);
Places places_from(Fields& fields, const nlohmann::json& found);
/// A session was read: `selected` and `places` are as it says.
void restore_place(AppState& state);

}  // namespace attn::view
